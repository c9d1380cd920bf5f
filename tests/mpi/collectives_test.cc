#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <functional>
#include <string>

#include "runtime/mpi/collectives/collectives.h"
#include "tests/mpi/world.h"
#include "tests/support/seeds.h"

namespace phx::mpi::collectives_test {
namespace {

constexpr int kSizeMax = 17;
constexpr int kLong = 20'000;  ///< pairs: more than travels without asking
using Values = std::vector<unsigned>;

/// Maps x -> a x + b, one after the other: associative, and the order counts.
void compose(void* in, void* inout, int* count, MPI_Datatype* /*datatype*/) {
  const auto* first = static_cast<const unsigned*>(in);
  auto* second = static_cast<unsigned*>(inout);
  for (int i = 0; i < 2 * *count; i += 2) {
    const unsigned a = first[i], b = first[i + 1];
    second[i + 1] += second[i] * b;
    second[i] *= a;
  }
}
void add(void* in, void* inout, int* count, MPI_Datatype* /*datatype*/) {
  const auto* first = static_cast<const unsigned*>(in);
  auto* second = static_cast<unsigned*>(inout);
  for (int i = 0; i < 2 * *count; ++i) second[i] += first[i];
}

struct Operation {
  MPI_User_function* function;
  bool commutes;
  [[nodiscard]] Ref<Op> op() const {
    Ref<Op> made(new Op);
    made->function = function;
    made->commutes = commutes;
    return made;
  }
};
constexpr Operation kCompose{compose, false};
constexpr Operation kAdd{add, true};

/// What rank r contributes.
Values input(int rank, int pairs) {
  Values values(static_cast<std::size_t>(2 * pairs));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<unsigned>(rank * 7919 + 13 + static_cast<int>(i) * 3) | 1U;
  }
  return values;
}

/// Ranks `first` to `last` combined one after the other.
Values expected(const Operation& operation, std::pair<int, int> ranks, int pairs) {
  Values result = input(ranks.second, pairs);
  for (int rank = ranks.second - 1; rank >= ranks.first; --rank) {
    Values before = input(rank, pairs);
    operation.function(before.data(), result.data(), &pairs, nullptr);
  }
  return result;
}

Area area(Values& values) {
  return Area::of(values.data(), static_cast<MPI_Count>(values.size() / 2), MPI_2INT);
}

/// What all ranks have sent.
struct Sent {
  std::uint64_t messages = 0;
  std::uint64_t casts = 0;
  friend bool operator==(const Sent&, const Sent&) = default;
};

struct Ranks {
  int size;
  bool is_whole = false;
  bool is_near = false;
  bool is_crowded = false;
};

/// All ranks call it, beginning at different moments of what is under way.
Sent all_send(const Ranks& ranks, std::uint64_t seed,
              const std::function<void(Schedule&, int)>& build) {
  const int size = ranks.size;
  World world(size, seed);
  Rng rng(seed + 1);
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  std::vector<Ref<Schedule>> schedules;
  for (const int rank : order) {
    schedules.emplace_back(new Schedule(
        world.scope(rank, 0, ranks.is_whole, false, ranks.is_near, ranks.is_crowded), 5));
    build(*schedules.back(), rank);
    world.at(rank).start(schedules.back());
    for (std::uint64_t k = rng.below(6); k > 0; --k) static_cast<void>(world.step());
  }
  world.run();
  for (const auto& schedule : schedules) REQUIRE(schedule->is_done);
  return {world.messages, world.casts};
}

/// The same without trees of the runtime. Returns the number of messages.
std::uint64_t all_call(int size, std::uint64_t seed,
                       const std::function<void(Schedule&, int)>& build) {
  const Sent sent = all_send({size}, seed, build);
  CHECK(sent.casts == 0);
  return sent.messages;
}

struct Case {
  int size, pairs, root;
  std::uint64_t seed;
};

/// Every size, short and long, at several roots.
void for_all(const std::function<void(const Case&)>& check) {
  std::uint64_t seed = 1;
  for (int size = 1; size <= kSizeMax; ++size) {
    for (const int pairs : {0, 1, 5, kLong}) {
      if (pairs == kLong && size % 4 != 3) continue;
      for (const int root : {0, size / 2, size - 1}) {
        CAPTURE(size);
        CAPTURE(pairs);
        CAPTURE(root);
        check({size, pairs, root, seed++});
      }
    }
  }
}

std::vector<Values> for_each_rank(int size, const std::function<Values(int)>& make) {
  std::vector<Values> all;
  for (int rank = 0; rank < size; ++rank) all.push_back(make(rank));
  return all;
}
std::vector<Values> room(int size, int pairs) {
  return for_each_rank(size, [&](int) { return Values(static_cast<std::size_t>(2 * pairs), 0); });
}
std::vector<Values> inputs(int size, int pairs) {
  return for_each_rank(size, [&](int rank) { return input(rank, pairs); });
}
Values& at(std::vector<Values>& all, int rank) {
  return all[static_cast<std::size_t>(rank)];
}

/// Contributions of all, one after the other.
Values joined(int size, int pairs) {
  Values all;
  for (int rank = 0; rank < size; ++rank) {
    const Values one = input(rank, pairs);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

Area first_part(Values& all, int pairs) {
  return Area::of(all.data(), pairs, MPI_2INT);
}

unsigned rounds(int size) {
  return static_cast<unsigned>(std::bit_width(static_cast<unsigned>(size) - 1));
}

}  // namespace

TEST_SUITE_BEGIN("mpi/collectives");

TEST_CASE("a broadcast brings what the root has, with a message per other rank") {
  for_all([](const Case& c) {
    auto all = room(c.size, c.pairs);
    at(all, c.root) = input(c.root, c.pairs);
    const auto messages = all_call(c.size, c.seed, [&](Schedule& schedule, int rank) {
      add_broadcast(schedule, c.root, area(at(all, rank)));
    });
    for (const Values& one : all) CHECK(one == input(c.root, c.pairs));
    if (c.pairs < kLong) CHECK(messages == static_cast<unsigned>(c.size - 1));
  });
}

TEST_CASE("where the runtime has trees a broadcast is one cast, and a barrier one more message") {
  for_all([](const Case& c) {
    auto all = room(c.size, c.pairs);
    at(all, c.root) = input(c.root, c.pairs);
    int came = 0;
    const Sent sent = all_send({c.size, true}, c.seed, [&](Schedule& schedule, int rank) {
      add_broadcast(schedule, c.root, area(at(all, rank)));
      schedule.run([&] { ++came; });
      add_barrier(schedule);
      schedule.run([&] { CHECK(came == c.size); });
    });
    for (const Values& one : all) CHECK(one == input(c.root, c.pairs));
    const unsigned casts = c.size == 1 ? 0 : 2;  // who is alone tells nobody
    CHECK(sent == Sent{static_cast<unsigned>(c.size - 1), casts});
  });
}

TEST_CASE("where the runtime combines a reduction is a contribution of each, in place, too") {
  for_all([](const Case& c) {
    const auto numbers = [](Values& values) {
      return Area::of(values.data(), static_cast<MPI_Count>(values.size()), MPI_UNSIGNED);
    };
    auto own = inputs(c.size, c.pairs);
    auto sums = inputs(c.size, c.pairs);
    Values highest(static_cast<std::size_t>(2 * c.pairs));
    World world(c.size, c.seed);
    std::vector<Ref<Schedule>> schedules;
    for (int rank = 0; rank < c.size; ++rank) {
      for (const int tag : {1, 2}) {
        schedules.emplace_back(new Schedule(world.scope(rank, 0, true, true), tag));
        if (tag == 1) {
          add_reduce(*schedules.back(), c.root, {Ref<Op>(&op_of(MPI_MAX)), numbers(at(own, rank))},
                     rank == c.root ? numbers(highest) : Area());
        } else {
          const Area both = numbers(at(sums, rank));
          add_allreduce(*schedules.back(), {Ref<Op>(&op_of(MPI_SUM)), both}, both);
        }
        world.at(rank).start(schedules.back());
      }
      static_cast<void>(world.step());
    }
    world.run();

    for (const auto& schedule : schedules) CHECK(schedule->is_done);
    for (const Values& sum : sums) CHECK(sum == expected(kAdd, {0, c.size - 1}, c.pairs));
    for (std::size_t i = 0; i < highest.size(); ++i) {
      unsigned most = 0;
      for (const Values& one : own) most = std::max(most, one[i]);
      CHECK(highest[i] == most);
    }
    CHECK(world.contributions == (c.size == 1 ? 0 : 2 * static_cast<unsigned>(c.size)));
    CHECK(world.messages + world.casts == 0);
  });
}

TEST_CASE("where ranks share cores short operations cost a message to and from one of them") {
  for (const Operation& operation : {kCompose, kAdd}) {
    for_all([&](const Case& c) {
      if (c.pairs == kLong) return;
      auto own = inputs(c.size, c.pairs);
      auto spread = room(c.size, c.pairs);
      auto sums = room(c.size, c.pairs);
      at(spread, c.root) = input(c.root, c.pairs);
      Values sum(static_cast<std::size_t>(2 * c.pairs));
      const Sent sent =
          all_send({c.size, false, true, true}, c.seed, [&](Schedule& schedule, int rank) {
            const Combining what{operation.op(), area(at(own, rank))};
            add_broadcast(schedule, c.root, area(at(spread, rank)));
            add_reduce(schedule, c.root, what, rank == c.root ? area(sum) : Area());
            add_allreduce(schedule, what, area(at(sums, rank)));
            add_barrier(schedule);
          });
      for (const Values& one : spread) CHECK(one == input(c.root, c.pairs));
      const Values total = expected(operation, {0, c.size - 1}, c.pairs);
      CHECK(sum == total);
      for (const Values& one : sums) CHECK(one == total);
      CHECK(sent == Sent{6 * static_cast<unsigned>(c.size - 1), 0});
    });
  }
}

TEST_CASE("between ranks that are not near long values travel in segments that need no asking") {
  for (int size = 2; size <= 9; ++size) {
    CAPTURE(size);
    const int segments = 3;
    const int pairs = 2 * 8192 + 100;
    auto own = inputs(size, pairs);
    auto all = room(size, pairs);
    const auto n = static_cast<unsigned>(size);
    const Sent sent = all_send({size}, n, [&](Schedule& schedule, int rank) {
      add_allreduce(schedule, {kCompose.op(), area(at(own, rank))}, area(at(all, rank)));
      add_broadcast(schedule, size / 2, area(at(own, rank)));
    });
    const Values total = expected(kCompose, {0, size - 1}, pairs);
    for (const Values& sum : all) CHECK(sum == total);
    for (const Values& one : own) CHECK(one == input(size / 2, pairs));
    CHECK(sent == Sent{3 * segments * (n - 1), 0});
  }
}

TEST_CASE("a broadcast in segments may have other datatypes with the same bytes at each rank") {
  constexpr int kPairs = 20'000;
  constexpr int kSize = 5;
  life() = Life::kRunning;
  auto all = room(kSize, 2 * kPairs);
  at(all, 1) = input(1, 2 * kPairs);
  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  REQUIRE(MPI_Type_vector(kPairs, 2, 4, MPI_UNSIGNED, &every_other) == MPI_SUCCESS);
  REQUIRE(MPI_Type_commit(&every_other) == MPI_SUCCESS);
  all_send({kSize}, 1, [&](Schedule& schedule, int rank) {
    Values& own = at(all, rank);
    const bool is_strided = rank % 2 == 1;
    add_broadcast(
        schedule, 1,
        is_strided ? Area::of(own.data(), 1, every_other) : Area::of(own.data(), kPairs, MPI_2INT));
  });
  for (int rank = 0; rank < kSize; ++rank) {
    if (rank == 1) continue;
    for (std::size_t i = 0; i < kPairs; ++i) {
      const std::size_t place = rank % 2 == 1 ? 4 * i : 2 * i;
      REQUIRE(at(all, rank)[place] == at(all, 1)[4 * i]);
      REQUIRE(at(all, rank)[place + 1] == at(all, 1)[4 * i + 1]);
    }
  }
  MPI_Type_free(&every_other);
  life() = Life::kBefore;
}

TEST_CASE("of long values each rank combines a part: two messages per pair of ranks") {
  for (const bool is_crowded : {false, true}) {
    for (int size = 2; size <= 9; ++size) {
      CAPTURE(size);
      // So that no part asks before it travels: then each is one message.
      const int pairs = 4096 / 8 * size + size - 1;
      auto own = inputs(size, pairs);
      auto all = room(size, pairs);
      Values one(static_cast<std::size_t>(2 * pairs));
      const auto n = static_cast<unsigned>(size);
      const Sent both =
          all_send({size, false, true, is_crowded}, n, [&](Schedule& schedule, int rank) {
            add_allreduce(schedule, {kCompose.op(), area(at(own, rank))}, area(at(all, rank)));
          });
      const Sent some =
          all_send({size, false, true, is_crowded}, n, [&](Schedule& schedule, int rank) {
            add_reduce(schedule, size - 1, {kCompose.op(), area(at(own, rank))},
                       rank == size - 1 ? area(one) : Area());
          });
      const Values total = expected(kCompose, {0, size - 1}, pairs);
      for (const Values& sum : all) CHECK(sum == total);
      CHECK(one == total);
      // Short enough for one rank to combine all of it.
      const bool is_flat = is_crowded && pairs * 8 <= 8192;
      CHECK(both.messages == (is_flat ? 2 * (n - 1) : 2 * n * (n - 1)));
      CHECK(some.messages == (is_flat ? n - 1 : (n + 1) * (n - 1)));
    }
  }
}

TEST_CASE("what is longer than a pass is combined in several, in place, too") {
  constexpr int kPairs = (9 << 20) / 8 + 1;
  for (const int size : {2, 3}) {
    CAPTURE(size);
    auto both = inputs(size, kPairs);
    auto own = both;
    Values one(static_cast<std::size_t>(2 * kPairs));
    all_send({size, false, true, false}, 1, [&](Schedule& schedule, int rank) {
      const Area to = rank == 1 ? area(one) : Area();
      add_reduce(schedule, 1, {kCompose.op(), area(at(own, rank))}, to);
      const Area in_place = area(at(both, rank));
      add_allreduce(schedule, {kCompose.op(), in_place}, in_place);
    });
    const Values total = expected(kCompose, {0, size - 1}, kPairs);
    CHECK(one == total);
    for (const Values& sum : both) CHECK(sum == total);
  }
}

TEST_CASE("nobody passes a barrier before all have come to it") {
  for (int size = 1; size <= kSizeMax; ++size) {
    CAPTURE(size);
    int came = 0;
    const auto messages =
        all_call(size, static_cast<std::uint64_t>(size), [&](Schedule& schedule, int) {
          schedule.run([&] { ++came; });
          add_barrier(schedule);
          schedule.run([&, size] { CHECK(came == size); });
        });
    CHECK(messages == static_cast<unsigned>(size) * rounds(size));
  }
}

TEST_CASE("a reduction combines in the order of ranks, at every root, and leaves what went in") {
  for (const Operation& operation : {kCompose, kAdd}) {
    for_all([&](const Case& c) {
      auto own = inputs(c.size, c.pairs);
      Values result(static_cast<std::size_t>(2 * c.pairs));
      const auto messages = all_call(c.size, c.seed, [&](Schedule& schedule, int rank) {
        add_reduce(schedule, c.root, {operation.op(), area(at(own, rank))},
                   rank == c.root ? area(result) : Area());
      });
      CHECK(result == expected(operation, {0, c.size - 1}, c.pairs));
      CHECK(own == inputs(c.size, c.pairs));
      const bool is_sent_on = !operation.commutes && c.root != 0;
      if (c.pairs < kLong) CHECK(messages == static_cast<unsigned>(c.size - 1 + is_sent_on));
    });
  }
}

TEST_CASE("an allreduce gives all the same, in place, too, with as many messages as it may") {
  for (const Operation& operation : {kCompose, kAdd}) {
    for_all([&](const Case& c) {
      auto own = inputs(c.size, c.pairs);
      auto results = room(c.size, c.pairs);
      const bool in_place = c.root == 0;
      const auto messages = all_call(c.size, c.seed, [&](Schedule& schedule, int rank) {
        add_allreduce(schedule, {operation.op(), area(at(own, rank))},
                      area(at(in_place ? own : results, rank)));
      });
      for (const Values& one : in_place ? own : results) {
        CHECK(one == expected(operation, {0, c.size - 1}, c.pairs));
      }
      const auto power = std::bit_floor(static_cast<unsigned>(c.size));
      const auto extra = static_cast<unsigned>(c.size) - power;
      if (c.pairs < kLong) CHECK(messages == power * rounds(static_cast<int>(power)) + 2 * extra);
    });
  }
}

TEST_CASE("a scan gives each the combination of those before it, with and without its own") {
  for (const int kind : {0, 1, 2, 3}) {
    const bool is_exclusive = kind % 2 == 1;
    const bool is_crowded = kind / 2 == 1;
    for_all([&](const Case& c) {
      auto own = inputs(c.size, c.pairs);
      auto results = room(c.size, c.pairs);
      const bool in_place = c.root == 0;
      const Ranks ranks{.size = c.size, .is_crowded = is_crowded};
      const auto sent = all_send(ranks, c.seed, [&](Schedule& schedule, int rank) {
        add_scan(schedule, {kCompose.op(), area(at(own, rank))},
                 area(at(in_place ? own : results, rank)), is_exclusive);
      });
      if (is_crowded && c.pairs < kLong) CHECK(sent.messages == static_cast<unsigned>(c.size - 1));
      for (int rank = is_exclusive ? 1 : 0; rank < c.size; ++rank) {
        CHECK(at(in_place ? own : results, rank) ==
              expected(kCompose, {0, is_exclusive ? rank - 1 : rank}, c.pairs));
      }
    });
  }
}

TEST_CASE("a reduce-scatter gives each its part of the combination") {
  for_all([](const Case& c) {
    std::vector<int> counts;
    for (int rank = 0; rank < c.size; ++rank) counts.push_back((rank + c.root) % 3 * c.pairs);
    const int total = std::accumulate(counts.begin(), counts.end(), 0);
    auto own = inputs(c.size, total);
    auto results = for_each_rank(c.size, [&](int rank) {
      return Values(static_cast<std::size_t>(2 * counts[static_cast<std::size_t>(rank)]));
    });
    all_call(c.size, c.seed, [&](Schedule& schedule, int rank) {
      add_reduce_scatter(schedule, {kCompose.op(), area(at(own, rank))}, counts,
                         area(at(results, rank)));
    });
    Values all;
    for (const Values& one : results) all.insert(all.end(), one.begin(), one.end());
    CHECK(all == expected(kCompose, {0, c.size - 1}, total));
  });
}

TEST_CASE("gather and scatter move the parts of all ranks to and from the root") {
  for_all([](const Case& c) {
    auto own = inputs(c.size, c.pairs);
    auto back = room(c.size, c.pairs);
    Values all(static_cast<std::size_t>(2 * c.pairs * c.size));
    const auto messages = all_call(c.size, c.seed, [&](Schedule& schedule, int rank) {
      const Areas parts = equal_parts(first_part(all, c.pairs));
      add_gather(schedule, c.root, area(at(own, rank)), rank == c.root ? parts : Areas());
      add_scatter(schedule, c.root, rank == c.root ? parts : Areas(), area(at(back, rank)));
    });
    CHECK(all == joined(c.size, c.pairs));
    CHECK(back == own);
    if (c.pairs < kLong) CHECK(messages == 2 * static_cast<unsigned>(c.size - 1));
  });
}

TEST_CASE(
    "an allgather gives all the parts of all, by doubling if they are short, else by a ring") {
  for (const bool is_equal : {false, true}) {
    for_all([&](const Case& c) {
      auto all = room(c.size, c.pairs * c.size);
      const auto messages = all_call(c.size, c.seed, [&](Schedule& schedule, int rank) {
        const Area first = first_part(at(all, rank), c.pairs);
        Values own = input(rank, c.pairs);
        copy(area(own), first.part(rank * c.pairs, c.pairs));
        is_equal ? add_allgather_equal(schedule, first)
                 : add_allgather(schedule, equal_parts(first));
      });
      for (const Values& one : all) CHECK(one == joined(c.size, c.pairs));
      const auto size = static_cast<unsigned>(c.size);
      if (c.pairs < kLong) CHECK(messages == size * (is_equal ? rounds(c.size) : size - 1));
    });
  }
}

namespace {

/// Part r of rank s is part s of rank r. Returns the number of messages.
std::uint64_t check_alltoall(const Case& c, bool is_crowded) {
  auto from = for_each_rank(c.size, [&](int rank) { return input(rank, c.pairs * c.size); });
  auto to = room(c.size, c.pairs * c.size);
  const Ranks ranks{c.size, false, is_crowded, is_crowded};
  const Sent sent = all_send(ranks, c.seed, [&](Schedule& schedule, int rank) {
    const Area given = first_part(at(from, rank), c.pairs);
    const Area taken = first_part(at(to, rank), c.pairs);
    goes_by_row(schedule, taken) ? add_alltoall_by_row(schedule, given, taken)
                                 : add_alltoall(schedule, equal_parts(given), equal_parts(taken));
  });
  const auto length = static_cast<std::ptrdiff_t>(2 * c.pairs);
  for (int r = 0; r < c.size; ++r) {
    for (int s = 0; s < c.size; ++s) {
      CHECK(std::equal(at(to, r).begin() + s * length, at(to, r).begin() + (s + 1) * length,
                       at(from, s).begin() + r * length));
    }
  }
  return sent.messages;
}

}  // namespace

TEST_CASE("an alltoall brings part r of rank s to part s of rank r") {
  for_all([](const Case& c) {
    if (c.pairs < kLong || c.size <= 8) check_alltoall(c, /*is_crowded=*/false);
  });
}

TEST_CASE("where ranks share cores short parts go by way of one rank, with two messages for each") {
  for_all([](const Case& c) {
    if (c.pairs == kLong && c.size > 8) return;
    const auto others = static_cast<unsigned>(c.size - 1);
    const auto messages = check_alltoall(c, /*is_crowded=*/true);
    const bool is_long = c.pairs * c.size * 8 > 8192;
    if (c.pairs < kLong)
      CHECK(messages == (is_long || c.size < 3 ? (others + 1) * others : 2 * others));
    auto all = room(c.size, c.pairs * c.size);
    const Sent sent =
        all_send({c.size, false, true, true}, c.seed, [&](Schedule& schedule, int rank) {
          const Area first = first_part(at(all, rank), c.pairs);
          Values own = input(rank, c.pairs);
          copy(area(own), first.part(rank * c.pairs, c.pairs));
          add_allgather_equal(schedule, first);
        });
    for (const Values& one : all) CHECK(one == joined(c.size, c.pairs));
    if (c.pairs < kLong) CHECK(sent.messages == 2 * others);
  });
}

TEST_CASE(
    "where ranks share cores an allreduce is a reduction and a broadcast, but of long values") {
  constexpr int kPairs = 2000;
  for (const int size : {5, 8, 17}) {
    auto sums = inputs(size, kPairs);
    const auto sent = all_send({size, false, true, true}, 7, [&](Schedule& schedule, int rank) {
      const Area both = area(at(sums, rank));
      add_allreduce(schedule, {kCompose.op(), both}, both);
    });
    for (const Values& one : sums) CHECK(one == expected(kCompose, {0, size - 1}, kPairs));
    CHECK(sent.messages == 2 * static_cast<unsigned>(size - 1));
  }
}

TEST_CASE("several collectives of the same ranks do not meet each other") {
  for (std::uint64_t seed = 0; seed < support::seeds(20); ++seed) {
    CAPTURE(seed);
    constexpr int kSize = 6;
    auto own = inputs(kSize, 3);
    auto sums = room(kSize, 3);
    auto scans = room(kSize, 3);
    World world(kSize, seed);
    std::vector<Ref<Schedule>> schedules;
    for (int rank = 0; rank < kSize; ++rank) {
      for (const int tag : {1, 2}) {
        schedules.emplace_back(new Schedule(world.scope(rank), tag));
        const Combining what{kCompose.op(), area(at(own, rank))};
        tag == 1 ? add_allreduce(*schedules.back(), what, area(at(sums, rank)))
                 : add_scan(*schedules.back(), what, area(at(scans, rank)), false);
        world.at(rank).start(schedules.back());
      }
    }
    world.run();
    for (int rank = 0; rank < kSize; ++rank) {
      CHECK(at(sums, rank) == expected(kCompose, {0, kSize - 1}, 3));
      CHECK(at(scans, rank) == expected(kCompose, {0, rank}, 3));
    }
  }
}

TEST_SUITE_END();

}  // namespace phx::mpi::collectives_test
