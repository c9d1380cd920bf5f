#include "apps/phoenix/bench/bench.h"

#include <doctest/doctest.h>

namespace phx::app::bench_test {

TEST_CASE(
    "what leaves with half of the processors is not half of the bytes if their number is odd") {
  CHECK(drain_rate(600, 2, 1) == 300);
  CHECK(drain_rate(600, 3, 1) == 200);
  CHECK(drain_rate(600, 5, 2) == 120);
}

}  // namespace phx::app::bench_test
