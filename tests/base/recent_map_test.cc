#include "overlay/base/recent_map.h"

#include <doctest/doctest.h>

#include <string>

namespace recent_map_test {

using namespace phx;

TEST_SUITE_BEGIN("base/recent_map");

TEST_CASE("what was added first goes first, whatever its key") {
  RecentMap<int, std::string> map(2);
  map.put(8, "a");
  map.put(9, "b");
  map.put(1, "c");

  CHECK(map.find(8) == nullptr);
  REQUIRE(map.find(9) != nullptr);
  REQUIRE(map.find(1) != nullptr);
  CHECK(*map.find(1) == "c");
}

TEST_CASE("a new value of a key that is there takes no room and makes nothing younger") {
  RecentMap<int, std::string> map(2);
  map.put(1, "a");
  map.put(2, "b");
  map.put(1, "c");
  CHECK(*map.find(1) == "c");
  CHECK(map.find(2) != nullptr);

  map.put(3, "d");
  CHECK(map.find(1) == nullptr);
  CHECK(map.find(2) != nullptr);
}

TEST_SUITE_END();

}  // namespace recent_map_test
