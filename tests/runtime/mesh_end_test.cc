#include "runtime/mesh_end.h"

#include <doctest/doctest.h>

namespace phx::runtime::mesh_end_test {
namespace {

ProcessorSet set(std::initializer_list<std::uint32_t> ids) {
  ProcessorSet result;
  for (const std::uint32_t id : ids) result.insert(ProcessorId{id});
  return result;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/mesh_end");

TEST_CASE("who is reached through others is told before these") {
  MeshEnd end;
  CHECK(!end.is_begun());
  end.begin(set({2, 3, 4, 5}), {});
  CHECK(end.is_own());
  CHECK(end.told() == set({2, 3, 4, 5}));

  CHECK(end.next(set({3, 5, 9})) == set({3, 5}));
  CHECK(end.is_under_way());
  CHECK(end.next(set({2})) == set({2, 4}));  // What has changed since then does not matter.
  CHECK(!end.is_under_way());
  CHECK(end.end());
  CHECK(!end.end());
  CHECK(end.is_over());
}

TEST_CASE("without any that are far all are told at once, also if that is nobody") {
  MeshEnd end;
  end.begin(set({2, 3}), {});
  CHECK(end.next({}) == set({2, 3}));
  CHECK(!end.is_under_way());

  MeshEnd alone;
  alone.begin({}, {});
  CHECK(alone.is_under_way());
  CHECK(alone.next({}).empty());
  CHECK(!alone.is_under_way());
}

TEST_CASE("whom others have told is not told again, and the end is not its own if that was all") {
  MeshEnd end;
  end.begin(set({2, 3, 4}), {});
  CHECK(end.on_told(set({1, 2, 3})));
  CHECK(end.is_own());
  CHECK(end.told() == set({1, 2, 3, 4}));
  CHECK_FALSE(end.on_told(set({4})));
  CHECK(!end.is_under_way());
  CHECK(!end.is_own());

  MeshEnd coordinator;
  coordinator.begin(set({9}), set({1, 2, 3}));
  CHECK(!coordinator.is_own());
  CHECK(coordinator.told() == set({1, 2, 3, 9}));
}

TEST_SUITE_END();

}  // namespace phx::runtime::mesh_end_test
