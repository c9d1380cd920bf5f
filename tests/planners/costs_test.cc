#include <doctest/doctest.h>

#include "overlay/planners/costs.h"
#include "tests/planners/networks.h"

namespace costs_test {

using namespace phx;
using namespace phx::planners;
using overlay::KnownNetwork;

TEST_SUITE_BEGIN("planners/costs");

TEST_CASE("an unknown way is as bad as the worst known one") {
  KnownNetwork network = support::known({.sites = {2, 1, 1}});
  network.between[{0, 1}] = {9ms, 1'000'000};
  network.between[{1, 2}] = {};
  network.between.erase({2, 0});
  network.sites[0].latency.reset();
  network.sites[1].latency = 400us;
  const Costs costs(network);

  CHECK(costs.latency(2, 3) == 9ms);
  CHECK(costs.rate(2, 3) == 1'000'000);
  CHECK(costs.latency(3, 0) == 9ms);
  CHECK(costs.latency(0, 1) == 400us);
}

TEST_CASE("where nothing is known all processors are alike, and one kind each") {
  KnownNetwork network;
  for (const std::uint32_t id : {4U, 7U, 9U}) network.odd[ProcessorId{id}] = {};
  const Costs costs(network);

  CHECK(costs.size() == 3);
  CHECK(costs.classes() == 3);
  CHECK(costs.position(ProcessorId{7}) == std::size_t{1});
  CHECK_FALSE(costs.position(ProcessorId{5}).has_value());
  CHECK(costs.transfer(0, 1, 100) == costs.transfer(2, 0, 100));
}

TEST_CASE("processors of a site are one class, unless something distinguishes them") {
  KnownNetwork network = support::known({.sites = {3, 2}});
  network.odd[ProcessorId{2}].overhead = 50us;
  const Costs costs(network);

  CHECK(costs.class_of(0) == costs.class_of(2));
  CHECK(costs.class_of(0) != costs.class_of(1));
  CHECK(costs.class_of(3) == costs.class_of(4));
  CHECK(costs.class_of(3) != costs.class_of(0));
}

TEST_CASE(
    "a message costs overhead, each stage of its first segment, and the slowest of the rest") {
  KnownNetwork network = support::known({.sites = {1, 1}, .bytes_per_second = 65'536'000});
  network.between[{0, 1}].bytes_per_second = 6'553'600;
  const Costs costs(network);

  // 64 KiB take 1 ms at the interfaces and 10 ms on the way.
  CHECK(costs.transfer(0, 1, 65536) == 5us + 1ms + 10ms + 3ms + 1ms + 5us);
  CHECK(costs.transfer(0, 1, 3 * 65536) == 5us + 1ms + 30ms + 3ms + 1ms + 5us);
  CHECK(costs.busy(0, 65536) == 1ms);
  CHECK(costs.busy(0, 1) == 5us);
}

TEST_SUITE_END();

}  // namespace costs_test
