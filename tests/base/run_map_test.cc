#include "overlay/base/run_map.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <optional>

#include "overlay/base/ids.h"
#include "overlay/base/rng.h"

namespace run_map_test {

using namespace phx;

namespace {

using Map = RunMap<ProcessorId, int>;

constexpr ProcessorId p(std::uint32_t value) {
  return ProcessorId{value};
}

}  // namespace

TEST_SUITE_BEGIN("base/run_map");

TEST_CASE("neighbours with equal values are one run") {
  Map map;
  map.put(p(1), 7);
  map.put(p(3), 7);
  CHECK(map.runs().size() == 2);

  map.put(p(2), 7);

  CHECK(map.runs() == std::vector<Map::Run>{{p(1), p(3), 7}});
  CHECK(map.ids_where([](int value) { return value == 7; }) == ProcessorSet{p(1), p(2), p(3)});
}

TEST_CASE("one id in the middle gets another value, and is erased") {
  Map map;
  map.put({p(1), p(9), 1});

  map.put(p(5), 2);

  CHECK(map.runs() == std::vector<Map::Run>{{p(1), p(4), 1}, {p(5), p(5), 2}, {p(6), p(9), 1}});
  map.erase(p(5));
  CHECK(map.find(p(5)) == nullptr);
  CHECK(*map.find(p(6)) == 1);
}

TEST_CASE("many changes at once are what they are one by one") {
  constexpr std::uint32_t kIds = 24;
  Rng rng(12);
  Map map;
  Map single;
  for (int step = 0; step < 4000; ++step) {
    Map::Changes changes;
    for (std::uint32_t id = 0; id < kIds; ++id) {
      if (rng.below(5) > 0) continue;
      const auto value = static_cast<int>(rng.below(4));
      changes.emplace_back(p(id), value < 3 ? std::optional(value) : std::nullopt);
    }
    for (const auto& [id, value] : changes) {
      if (value) {
        single.put(id, *value);
      } else {
        single.erase(id);
      }
    }

    map.put_all(changes);

    CAPTURE(step);
    REQUIRE(map == single);
  }
}

TEST_CASE("it is what a map of single ids is, whatever is put and erased") {
  constexpr std::uint32_t kIds = 24;
  Rng rng(11);
  Map map;
  std::map<ProcessorId, int> single;
  for (int step = 0; step < 4000; ++step) {
    const auto first = static_cast<std::uint32_t>(rng.below(kIds));
    const auto last = first + static_cast<std::uint32_t>(rng.below(4));
    const int value = static_cast<int>(rng.below(3));
    if (rng.below(4) == 0) {
      map.erase(p(first));
      single.erase(p(first));
    } else {
      map.put({p(first), p(last), value});
      for (std::uint32_t id = first; id <= last; ++id) single[p(id)] = value;
    }
    for (std::uint32_t id = 0; id < kIds + 4; ++id) {
      const int* found = map.find(p(id));
      const auto wanted = single.find(p(id));
      REQUIRE((found != nullptr) == (wanted != single.end()));
      if (found != nullptr) REQUIRE(*found == wanted->second);
    }
    for (std::size_t i = 1; i < map.runs().size(); ++i) {
      const auto& before = map.runs()[i - 1];
      const auto& after = map.runs()[i];
      REQUIRE(before.last < after.first);
      REQUIRE((before.last.value + 1 < after.first.value || before.value != after.value));
    }
  }
}

}  // namespace run_map_test
