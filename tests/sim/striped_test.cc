#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "overlay/base/tree_view.h"
#include "runtime/sim/trial.h"
#include "tests/support/seeds.h"
#include "tests/support/site_topology.h"

namespace striped_test {

using namespace phx;
using namespace phx::sim;

namespace {

constexpr ProcessorId kRoot{2};

struct Costs {
  std::uint64_t links = 0;  ///< Connections that are there, each counted at both ends.
  std::uint64_t views_most = 0;
};

Costs costs_of(Trial& trial) {
  Costs costs;
  for (const SimDriver& machine : trial.cluster().machines()) {
    const runtime::ProcessorStatus status = machine.daemon()->status();
    costs.links += status.links;
    costs.views_most = std::max<std::uint64_t>(costs.views_most, status.trees);
  }
  return costs;
}

}  // namespace

TEST_SUITE_BEGIN("sim/striped");

TEST_CASE("what several trees cost: each piece comes once, with few connections and views") {
  constexpr std::size_t kBytes = std::size_t{64} << 10U;
  constexpr std::uint64_t kHeader = 160;
  for (const std::uint32_t each : {6U, 22U, 67U}) {
    CAPTURE(each);
    Trial trial({.topology = support::three_alike(each, 1000),
                 .bytes = kBytes,
                 .piece_bytes = std::size_t{256} << 10U,
                 .learn = 3s});
    REQUIRE(trial.start());
    const std::uint64_t others = 3 * std::uint64_t{each} - 1;
    const Costs before = costs_of(trial);

    const auto first = trial.broadcast(kRoot);
    trial.cluster().run_for(2s);  // the ways are warmed
    const Costs settled = costs_of(trial);
    const auto second = trial.broadcast(kRoot);

    REQUIRE((first && second));
    const Meter::Count copies = second->cost.of("TreeCopy");
    REQUIRE(copies.messages % others == 0);
    const std::uint64_t pieces = copies.messages / others;
    CHECK(pieces <= kBytes / 4096);
    CHECK(copies.bytes <= others * (kBytes + pieces * kHeader));
    CHECK(second->cost.of("FallbackCopy").messages == 0);
    // Each tree has N - 1 edges. One more class of trees is warm, that for messages of 4 MiB.
    const std::uint64_t edges = others * (1 + long_trees(1) + long_trees(4));
    CHECK(settled.links - before.links <= 2 * edges);
    CHECK(costs_of(trial).links == settled.links);
    // Those of two roots, as of a vote and this one.
    CHECK(settled.views_most <= 2 * (1 + long_trees(1) + long_trees(4)));
    MESSAGE((others + 1) << " processors: " << pieces << " pieces, links each "
                         << before.links / (others + 1) << " -> " << settled.links / (others + 1)
                         << ", views at most " << settled.views_most);
    CHECK(trial.cluster().violations().all() == std::vector<std::string>{});
  }
}

TEST_CASE("narrow ways between sites: a long message is spread over them, faster than one way is" *
          phx::support::long_search()) {
  constexpr std::size_t kBytes = std::size_t{4} << 20U;
  constexpr std::uint64_t kNarrow = 5'000'000;  // as in the file, bytes per second
  std::ifstream file(std::string(PHX_ROOT) + "/tests/sim/narrow.topology");
  REQUIRE(file);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  Trial trial({.topology = overlay::Topology::parse(text).value(),
               .bytes = kBytes,
               .piece_bytes = std::size_t{256} << 10U,
               .learn = 5s});
  REQUIRE(trial.start());
  // What any tree needs that takes each of its ways alone.
  const Duration one_way(static_cast<Duration::rep>(kBytes * 1'000'000'000 / kNarrow));
  for (int message = 0; message < 3; ++message) {
    const auto cast = trial.broadcast(kRoot);
    const auto sum = trial.reduce(kRoot, {.elements = kBytes / 8});
    REQUIRE((cast && sum));
    CHECK(cast->cost.of("TreeCopy").bytes < 31 * (kBytes + kBytes / 50));
    CHECK(cast->cost.of("FallbackCopy").messages == 0);
    CHECK(3 * cast->time < 2 * one_way);
    CHECK(4 * sum->time < 3 * one_way);
    MESSAGE("broadcast " << cast->time / 1ms << " ms, sum " << sum->time / 1ms << " ms; one way "
                         << one_way / 1ms << " ms");
  }
}

// Two pieces each, so each of the first four goes along other trees.
TEST_CASE("the second message of 8 KiB finds its ways open, though it takes other trees") {
  for (const std::uint32_t each : {6U, 22U, 67U}) {
    CAPTURE(each);
    Trial trial({.topology = support::three_alike(each, 1000), .bytes = 8192, .learn = 3s});
    REQUIRE(trial.start());
    std::vector<Duration> casts;
    std::vector<Duration> sums;
    for (int message = 0; message < 6; ++message) {
      const auto cast = trial.broadcast(kRoot);
      const auto sum = trial.reduce(ProcessorId{3}, {.elements = 1024});
      REQUIRE((cast && sum));
      casts.push_back(cast->time);
      sums.push_back(sum->time);
    }
    for (std::size_t message = 1; message < casts.size(); ++message) {
      CAPTURE(message);
      CHECK(casts[message] <= 2 * casts.back());
      CHECK(sums[message] <= 2 * sums.back());
    }
  }
}

// Two of three sites are joined by a way of 61 Mbit/s that holds 550 KiB; over the third one there
// is a detour of 777. Flat takes 206 ms and two trees, told the network, 90.
TEST_CASE("a long way that holds much is no place for long messages if there is a wider one") {
  constexpr std::string_view kNetwork =
      "site s1 2 250\nsite s2 2 250\nsite s3 2 250\n"
      "latency s1 s2 30000\nlink s1 s2 777\nlatency s1 s3 7000\nlink s1 s3 10000\n"
      "latency s2 s3 36000\nlink s2 s3 61\nnic 844\noverhead 1.5\n";
  Trial trial({.topology = overlay::Topology::parse(kNetwork).value(),
               .bytes = std::size_t{4} << 20U,
               .learn = 10s});
  REQUIRE(trial.start());
  Duration time{};
  for (int i = 0; i < 5; ++i) {
    const auto round = trial.broadcast(kRoot);
    REQUIRE(round.has_value());
    time = round->time;
    trial.cluster().run_for(1s);
  }
  MESSAGE("4 MiB in " << std::chrono::duration_cast<std::chrono::milliseconds>(time).count()
                      << " ms");
  CHECK(time <= 120ms);
}

TEST_SUITE_END();

}  // namespace striped_test
