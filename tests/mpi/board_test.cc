#include "runtime/mpi/engine/board.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "overlay/base/rng.h"
#include "tests/support/seeds.h"

namespace phx::mpi::board_test {
namespace {

/// Ranks of one process, with memory as all have it.
class Machine {
 public:
  explicit Machine(int size) {
    const std::size_t bytes = Board::bytes_for(size);
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, bytes)));
    std::memset(memory_.get(), 0, bytes);
    for (int rank = 0; rank < size; ++rank) boards_.emplace_back(memory_.get(), rank, size);
  }
  Board& at(int rank) { return boards_[static_cast<std::size_t>(rank)]; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::deque<Board> boards_;
};

void show(Board& board, std::uint32_t operation, const std::vector<std::byte>& bytes) {
  std::memcpy(board.place().data(), bytes.data(), bytes.size());
  board.show(operation, bytes.size());
}

/// What a rank shows in an operation, some bytes that are no others'.
std::vector<std::byte> value(std::uint64_t number, int rank) {
  std::vector<std::byte> bytes(1 + (number * 37 + static_cast<std::uint64_t>(rank)) % 200);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(number + static_cast<std::uint64_t>(rank) * 31 + i);
  }
  return bytes;
}

/// Whether it is seen as it was shown.
bool is_seen(const std::optional<Board::Shown>& shown, std::uint32_t operation,
             const std::vector<std::byte>& bytes) {
  return shown && shown->operation == operation && shown->bytes.size() == bytes.size() &&
         std::memcmp(shown->bytes.data(), bytes.data(), bytes.size()) == 0;
}

}  // namespace

TEST_SUITE_BEGIN("mpi/board");

TEST_CASE("what is shown is seen in its operation, and not in the next one") {
  Machine machine(2);
  for (int rank = 0; rank < 2; ++rank) machine.at(rank).begin();
  CHECK_FALSE(machine.at(1).shown_by(0));
  CHECK(machine.at(0).has_place());
  show(machine.at(0), 7, value(1, 0));
  CHECK(is_seen(machine.at(1).shown_by(0), 7, value(1, 0)));
  CHECK_FALSE(machine.at(1).has_left(0));
  CHECK_FALSE(machine.at(0).leave());
  CHECK(machine.at(1).has_left(0));
  CHECK(is_seen(machine.at(1).shown_by(0), 7, value(1, 0)));
  CHECK_FALSE(machine.at(1).leave());
  machine.at(1).begin();
  CHECK_FALSE(machine.at(1).shown_by(0));
  CHECK_FALSE(machine.at(1).has_left(0));
}

TEST_CASE("who is as far ahead as there are places waits, and is told when others leave") {
  Machine machine(3);
  for (std::uint64_t n = 1; n <= Board::kAhead; ++n) {
    machine.at(0).begin();
    REQUIRE(machine.at(0).has_place());
    show(machine.at(0), 1, value(n, 0));
    CHECK_FALSE(machine.at(0).leave());
  }
  machine.at(0).begin();
  CHECK_FALSE(machine.at(0).has_place());
  machine.at(1).begin();
  CHECK(is_seen(machine.at(1).shown_by(0), 1, value(1, 0)));
  CHECK(machine.at(1).leave());  // The first one waits for this.
  CHECK_FALSE(machine.at(0).has_place());
  machine.at(2).begin();
  CHECK(machine.at(2).leave());
  CHECK(machine.at(0).has_place());
  machine.at(2).begin();
  CHECK_FALSE(machine.at(2).leave());  // Nobody waits any more.
}

TEST_CASE("ranks that run beside each other see all that is shown, whoever is ahead") {
  constexpr int kSize = 4;
  const std::uint64_t operations = support::seeds(32) * 500;
  Machine machine(kSize);
  std::atomic<int> wrong = 0;
  const auto run = [&](int rank) {
    Board& board = machine.at(rank);
    for (std::uint64_t n = 1; n <= operations; ++n) {
      board.begin();
      Rng rng(n);  // The same at all: who shows, and who reads it.
      const int from = static_cast<int>(rng.below(kSize));
      const bool is_for_all = rng.chance(0.5);
      const int to = static_cast<int>(rng.below(kSize));
      if (rank == from) {
        while (!board.has_place()) std::this_thread::yield();
        show(board, static_cast<std::uint32_t>(n), value(n, rank));
      } else if (is_for_all || rank == to) {
        while (!board.shown_by(from)) std::this_thread::yield();
        if (!is_seen(board.shown_by(from), static_cast<std::uint32_t>(n), value(n, from))) ++wrong;
      }
      static_cast<void>(board.leave());
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kSize; ++rank) threads.emplace_back(run, rank);
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_SUITE_END();

}  // namespace phx::mpi::board_test
