#include "runtime/tcp/memory_return.h"

#include <doctest/doctest.h>

namespace phx::tcp::memory_return_test {
namespace {

struct Harness {
  Instant now{};
  std::size_t free_bytes = 100 << 20;
  int times = 0;
  MemoryReturn memory{{.free_bytes = [this] { return free_bytes; },
                       .give_back =
                           [this] {
                             ++times;
                             now += 100ms;
                           },
                       .now = [this] { return now; }}};
};

}  // namespace

TEST_SUITE_BEGIN("tcp/memory_return");

TEST_CASE("memory is given back, for a fiftieth of the time at most") {
  Harness h;
  h.memory.consider();
  h.now += 4900ms;
  CHECK(h.memory.left() == 100ms);
  h.memory.consider();
  CHECK(h.times == 1);

  h.now += 100ms;
  h.memory.consider();
  CHECK(h.times == 2);
}

TEST_CASE("little is not worth it, and so much that it would take seconds is left") {
  Harness h;
  h.free_bytes = MemoryReturn::kWorthBytes - 1;
  h.memory.consider();
  h.free_bytes = MemoryReturn::kMostBytes + 1;
  h.memory.consider();
  CHECK(h.times == 0);

  h.free_bytes = MemoryReturn::kMostBytes;
  h.memory.consider();
  CHECK(h.times == 1);
}

TEST_SUITE_END();

}  // namespace phx::tcp::memory_return_test
