#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "collectives/redistribution/schedulers.h"
#include "overlay/base/rng.h"
#include "runtime/api/redistribution_plan.h"
#include "tests/api/three_processes.h"

namespace phx::redistribution_test {
namespace {

using Numbers = std::vector<std::uint64_t>;

std::vector<std::string> schedule_names() {
  std::vector<std::string> names = {"rotation", "ranks", "predicted"};
  for (const auto& scheduler : redistribution::all_schedulers()) {
    names.emplace_back(scheduler.name);
  }
  return names;
}

constexpr Pace kPaces[] = {Pace::kNoBarrier, Pace::kBarrierSend, Pace::kBarrierSendReceive};

/// What `from` has for all others in this round: for a third of them nothing, for some what has no
/// bytes, for some more than a flow may send unasked.
std::map<Vnode, Numbers> row_of(std::uint64_t round, Vnode from, std::uint64_t vnodes) {
  std::map<Vnode, Numbers> row;
  for (Vnode to = 0; to < vnodes; ++to) {
    Rng rng(round * 1'000'003 + from * 1009 + to);
    if (rng.below(3) == 0) continue;
    const std::uint64_t bounds[] = {1, 600, 40'000};
    Numbers& numbers = row[to];
    numbers.resize(rng.below(bounds[rng.below(3)]));
    for (std::uint64_t& number : numbers) number = rng.next();
  }
  return row;
}

Sizes sizes_for(std::uint64_t round, Vnode to, std::uint64_t vnodes) {
  Sizes sizes;
  for (Vnode from = 0; from < vnodes; ++from) {
    const auto row = row_of(round, from, vnodes);
    const auto found = row.find(to);
    if (found == row.end()) continue;
    sizes[from] = static_cast<std::int64_t>(found->second.size() * sizeof(std::uint64_t));
  }
  return sizes;
}

/// Whether each vnode held has from each sender what that has for it.
bool is_exact(const Session& job, std::uint64_t round,
              const std::map<Vnode, std::map<Vnode, Numbers>>& got) {
  std::map<Vnode, std::map<Vnode, Numbers>> wanted;
  for (const Vnode to : job.held()) wanted[to];
  for (Vnode from = 0; from < job.vnodes(); ++from) {
    for (const auto& [to, numbers] : row_of(round, from, job.vnodes())) {
      if (job.holds(to)) wanted[to][from] = numbers;
    }
  }
  return got == wanted;
}

/// Four vnodes of as many processes, which send nothing yet.
std::vector<Declaration> four() {
  std::vector<Declaration> all(4);
  for (std::uint64_t v = 0; v < all.size(); ++v) {
    all[v].processor = 10 + v;
    all[v].schedule = "rotation";
  }
  return all;
}

std::string problem_of(const std::vector<Declaration>& all) {
  const RedistributionPlan plan = plan_redistribution(all);
  CHECK(plan.steps.empty());
  return plan.problem;
}

}  // namespace

TEST_SUITE_BEGIN("api/redistribution");

TEST_CASE("what the two ends of a redistribution say has to fit") {
  auto all = four();
  SUBCASE("less than nothing") {
    all[2].is_checked = true;
    all[2].expected = Sizes{{1, -8}};
    CHECK(problem_of(all) == "v2 expects -8 bytes from v1");
  }
  SUBCASE("an unknown receiver") {
    all[3].sent = {{4, 1}};
    CHECK(problem_of(all) == "v3 sends to v4: the job has 4 vnodes");
  }
  SUBCASE("an unknown sender") {
    all[3].is_checked = true;
    all[3].expected = Sizes{{9, 1}};
    CHECK(problem_of(all) == "v3 expects something from v9: the job has 4 vnodes");
  }
  SUBCASE("other sizes") {
    all[0].sent = {{1, 100}};
    all[1].is_checked = true;
    all[1].expected = Sizes{{0, 80}};
    CHECK(problem_of(all) == "v0 sends 100 bytes to v1, which expects 80");
  }
  SUBCASE("nothing expected") {
    all[0].sent = {{1, 100}};
    all[1].is_checked = true;
    all[1].expected = Sizes{};
    CHECK(problem_of(all) == "v0 sends 100 bytes to v1, which expects 0");
  }
  SUBCASE("nothing sent") {
    all[1].is_checked = true;
    all[1].expected = Sizes{{0, 80}};
    CHECK(problem_of(all) == "v0 sends 0 bytes to v1, which expects 80");
  }
  SUBCASE("two paces") {
    all[2].pace = Pace::kBarrierSend;
    CHECK(problem_of(all) == "the process of v2 asks for another schedule or pace than that of v0");
  }
  SUBCASE("an unknown schedule") {
    for (Declaration& one : all) one.schedule = "best";
    CHECK(problem_of(all).starts_with("there is no schedule 'best'; there are predicted, drc, "));
  }
  SUBCASE("more than can be counted") {
    all[0].sent = {{1, std::int64_t{1} << 60U}, {2, 1}};
    CHECK_FALSE(problem_of(all).empty());
  }
}

TEST_CASE("a plan moves what goes between processes, each byte once, and nobody twice in a step") {
  Rng rng(7);
  for (const std::string& schedule : schedule_names()) {
    CAPTURE(schedule);
    std::vector<Declaration> all(12);
    std::map<std::pair<Vnode, Vnode>, std::uint64_t> wanted;
    for (Vnode v = 0; v < all.size(); ++v) {
      all[v].processor = v % 5;
      all[v].schedule = schedule;
      for (Vnode to = 0; to < all.size(); ++to) {
        if (rng.chance(0.5)) continue;
        const std::uint64_t bytes = rng.below(100'000);
        all[v].sent[to] = static_cast<std::int64_t>(bytes);
        if (v % 5 != to % 5) wanted[{v, to}] = bytes;
      }
    }
    const RedistributionPlan plan = plan_redistribution(all);
    REQUIRE(plan.problem.empty());
    std::map<std::pair<Vnode, Vnode>, std::uint64_t> moved;
    for (const auto& step : plan.steps) {
      std::set<Vnode> senders;
      std::set<Vnode> receivers;
      for (const auto& [from, to, bytes] : step) {
        moved[{from, to}] += bytes;
        // Several vnodes of one process may have something for the same other one.
        const bool is_alone = senders.insert(from % 5).second && receivers.insert(to % 5).second;
        const bool is_order =
            std::set<std::string>{"rotation", "ranks", "predicted"}.contains(schedule);
        CHECK((is_alone || is_order));
      }
    }
    CHECK(moved == wanted);
  }
}

TEST_CASE("each byte arrives where it has to, in every order and pace, while vnodes move") {
  constexpr std::uint64_t kVnodes = 9;
  const std::vector<std::string> schedules = schedule_names();
  std::atomic<std::uint64_t> exact{0};
  std::atomic<std::uint64_t> wrong{0};
  run_on_three(kVnodes, [&](Session& job) {
    if (!wait_for_three(job)) return;
    std::uint64_t round = 0;
    for (const std::string& schedule : schedules) {
      for (const Pace pace : kPaces) {
        Redistribution how{.schedule = schedule, .pace = pace};
        ++round;
        for (const Vnode v : job.held()) {
          if (round % 2 == 0) how.expected[v] = sizes_for(round, v, kVnodes);
        }
        const auto got =
            job.redistribute([&](Vnode from) { return row_of(round, from, job.vnodes()); }, how);
        (is_exact(job, round, got) ? exact : wrong) += job.held().size();
      }
    }
  });
  CHECK(exact == kVnodes * schedules.size() * 3);
  CHECK(wrong == 0);
}

TEST_CASE("more is redistributed than any process may keep, and beside what nobody takes") {
  constexpr std::uint64_t kVnodes = 6;
  std::atomic<int> exact{0};
  ::setenv("PHOENIX_SEND_BYTES", "3000000", 1);
  ::setenv("PHOENIX_RECEIVE_BYTES", "3000000", 1);
  run_on_three(kVnodes, [&](Session& job) {
    if (!wait_for_three(job)) return;
    // Waits at its receiver all the time, and fills the first window of each flow.
    const std::string aside(100'000, 'x');
    for (const Vnode from : job.held()) job.send(from, (from + 1) % kVnodes, aside, 5);
    const auto of = [&](Vnode from) {
      std::map<Vnode, Numbers> row;
      for (Vnode to = 0; to < job.vnodes(); ++to) row[to] = Numbers(150'000, from * 100 + to);
      return row;
    };
    for (const Pace pace : kPaces) {
      const auto got = job.redistribute(of, {.schedule = "drc-exact", .pace = pace});
      for (const auto& [to, column] : got) {
        for (const auto& [from, numbers] : column) exact += numbers == of(from)[to] ? 1 : 0;
      }
    }
    for (const Vnode v : job.held()) {
      exact += job.recv<std::string>({.at = v, .tag = 5}) == aside ? 1 : 0;
    }
  });
  ::unsetenv("PHOENIX_SEND_BYTES");
  ::unsetenv("PHOENIX_RECEIVE_BYTES");
  CHECK(exact == 3 * 36 + 6);
}

TEST_CASE("what is redistributed comes, also behind more of the same flow than there is room for") {
  constexpr std::uint64_t kVnodes = 6;
  constexpr int kAside = 60;
  std::atomic<int> exact{0};
  ::setenv("PHOENIX_RECEIVE_BYTES", "3000000", 1);
  run_on_three(kVnodes, [&](Session& job) {
    if (!wait_for_three(job)) return;
    const std::string aside(100'000, 'x');
    for (int i = 0; i < kAside && job.holds(0); ++i) job.send(0, 5, aside, 5);
    const auto got = job.redistribute([&](Vnode from) {
      return from == 0 ? std::map<Vnode, Numbers>{{5, Numbers(10)}} : std::map<Vnode, Numbers>();
    });
    if (job.holds(5)) exact += got.at(5).at(0) == Numbers(10) ? 1 : 0;
    for (int i = 0; i < kAside && job.holds(5); ++i) {
      exact += job.recv<std::string>({.at = 5, .tag = 5}) == aside ? 1 : 0;
    }
  });
  ::unsetenv("PHOENIX_RECEIVE_BYTES");
  CHECK(exact == 1 + kAside);
}

TEST_CASE("what does not fit is refused at every process, and the next redistribution works") {
  constexpr std::uint64_t kVnodes = 6;
  std::mutex mutex;
  std::map<std::string, int> refusals;
  std::atomic<std::uint64_t> exact{0};
  run_on_three(kVnodes, [&](Session& job) {
    if (!wait_for_three(job)) return;
    const auto refuse = [&](const Parcels& sent, const Redistribution& how) {
      try {
        static_cast<void>(job.redistribute_bytes(sent, how));
      } catch (const Failure& failure) {
        const std::lock_guard lock(mutex);
        if (failure.code() == ErrorCode::kBadInput) ++refusals[failure.what()];
      }
    };
    const Payload eight = encode(std::uint64_t{8});
    Parcels sent;
    if (job.holds(1)) sent[1][5] = eight;
    Redistribution how;
    if (job.holds(5)) how.expected[5] = {{1, 9}};
    refuse(sent, how);
    if (job.holds(5)) how.expected[5] = {{1, -8}};
    refuse(sent, how);
    how.expected.clear();
    if (job.holds(1)) sent[1][6] = eight;
    refuse(sent, how);
    const bool is_stranger = job.holds(0);
    sent = {};
    if (is_stranger) sent[99][0] = eight;
    refuse(sent, how);
    const auto got = job.redistribute([&](Vnode v) { return row_of(1, v, job.vnodes()); });
    if (is_exact(job, 1, got)) exact += job.held().size();
  });
  CHECK(exact == kVnodes);
  REQUIRE(refusals.size() == 4);
  for (const auto& refusal : refusals) CHECK_MESSAGE(refusal.second == 3, refusal.first);
  CHECK(refusals.contains("redistribute: v1 sends 8 bytes to v5, which expects 9"));
  CHECK(refusals.contains("redistribute: v5 expects -8 bytes from v1"));
  CHECK(refusals.contains("redistribute: v1 sends to v6: the job has 6 vnodes"));
}

TEST_SUITE_END();

}  // namespace phx::redistribution_test
