#include <doctest/doctest.h>

#include <string>

#include "runtime/sim/network_model.h"

namespace network_model_test {

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

TEST_SUITE_BEGIN("sim/network_model");

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

}  // namespace network_model_test
