#include "overlay/base/spare_room.h"

#include <doctest/doctest.h>

namespace phx::spare_room_test {

TEST_SUITE_BEGIN("base/spare_room");

TEST_CASE("a list has the room of the one before it, and is empty") {
  SpareRoom<int> room;
  std::vector<int> list = room.take();
  list.assign(5, 1);
  const int* const place = list.data();
  room.give_back(std::move(list));

  std::vector<int> filled{1, 2};
  CHECK(room.take_from(filled) == std::vector<int>{1, 2});
  CHECK(filled.empty());
  CHECK(filled.data() == place);
  CHECK(room.take_from(filled).capacity() == 0);  // Nothing was in it.
  CHECK(filled.data() == place);
}

TEST_CASE("the room of a long list goes back to the heap") {
  SpareRoom<int, 4> room;
  room.give_back(std::vector<int>(5));
  CHECK(room.take().capacity() == 0);
}

TEST_CASE("who takes twice gets room once") {
  SpareRoom<int> room;
  room.give_back(std::vector<int>(5));
  CHECK(room.take().capacity() == 5);
  CHECK(room.take().capacity() == 0);
}

}  // namespace phx::spare_room_test
