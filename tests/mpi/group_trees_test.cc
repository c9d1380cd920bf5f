#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "overlay/network/network_words.h"
#include "runtime/mpi/collectives/collectives.h"
#include "tests/mpi/world.h"
#include "tests/planners/networks.h"

namespace phx::mpi::group_trees_test {
namespace {

constexpr int kSites = 3;
constexpr int kEach = 4;
constexpr int kSize = kSites * kEach;
constexpr int kLong = 100'000;

/// Ranks take turns at the sites: rank r is at site r % 3, on a processor that is no neighbour in
/// the order of ids of those around it.
int site_of(int rank) {
  return rank % kSites;
}
std::vector<ProcessorId> processors() {
  std::vector<ProcessorId> all;
  for (int rank = 0; rank < kSize; ++rank) {
    all.push_back(
        ProcessorId{static_cast<std::uint32_t>(site_of(rank) * kEach + rank / kSites + 1)});
  }
  return all;
}
Ref<GroupTrees> trees() {
  return Ref<GroupTrees>(new GroupTrees(support::three_sites(kEach), processors()));
}

using Values = std::vector<long>;
Values input(int rank, int count) {
  Values values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = (rank + 1) * (static_cast<long>(i) % 1000 + 1);
  }
  return values;
}
Area area(Values& values) {
  return Area::of(values.data(), static_cast<MPI_Count>(values.size()), MPI_LONG);
}

struct Sent {
  std::uint64_t messages = 0;
  std::uint64_t between_sites = 0;
};

/// All ranks call it.
Sent all_call(std::uint64_t seed, const std::function<void(Schedule&, int)>& build) {
  World world(kSize, seed);
  const Ref<GroupTrees> known = trees();
  std::vector<Ref<Schedule>> schedules;
  for (int rank = 0; rank < kSize; ++rank) {
    Scope scope = world.scope(rank);
    scope.trees = known;
    schedules.emplace_back(new Schedule(scope, 5));
    build(*schedules.back(), rank);
    world.at(rank).start(schedules.back());
    static_cast<void>(world.step());
  }
  world.run();
  for (const auto& schedule : schedules) {
    REQUIRE(schedule->is_done);
    CHECK(schedule->outcome.error == MPI_SUCCESS);
  }
  Sent sent{world.messages, 0};
  for (const auto& [ends, count] : world.sent) {
    if (site_of(ends.first) != site_of(ends.second)) sent.between_sites += count;
  }
  return sent;
}

}  // namespace

TEST_SUITE_BEGIN("mpi/group_trees");

TEST_CASE("each piece of each root has a tree of all ranks, which all see alike") {
  const Ref<GroupTrees> known = trees();
  CHECK(known->is_wide());
  for (int root = 0; root < kSize; ++root) {
    for (const std::uint64_t bytes : {0U, 100U, 100'000U, 10'000'000U}) {
      for (const std::uint64_t piece : {0U, 1U, 2U}) {
        std::set<int> reached{root};
        for (int rank = 0; rank < kSize; ++rank) {
          const auto place = known->place({root, bytes}, piece, rank);
          CHECK(place.parent.has_value() == (rank != root));
          for (const int child : place.children) {
            CHECK(reached.insert(child).second);
            CHECK(known->place({root, bytes}, piece, child).parent == rank);
          }
        }
        CHECK(reached.size() == kSize);
      }
    }
  }
}

TEST_CASE("ranks of one site are not far from each other, and some of a site may be unknown") {
  auto network = support::three_sites(kEach);
  GroupTrees near(network, {ProcessorId{3}, ProcessorId{1}, ProcessorId{2}});
  CHECK_FALSE(near.is_wide());
  GroupTrees strange(network, {ProcessorId{30}, ProcessorId{1}, ProcessorId{31}, ProcessorId{9}});
  CHECK(strange.is_wide());
  int children = 0;
  for (int rank = 0; rank < 4; ++rank) {
    children += static_cast<int>(strange.place({0, 1}, 0, rank).children.size());
  }
  CHECK(children == 3);
}

TEST_CASE("a short message takes little longer than the longest way from its root") {
  const auto network = support::three_sites(kEach);
  const Ref<GroupTrees> known = trees();
  const auto all = processors();
  for (int root = 0; root < kSize; ++root) {
    std::vector<Duration> arrives(kSize);
    Duration longest{};
    std::vector<int> next{root};
    for (std::size_t i = 0; i < next.size(); ++i) {
      const auto from = static_cast<std::size_t>(next[i]);
      Duration leaves = arrives[from];
      for (const int child : known->place({root, 1}, 0, next[i]).children) {
        const auto to = static_cast<std::size_t>(child);
        leaves += 5us;
        arrives[to] = leaves + *network.way(all[from], all[to]).latency + 5us;
        longest =
            std::max(longest, *network.way(all[static_cast<std::size_t>(root)], all[to]).latency);
        next.push_back(child);
      }
    }
    REQUIRE(next.size() == kSize);
    CHECK(*std::max_element(arrives.begin(), arrives.end()) < longest + 200us);
  }
}

TEST_CASE("along the trees of each root values come to all, and sums to the root") {
  for (int root = 0; root < kSize; ++root) {
    CAPTURE(root);
    std::vector<Values> spread(kSize, Values(5));
    spread[static_cast<std::size_t>(root)] = input(root, 5);
    const Sent down = all_call(1, [&](Schedule& schedule, int rank) {
      add_broadcast(schedule, root, area(spread[static_cast<std::size_t>(rank)]));
    });
    for (const Values& one : spread) CHECK(one == input(root, 5));
    CHECK(down.messages == kSize - 1);

    std::vector<Values> own;
    for (int rank = 0; rank < kSize; ++rank) own.push_back(input(rank, 5));
    Values sum(5);
    const Sent up = all_call(2, [&](Schedule& schedule, int rank) {
      const Combining what{Ref<Op>(&op_of(MPI_SUM)), area(own[static_cast<std::size_t>(rank)])};
      add_reduce(schedule, root, what, rank == root ? area(sum) : Area());
    });
    CHECK(sum == input(kSize * (kSize + 1) / 2 - 1, 5));
    CHECK(up.messages == kSize - 1);
    for (int rank = 0; rank < kSize; ++rank) {
      CHECK(own[static_cast<std::size_t>(rank)] == input(rank, 5));
    }
  }
}

TEST_CASE(
    "a long message crosses between sites once per byte, in pieces, there and back, in place") {
  std::vector<Values> all;
  for (int rank = 0; rank < kSize; ++rank) all.push_back(input(rank, kLong));
  const Sent sent = all_call(3, [&](Schedule& schedule, int rank) {
    const Area both = area(all[static_cast<std::size_t>(rank)]);
    add_allreduce(schedule, {Ref<Op>(&op_of(MPI_SUM)), both}, both);
  });
  const Values sum = input(kSize * (kSize + 1) / 2 - 1, kLong);
  for (const Values& one : all) CHECK(one == sum);
  const std::uint64_t pieces = sent.messages / (kSize - 1);
  CHECK(sent.messages == pieces * (kSize - 1));
  CHECK(pieces > 30);
  CHECK(sent.between_sites == pieces * (kSites - 1));
}

TEST_CASE("between sites short operations of all take two long ways, and the order may count") {
  std::vector<Values> gathered(kSize, Values(2 * kSize));
  std::vector<Values> firsts;
  for (int rank = 0; rank < kSize; ++rank) firsts.push_back(input(rank, 2));
  const Sent sent = all_call(4, [&](Schedule& schedule, int rank) {
    Values& own = gathered[static_cast<std::size_t>(rank)];
    own[static_cast<std::size_t>(2 * rank)] = rank;
    add_allgather_equal(schedule, Area::of(own.data(), 2, MPI_LONG));
    add_barrier(schedule);
  });
  for (const Values& one : gathered) {
    for (int rank = 0; rank < kSize; ++rank) CHECK(one[static_cast<std::size_t>(2 * rank)] == rank);
  }
  CHECK(sent.messages == 4 * (kSize - 1));

  // The first of two: it does not commute, so the order of the ranks is kept.
  const Ref<Op> op(new Op);
  op->commutes = false;
  op->function = [](void* in, void* inout, int* count, MPI_Datatype*) {
    std::copy_n(static_cast<long*>(in), *count, static_cast<long*>(inout));
  };
  all_call(5, [&](Schedule& schedule, int rank) {
    const Area both = area(firsts[static_cast<std::size_t>(rank)]);
    add_allreduce(schedule, {op, both}, both);
  });
  for (const Values& one : firsts) CHECK(one == input(0, 2));
}

TEST_CASE("a job has trees when all are located and something is known of them") {
  JobNetwork network;
  const Group group({2, 0, 1});
  network.learn("no network");
  network.locate({ProcessorId{1}, ProcessorId{5}, ProcessorId{2}});
  CHECK_FALSE(network.trees_of(group));
  network.learn(overlay::in_words(support::three_sites(kEach)));
  REQUIRE(network.trees_of(group));
  CHECK(network.trees_of(group)->is_wide());
  CHECK_FALSE(network.trees_of(Group({2, 0})));
  network.locate({ProcessorId{1}, ProcessorId{1}, ProcessorId{2}});
  CHECK_FALSE(network.trees_of(group));
}

TEST_SUITE_END();

}  // namespace phx::mpi::group_trees_test
