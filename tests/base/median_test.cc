#include "overlay/base/median.h"

#include <doctest/doctest.h>

namespace median_test {

TEST_CASE("the median is the value in the middle, or between the two there") {
  CHECK(phx::median({}) == 0);
  CHECK(phx::median({3}) == 3);
  CHECK(phx::median({4, 1}) == 2.5);
  CHECK(phx::median({9, 1, 2}) == 2);
  CHECK(phx::median({9, 1, 2, 4}) == 3);
}

}  // namespace median_test
