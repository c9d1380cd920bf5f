#include <doctest/doctest.h>

#include <thread>

#include "runtime/mpi/base/handles.h"

namespace phx::mpi::handles_test {
namespace {

struct Counted : Object {
  explicit Counted(int* deaths) : deaths_(deaths) {}
  ~Counted() override { ++*deaths_; }
  int* deaths_;
};

}  // namespace

TEST_SUITE_BEGIN("mpi/handles");

TEST_CASE("an object lives while a handle or a holder is left") {
  int deaths = 0;
  Handles<Counted> table(Kind::kGroup);
  auto* object = new Counted(&deaths);
  const int handle = table.open(object);
  Ref<Counted> holder(object);

  CHECK(table.find(handle) == object);
  CHECK(table.open(object) == handle);
  CHECK_FALSE(table.close(object));
  CHECK(table.find(handle) == object);
  CHECK(table.close(object));
  CHECK(table.find(handle) == nullptr);
  CHECK(deaths == 0);
  holder = nullptr;
  CHECK(deaths == 1);
}

TEST_CASE("numbers of other kinds, null and made-up handles name nothing") {
  int deaths = 0;
  Handles<Counted> table(Kind::kGroup);
  table.predefine(0x48000000, new Counted(&deaths));

  CHECK(table.find(0x48000000) != nullptr);
  for (const int handle : {0, -1, 0x08000000, 0x44000000, 0x48000001, 0x48000100, 0x7fffffff})
    CHECK(table.find(handle) == nullptr);
  CHECK(table.find(static_cast<int>(0x88000009U)) == nullptr);
}

TEST_CASE("threads open and close thousands of handles at once") {
  int deaths = 0;
  Handles<Counted> table(Kind::kOp);
  const auto work = [&table] {
    std::vector<std::pair<int, Counted*>> mine;
    static thread_local int count = 0;
    for (int i = 0; i < 5000; ++i) {
      auto* object = new Counted(&count);
      mine.emplace_back(table.open(object), object);
    }
    bool right = true;
    for (const auto& [handle, object] : mine) right = right && table.find(handle) == object;
    for (const auto& [handle, object] : mine) table.close(object);
    CHECK(right);
    CHECK(count == 5000);
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(deaths == 0);
}

TEST_SUITE_END();

}  // namespace phx::mpi::handles_test
