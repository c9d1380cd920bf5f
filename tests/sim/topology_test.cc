#include <doctest/doctest.h>

#include <string>

#include "overlay/network/topology.h"
#include "runtime/sim/network_model.h"

namespace topology_test {

using namespace phx;
using namespace phx::sim;

namespace {

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

TEST_SUITE_BEGIN("sim/topology");

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

TEST_CASE("a topology is read back as it was written") {
  const overlay::Topology topology = parsed(kThreeSites);

  CHECK(parsed(topology.to_text()) == topology);
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
}

TEST_CASE("the cost of a message is the sum of its stages") {
  NetworkModel model(parsed(kThreeSites), 0.0, Rng(1));
  const MachineId a = model.add_machine(0);
  const MachineId b = model.add_machine(1);
  const Instant start{};

  Instant at = model.leave_processor(start, a);
  CHECK(at - start == 7us);
  at = model.leave_interface(at, a, 12'500);  // 100 us at 1 Gbit/s
  CHECK(at - start == 107us);
  at = model.pass_link(at, a, b, 12'500);  // a third of that speed
  CHECK(at - start == 107us + 333'333ns);
  at += model.travel_time(at, a, b);
  at = model.enter_interface(at, b, 12'500);
  at = model.enter_processor(at, b);
  CHECK(at - start == 107us + 333'333ns + 2ms + 100us + 7us);
}

TEST_CASE("all flows between two sites share their link") {
  NetworkModel model(parsed(kThreeSites), 0.0, Rng(1));
  const MachineId a1 = model.add_machine(0);
  const MachineId a2 = model.add_machine(0);
  const MachineId b = model.add_machine(1);
  const Instant start{};

  const Instant first = model.pass_link(start, a1, b, 37'500);
  const Instant second = model.pass_link(start, a2, b, 37'500);
  const Instant back = model.pass_link(start, b, a1, 37'500);

  CHECK(first - start == 1ms);
  CHECK(second - start == 2ms);
  CHECK(back - start == 1ms);  // the other direction has its own
}

}  // namespace topology_test
