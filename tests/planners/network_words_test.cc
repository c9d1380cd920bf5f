#include <doctest/doctest.h>

#include <string>

#include "overlay/network/network_words.h"
#include "tests/planners/networks.h"

namespace network_words_test {

using namespace phx;
using overlay::in_words;
using overlay::KnownNetwork;
using overlay::kUnlimited;
using overlay::network_of_words;

namespace {

/// With something of everything.
KnownNetwork full() {
  KnownNetwork network = support::known({.sites = {3, 1, 2}});
  network.sites[1].latency.reset();
  network.sites[2].processors.insert(ProcessorId{4000});
  network.between[{0, 1}] = {std::nullopt, kUnlimited};
  network.between[{1, 0}] = {};
  network.usual = {std::nullopt, 7, kUnlimited};
  network.odd[ProcessorId{2}] = {5us, std::nullopt, 3, 64ms};
  network.pairs[{ProcessorId{1}, ProcessorId{4}}] = {11ms, std::nullopt};
  for (KnownNetwork::Site& site : network.sites) site.name.clear();
  return network;
}

}  // namespace

TEST_SUITE_BEGIN("planners/network_words");

TEST_CASE("a network in words is the same network, but for names") {
  const KnownNetwork network = full();
  KnownNetwork named = network;
  named.sites[0].name = "x; y";

  const std::string words = in_words(named);
  const auto read = network_of_words(words);

  REQUIRE(read.ok());
  CHECK(read.value() == network);
  CHECK(in_words(read.value()) == words);
  CHECK(network_of_words(in_words({})).value() == KnownNetwork{});
  CHECK(network_of_words("").value() == KnownNetwork{});
}

TEST_CASE("words that are no network are refused, and it is said which") {
  for (const char* words : {"site",
                            "site 1",
                            "site 1- 5",
                            "site 3-1 5",
                            "site 1,2",
                            "site 1 5 6",
                            "site x 5",
                            "site 1 -5",
                            "usual 1 2 3",
                            "odd 1 2 3 4",
                            "way 0 1 5 5",
                            "pair 1 1 5 5",
                            "site 1 -;site 1 -",
                            "nothing 1",
                            ";",
                            "usual  1 2 3 4",
                            "odd 4294967296 1 1 1 1",
                            "usual 99999999999999999999 - - -",
                            "usual 18446744073709551615 - - -",
                            "usual - 0 - -"}) {
    CAPTURE(words);
    CHECK_FALSE(network_of_words(words).ok());
  }
  CHECK(network_of_words("usual - - - -;site 1").error().what == "a network does not say 'site 1'");
}

TEST_CASE("a line that is cut or changed anywhere is refused or another network, and no accident") {
  const std::string words = in_words(full());
  for (std::size_t i = 0; i < words.size(); ++i) {
    static_cast<void>(network_of_words(words.substr(0, i)).ok());
    for (const char other : {' ', ';', '-', ',', '9', 'x'}) {
      std::string changed = words;
      changed[i] = other;
      const auto read = network_of_words(changed);
      if (read.ok()) CHECK(network_of_words(in_words(read.value())).value() == read.value());
    }
  }
}

TEST_SUITE_END();

}  // namespace network_words_test
