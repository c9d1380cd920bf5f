#include "overlay/network/topology.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "overlay/network/placing.h"

namespace topology_test {

using namespace phx;

namespace {

constexpr ProcessorId kRoot{1};

constexpr const char* kThreeSites = R"(# three sites
site    A 4            # intra latency by default
site    B 2 20
site    C 1
intra   100
latency * * 3000
latency A B 2000
link    * * 300
link    A C 0
nic     1000
overhead 7
window  14600
)";

overlay::Topology parsed(const std::string& text) {
  auto topology = overlay::Topology::parse(text);
  if (!topology.ok()) FAIL(topology.error().what);
  return std::move(topology).value();
}

}  // namespace

TEST_SUITE_BEGIN("planners/topology");

TEST_CASE("times are microseconds with up to three decimals, read and written") {
  for (const char* const text : {"0", "7", "0.4", "12.034", "0.001", "3600000000"}) {
    CAPTURE(text);
    const auto read = overlay::Topology::parse("site A 1\noverhead " + std::string(text));
    REQUIRE(read.ok());
    CHECK(overlay::in_microseconds(read.value().overhead) == text);
  }
  CHECK(overlay::in_microseconds(400ns) == "0.4");
  for (const char* const wrong : {"", ".", "1e3", "nan", "inf", "-1", "0.4us", "3600000001"}) {
    CAPTURE(wrong);
    CHECK_FALSE(overlay::Topology::parse("site A 1\noverhead " + std::string(wrong)).ok());
  }
}

TEST_CASE("later lines about a pair of sites win, in both directions") {
  const overlay::Topology topology = parsed(kThreeSites);

  CHECK(topology.processors() == 7);
  CHECK(topology.sites[0].latency == 100us);
  CHECK(topology.sites[1].latency == 20us);
  CHECK(topology.link(0, 1).latency == 2ms);
  CHECK(topology.link(1, 0).latency == 2ms);
  CHECK(topology.link(2, 1).latency == 3ms);
  CHECK(topology.link(0, 1).bytes_per_second == 37'500'000);
  CHECK(topology.link(2, 0).bytes_per_second == 0);
  CHECK(topology.interface_bytes_per_second == 125'000'000);
  CHECK(topology.overhead == 7us);
  CHECK(topology.window_bytes == 14'600);
}

TEST_CASE("bandwidths are Mbit/s with up to six decimals, read and written, and none becomes 0") {
  for (const std::uint64_t rate : {1U, 49'999U, 50'000U, 125'000U, 37'500'000U, 1'250'000'000U}) {
    const std::string text = overlay::in_megabits(rate);
    CAPTURE(text);
    const overlay::Topology read = parsed("site A 1\nsite B 1\nnic " + text + "\nlink A B " + text);
    CHECK(read.interface_bytes_per_second == rate);
    CHECK(read.link(0, 1).bytes_per_second == rate);
  }
  CHECK(overlay::in_megabits(50'000) == "0.4");
  CHECK(overlay::in_megabits(37'500'000) == "300");
  CHECK(parsed("site A 1\nnic 0.000001").interface_bytes_per_second == 1);
  CHECK(parsed("site A 1\nnic 0.0").interface_bytes_per_second == 0);
  for (const char* const wrong : {"-1", "1e3", "nan", "10000001", "1G"}) {
    CAPTURE(wrong);
    CHECK_FALSE(overlay::Topology::parse("site A 1\nnic " + std::string(wrong)).ok());
  }
}

TEST_CASE("what cannot be read is refused with its line") {
  for (const char* text :
       {"", "site A", "site A many", "site A 1\nsite A 2", "site A 1\nlatency A B 5", "speed 3",
        "site A 1\nlatency A A fast", "site * 4", "site A 99999999999", "nic -5", "window x"}) {
    CAPTURE(text);
    CHECK(!overlay::Topology::parse(text).ok());
  }
  CHECK(overlay::Topology::parse("site A 1\nnonsense").error().what ==
        "line 2: unknown keyword 'nonsense'");
  CHECK(overlay::Topology::parse("site A 1\n\nlatency A Q 5\nintra 1").error().what ==
        "line 3: there is no site 'Q'");
  for (const char* text : {"latency A A 20", "link A A 100"}) {
    CHECK(overlay::Topology::parse("site A 2\n" + std::string(text)).error().what ==
          "line 2: inside a site: 'site A N LATENCY' or 'intra'");
  }
}

TEST_CASE("a topology is a known network in which nothing is unknown") {
  const overlay::Topology topology =
      parsed("site A 2 20\nsite B 1\nlatency A B 900\nlink A B 80\nnic 0\n");

  const auto network = known_network(topology, {0, 1, 0});

  CHECK(network.check().ok());
  CHECK(network.sites[0].processors == ProcessorSet{kRoot, ProcessorId{3}});
  CHECK(network.way(kRoot, ProcessorId{2}) == overlay::KnownNetwork::Way{900us, 10'000'000});
  CHECK(network.way(kRoot, ProcessorId{3}) ==
        overlay::KnownNetwork::Way{20us, overlay::kUnlimited});
  CHECK(network.ability(kRoot) ==
        overlay::KnownNetwork::Ability{5us, overlay::kUnlimited, overlay::kUnlimited});
}

TEST_CASE("dealing out processors at random keeps the sizes of the sites, and repeats itself") {
  const auto topology = overlay::Topology::uniform({67, 67, 67}, {});
  const overlay::Placing placing = placed_at_random(topology, 7);

  CHECK(placing == placed_at_random(topology, 7));
  CHECK(placing != placed_at_random(topology, 8));
  CHECK(placing != placed_by_site(topology));
  for (std::size_t site = 0; site < 3; ++site) {
    CHECK(std::count(placing.begin(), placing.end(), site) == 67);
  }
}

}  // namespace topology_test
