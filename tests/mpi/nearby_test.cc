#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <thread>

#include "overlay/base/rng.h"
#include "runtime/mpi/engine/nearby.h"
#include "tests/support/seeds.h"

namespace phx::mpi::nearby_test {
namespace {

using namespace std::chrono_literals;

/// Ranks of one process, with memory as all have it.
class Machine {
 public:
  explicit Machine(int size) {
    const std::size_t bytes = Nearby::bytes_for(size);
    memory_.reset(std::aligned_alloc(64, bytes));
    std::memset(memory_.get(), 0, bytes);
    for (int rank = 0; rank < size; ++rank) ranks_.emplace_back(memory_.get(), rank, size);
  }
  Nearby& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  std::deque<Nearby> ranks_;
};

/// The n-th message of a way, of some size up to several times what a pipe holds.
Payload message(int from, int to, std::uint32_t n) {
  Rng rng(static_cast<std::uint64_t>(from * 100 + to) * 100'000 + n);
  const std::size_t size = rng.chance(0.1) ? rng.below(200'000) : rng.below(300);
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + n);
  return Payload(std::move(bytes));
}

}  // namespace

TEST_SUITE_BEGIN("mpi/nearby");

TEST_CASE("what goes through shared memory comes whole and in order, however long it is") {
  constexpr int kSize = 4;
  for (std::uint64_t seed = 0; seed < support::seeds(10); ++seed) {
    CAPTURE(seed);
    Machine machine(kSize);
    Rng rng(seed);
    std::uint32_t sent[kSize][kSize] = {};
    std::uint32_t got[kSize][kSize] = {};
    int written_in_place = 0;
    const auto look = [&](int self) {
      machine.at(self).receive([&](int from, std::uint32_t tag, const Payload& lent) {
        CHECK((tag == got[from][self] || tag == 0));
        CHECK(lent == message(from, self, got[from][self]++));
      });
    };

    for (int i = 0; i < 600; ++i) {
      const int self = static_cast<int>(rng.below(kSize));
      const int to = static_cast<int>(rng.below(kSize));
      if (rng.chance(0.3)) look(self);
      if (to == self) continue;
      const std::uint32_t n = sent[self][to]++;
      const Payload next = message(self, to, n);
      const NearWays ways = machine.at(self).ways();
      std::byte* const room = rng.chance(0.5) ? ways.room(to, next.size()) : nullptr;
      if (room == nullptr) {
        machine.at(self).send(to, n, next);
        continue;
      }
      std::ranges::copy(next.bytes(), room);
      ways.leave(to, next.size());
      ++written_in_place;
    }
    CHECK(written_in_place > 50);
    const auto is_over = [&] {
      for (int rank = 0; rank < kSize; ++rank) {
        if (!machine.at(rank).is_sent()) return false;
      }
      return std::memcmp(sent, got, sizeof(sent)) == 0;
    };
    for (int turn = 0; turn < 400 && !is_over(); ++turn) look(turn % kSize);
    CHECK(is_over());
  }
}

TEST_CASE(
    "bytes that are written when there is room come in order, in parts that lie in one piece") {
  constexpr std::size_t kBytes = 300'001;
  for (const int size : {2, 24, 256}) {
    CAPTURE(size);
    Machine machine(size);
    const std::size_t most = (Nearby::bytes_for(size) / static_cast<std::size_t>(size * size)) / 4;
    std::size_t written = 0;
    const auto write = [&](std::size_t from, std::span<std::byte> into) {
      CHECK(from == written);
      written += into.size();
      for (std::size_t i = 0; i < into.size(); ++i)
        into[i] = static_cast<std::byte>((from + i) * 7);
    };
    std::vector<std::uint32_t> tags;
    std::size_t got = 0;
    const auto look = [&] {
      machine.at(1).receive([&](int, std::uint32_t tag, const Payload& lent) {
        tags.push_back(tag);
        bool is_right = true;
        for (std::size_t i = 0; tag == 5 && i < lent.size(); ++i) {
          is_right &= lent.bytes()[i] == static_cast<std::byte>((got + i) * 7);
        }
        CHECK(is_right);
        if (tag == 5) got += lent.size();
      });
    };

    machine.at(0).send(1, 4, Payload(Bytes(10)));
    machine.at(0).send(1, 5, Source{kBytes, write});
    machine.at(0).send(1, 6, Payload(Bytes(10)));
    CHECK(written < kBytes);  // it waits for room, and takes no memory
    int turns = 0;
    for (; !machine.at(0).is_sent(); ++turns) {
      look();
      machine.at(0).receive([](int, std::uint32_t, const Payload&) {});
      REQUIRE(turns < 1000);
    }
    look();

    CHECK(got == kBytes);
    CHECK(tags.front() == 4);
    CHECK(tags.back() == 6);
    // A pipe that is emptied takes three parts or four, and one more where its end cuts one.
    const std::size_t parts = tags.size() - 2;
    CHECK(parts >= kBytes / most);
    CHECK(parts <= kBytes / most * 2 + 2);
    CHECK(static_cast<std::size_t>(turns) <= parts / 3 + 1);
  }
}

TEST_CASE("who writes or reads comes back after a megabyte, also if the other end keeps pace") {
  constexpr std::size_t kBytes = std::size_t{5} << 20U;
  Machine machine(2);
  std::size_t written = 0;
  std::size_t got = 0;
  bool is_writing = true;  // Else the other end goes on while this one reads.
  const auto look = [&] {
    machine.at(1).receive([&](int, std::uint32_t, const Payload& lent) {
      got += lent.size();
      if (!is_writing) machine.at(0).receive([](int, std::uint32_t, const Payload&) {});
    });
  };
  const auto write = [&](std::size_t, std::span<std::byte> into) {
    written += into.size();
    if (is_writing) look();
  };

  machine.at(0).send(1, 5, Source{kBytes, write});
  CHECK(written > 1'000'000);
  CHECK(written < std::size_t{2} << 20U);
  is_writing = false;
  int turns = 0;
  for (; got < kBytes && turns < 1000; ++turns) {
    const std::size_t before = got;
    look();
    CHECK(got - before < std::size_t{2} << 20U);
    machine.at(0).receive([](int, std::uint32_t, const Payload&) {});
  }
  CHECK(got == kBytes);
  CHECK(machine.at(0).is_sent());
}

TEST_CASE(
    "what is taken at once is written to the same memory again, so that it stays in the caches") {
  for (const std::size_t size : {4U, 300U, 1024U, 4096U, 10'000U}) {
    for (const std::size_t ahead : {1U, 2U}) {
      CAPTURE(size);
      CAPTURE(ahead);
      Machine machine(24);
      const NearWays ways = machine.at(0).ways();
      std::set<const std::byte*> lines;
      std::size_t came = 0;
      for (std::size_t i = 0; i < 1000; ++i) {
        std::byte* const room = ways.room(1, size);
        if (room == nullptr) {
          machine.at(0).send(1, 0, Payload(Bytes(size)));
        } else {
          for (std::size_t at = 0; at < size; at += 64) lines.insert(room + at);
          ways.leave(1, size);
        }
        if (i % ahead != ahead - 1) continue;
        machine.at(1).receive([&](int, std::uint32_t, const Payload&) { ++came; });
      }
      CHECK(came == 1000);
      REQUIRE(!lines.empty());
      const auto used = static_cast<std::size_t>(*lines.rbegin() - *lines.begin()) + 64;
      CHECK(used <= 2048 + 2 * ahead * (size + 64));
    }
  }
}

TEST_CASE("where something waits in a pipe, all of it is used before a message has to wait") {
  constexpr std::size_t kSize = 1024;
  Machine machine(2);
  const NearWays ways = machine.at(0).ways();
  std::size_t sent = 0;
  std::size_t came = 0;
  const auto send = [&] {
    std::byte* const room = ways.room(1, kSize);
    if (room == nullptr) return false;
    std::memset(room, static_cast<int>(sent++ % 251), kSize);
    ways.leave(1, kSize);
    return true;
  };
  const auto look = [&](int, std::uint32_t, const Payload& lent) {
    CHECK(lent.bytes().front() == static_cast<std::byte>(came % 251));
    CHECK(lent.bytes().back() == static_cast<std::byte>(came++ % 251));
  };
  // Three that are taken, so that the beginning is free; then one that is not.
  for (int i = 0; i < 3; ++i) REQUIRE(send());
  machine.at(1).receive(look);
  std::size_t row = 0;
  while (send()) ++row;
  CHECK(row >= 60);  // a pipe of 64 KiB
  machine.at(1).receive(look);
  CHECK(came == sent);
  CHECK(send());
  machine.at(1).receive(look);
  CHECK(came == sent);
}

TEST_CASE("who sleeps is woken by a message, by room, and by another thread") {
  Machine machine(2);
  constexpr std::uint32_t kMany = 2000;
  const auto begin = std::chrono::steady_clock::now();
  // Both have much more to say than a pipe holds, and sleep whenever there is nothing to do.
  const auto run = [&](int self) {
    std::uint32_t got = 0;
    Nearby& near = machine.at(self);
    for (std::uint32_t n = 0; n < kMany; ++n) near.send(1 - self, n, message(self, 1 - self, n));
    while (got < kMany || !near.is_sent()) {
      const std::uint64_t seen = near.news();
      if (!near.receive([&](int, std::uint32_t tag, const Payload&) { got += tag == got; })) {
        near.sleep(seen, 60s);
      }
    }
    CHECK(got == kMany);
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();

  std::atomic<bool> is_told = false;
  std::thread waiting([&] {
    for (std::uint64_t seen = machine.at(0).news(); !is_told; seen = machine.at(0).news()) {
      machine.at(0).sleep(seen, 60s);
    }
  });
  is_told = true;
  machine.at(0).wake();
  waiting.join();

  CHECK(std::chrono::steady_clock::now() - begin < 50s);
}

TEST_CASE("a nudge wakes who sleeps, or who was about to") {
  Machine machine(2);
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t before = machine.at(0).news();
  machine.at(1).nudge(0);
  CHECK(machine.at(0).news() != before);
  CHECK(machine.at(0).sleep(before, 60s));

  // Each waits for the other's turn.
  std::atomic<int> turn = 0;
  const auto run = [&](int self) {
    Nearby& near = machine.at(self);
    for (int i = self; i < 4000; i += 2) {
      for (std::uint64_t seen = near.news(); turn != i; seen = near.news()) near.sleep(seen, 60s);
      turn = i + 1;
      near.nudge(1 - self);
    }
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
  CHECK(std::chrono::steady_clock::now() - begin < 50s);
}

TEST_CASE("a near rank's memory is read, and what cannot be read is said so") {
  Machine machine(2);
  const Payload there = message(0, 1, 7);
  Bytes here(there.size());

  CHECK(machine.at(1).read(0, reinterpret_cast<std::uint64_t>(there.bytes().data()), here));
  CHECK(Payload(here) == there);
  CHECK_FALSE(machine.at(1).read(0, 16, std::span(here).first(1)));
}

TEST_SUITE_END();

}  // namespace phx::mpi::nearby_test
