#include "overlay/base/queue.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "overlay/base/rng.h"

namespace queue_test {

using namespace phx;

TEST_SUITE_BEGIN("base/queue");

TEST_CASE("it is what a deque is, whatever is put and taken") {
  Rng rng(1);
  Queue<int> queue;
  std::deque<int> model;
  for (int turn = 0; turn < 20'000; ++turn) {
    const bool grows = rng.chance(turn % 2000 < 1000 ? 0.6 : 0.3);
    if (grows) {
      queue.push_back(turn);
      model.push_back(turn);
    } else {
      const std::size_t count = rng.below(model.size() + 1) / 4;
      queue.drop_front(count);
      model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(count));
    }
    REQUIRE(queue.size() == model.size());
    REQUIRE(queue.empty() == model.empty());
    if (!model.empty()) REQUIRE(queue.front() == model.front());
    if (turn % 100 == 0) REQUIRE(std::equal(queue.begin(), queue.end(), model.begin()));
  }
}

TEST_CASE("what an item held is free as soon as it is taken") {
  Queue<std::shared_ptr<int>> queue;
  const auto held = std::make_shared<int>(1);
  for (int i = 0; i < 10; ++i) queue.push_back(held);

  queue.pop_front();
  CHECK(held.use_count() == 10);
  queue.drop_front(2);
  CHECK(held.use_count() == 8);
  CHECK(queue[0] == held);
}

TEST_CASE("while it is empty it costs 32 bytes, also when much was in it") {
  CHECK(sizeof(Queue<std::uint64_t>) == 32);
  std::vector<Queue<std::uint64_t>> queues(1000);
  const std::size_t before = ::mallinfo2().uordblks;
  for (auto& queue : queues) {
    for (std::uint64_t i = 0; i < 100; ++i) queue.push_back(i);
    queue.drop_front(100);
  }
  CHECK(::mallinfo2().uordblks <= before + 8 * queues.size());  // what malloc has at hand
}

TEST_CASE("each item is moved a few times at most, however long the queue is") {
  struct Counting {
    explicit Counting(int& moved) : moves(&moved) {}
    Counting(Counting&& other) noexcept : moves(other.moves) { ++*moves; }
    Counting& operator=(Counting&& other) noexcept {
      moves = other.moves;
      ++*moves;
      return *this;
    }
    int* moves;
  };
  for (const int length : {10, 1'000, 10'000}) {
    int moves = 0;
    Queue<Counting> queue;
    for (int i = 0; i < length; ++i) queue.push_back(Counting(moves));
    for (int i = 0; i < 3 * length; ++i) {
      queue.push_back(Counting(moves));
      queue.pop_front();
    }
    CHECK(moves <= 10 * 4 * length);
  }
}

TEST_SUITE_END();

}  // namespace queue_test
