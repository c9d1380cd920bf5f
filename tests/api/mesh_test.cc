#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/api/phoenix.h"
#include "runtime/tcp/key.h"

namespace phx::mesh_test {
namespace {

/// A key file for one test.
class KeyFile {
 public:
  KeyFile()
      : path_(std::filesystem::temp_directory_path() /
              ("phoenix-api-test-" + std::to_string(::getpid()))) {
    std::filesystem::remove(path_);
    REQUIRE(tcp::create_key(path_).ok());
  }
  ~KeyFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What a vnode carries along.
struct Walker {
  std::uint64_t step = 0;
  std::uint64_t heard = 0;   ///< Sum of all that came.
  std::uint64_t spread = 0;  ///< Steps in which several processes held vnodes.
  void state(auto& io) { io(step, heard, spread); }
};

/// Every attempt to go fails once, and every attempt to come.
struct Shy {
  std::vector<char> steps;  ///< One for each.
  int attempts = 0;
  void state(auto& io) {
    if (++attempts % 2 == 1) throw attempts;
    io(steps);
  }
};

/// Writes one member more than it reads.
struct Forgetful {
  std::uint64_t kept = 0;
  std::uint64_t forgotten = 0;
  void state(Writer& io) { io(kept, forgotten); }
  void state(Reader& io) { io(kept); }
};

/// Reads one member more than it writes.
struct Greedy {
  std::uint64_t kept = 0;
  std::uint64_t more = 0;
  void state(Writer& io) { io(kept); }
  void state(Reader& io) { io(kept, more); }
};

/// What is said where a vnode with such a state arrives.
template <class T>
std::string refusal_of_state() {
  const KeyFile key;
  Session first({.key_file = key.path(), .vnodes = 1, .timeout = 60s});
  Objects<T> here(first);
  REQUIRE(first.local_safe_point());
  Session second({.join = first.endpoints().front(), .key_file = key.path(), .timeout = 60s});
  Objects<T> there(second);
  first.release({0});
  CHECK_FALSE(first.next(0s).has_value());
  for (int attempts = 0; attempts < 1000 && second.held().empty(); ++attempts) {
    second.assume({0});
    try {
      static_cast<void>(second.local_safe_point());
    } catch (const Failure& failure) {
      // The daemon next door may be asked before it has read that the vnode is free.
      if (failure.code() != ErrorCode::kDenied) return failure.what();
      std::this_thread::sleep_for(1ms);
    }
  }
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("api/mesh");

TEST_CASE("a program in step goes on while processes join, and every vnode has seen every step") {
  constexpr std::uint64_t kVnodes = 12;
  constexpr std::uint64_t kSteps = 200;
  const KeyFile key;
  std::atomic<std::uint64_t> arrived_later{0};
  std::atomic<std::uint64_t> finished{0};
  const auto program = [&](Session& job) {
    Objects<Walker> walkers(job);
    while (job.safe_point()) {
      for (auto& [v, walker] : walkers) {
        if (walker.step == 0 && walker.heard > 0)
          throw Failure(ErrorCode::kBadInput, "state without steps");
        job.send(v, (v + 1) % kVnodes, walker.step);
      }
      for (auto& [v, walker] : walkers) {
        const auto step = job.recv<std::uint64_t>({.at = v});
        if (step != walker.step) {
          throw Failure(ErrorCode::kBadInput, "a message of another step");
        }
        walker.heard += step;
        ++walker.step;
      }
      const auto total = job.allreduce(sum, [&](Vnode v) { return walkers[v].step; });
      const std::uint64_t step = walkers.begin()->second.step;
      const std::uint32_t here = job.processor().value;
      const bool is_spread = job.allreduce(min, here) != job.allreduce(max, here);
      for (auto& [v, walker] : walkers) walker.spread += is_spread ? 1 : 0;
      if (total != kVnodes * step)
        throw Failure(ErrorCode::kBadInput, "a vnode was counted twice or never");
      if (walkers.begin()->second.spread == kSteps) break;
    }
    for (auto& [v, walker] : walkers) {
      if (walker.heard == walker.step * (walker.step - 1) / 2) ++finished;
    }
  };
  Session first({.key_file = key.path(), .vnodes = kVnodes, .timeout = 60s});
  const std::string where = first.endpoints().front();
  const auto join = [&] {
    try {
      Session job({.join = where, .key_file = key.path(), .timeout = 60s});
      program(job);
      arrived_later += job.held().size();
    } catch (const Failure& failure) {
      MESSAGE(std::string(failure.what()));
    }
  };

  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i) others.emplace_back(join);
  program(first);
  first.finish();
  for (std::thread& other : others) other.join();

  CHECK(finished == kVnodes);
  CHECK(arrived_later > 0);
}

TEST_CASE("a program in step may repeat a safe point that a callback has interrupted") {
  constexpr std::uint64_t kVnodes = 6;
  const KeyFile key;
  std::atomic<std::uint64_t> moved{0};
  std::atomic<std::uint64_t> interrupted{0};
  std::atomic<bool> has_begun{false};
  const auto program = [&](Session& job) {
    Objects<Shy> vnodes(job);
    const auto pass = [&] {
      while (true) {
        try {
          return job.safe_point();
        } catch (int) {
          ++interrupted;
        }
      }
    };
    while (pass()) {
      has_begun = true;
      has_begun.notify_all();
      for (auto& [v, vnode] : vnodes) vnode.steps.push_back(0);
      const auto step = vnodes.begin()->second.steps.size();
      const auto step_of = [&](Vnode v) { return vnodes[v].steps.size(); };
      if (job.allreduce(min, step_of) != step || job.allreduce(max, step_of) != step) {
        throw Failure(ErrorCode::kBadInput, "a vnode is at another step");
      }
      const std::uint32_t here = job.processor().value;
      if (job.allreduce(min, here) != job.allreduce(max, here)) break;
    }
    moved += vnodes.size();
  };
  Session first({.key_file = key.path(), .vnodes = kVnodes, .timeout = 60s});

  std::thread other([&] {
    has_begun.wait(false);  // so that vnodes have to move
    Session job({.join = first.endpoints().front(), .key_file = key.path(), .timeout = 60s});
    program(job);
  });
  program(first);
  first.finish();
  other.join();

  CHECK(moved == kVnodes);
  CHECK(interrupted >= 2);  // by one that went, and when it came
}

TEST_CASE("a refusal that comes during a gathering is reported there, and may be repeated") {
  constexpr std::uint64_t kVnodes = 4;
  constexpr int kDuringGathering = 3;
  const KeyFile key;
  std::atomic<int> refusals{0};
  std::atomic<std::int64_t> released{-1};
  const auto program = [&](Session& job, bool gives) {
    // What is given up is not out before its gathering has seen some refusals.
    job.add_state({[&](Vnode v) {
                     const auto until = std::chrono::steady_clock::now() + 20s;
                     const bool is_late = gives && released == static_cast<std::int64_t>(v);
                     for (const int before = refusals; is_late &&
                                                       refusals < before + kDuringGathering &&
                                                       std::chrono::steady_clock::now() < until;) {
                       std::this_thread::sleep_for(1ms);
                     }
                     return Payload();
                   },
                   [](Vnode, const std::optional<Payload>&) {}});
    const auto pass = [&] {
      while (true) {
        try {
          return job.safe_point();
        } catch (const Failure& refusal) {
          if (refusal.code() != ErrorCode::kDenied) throw;
          ++refusals;
          job.assume(refusal.vnodes());
        }
      }
    };
    bool has_asked = false;
    while (pass()) {
      const bool is_shared = job.allreduce(max, job.held().size()) < kVnodes;
      const bool is_taken = job.allreduce(max, job.held().size()) > kVnodes / 2;
      if (is_shared && is_taken && released >= 0) break;
      if (!is_shared || is_taken) continue;
      if (gives && released < 0) {
        released = static_cast<std::int64_t>(job.held().back());
        job.release({job.held().back()});
      }
      const bool asks = !gives && released >= 0 && !std::exchange(has_asked, true);
      if (asks) job.assume({static_cast<Vnode>(released.load())});
    }
  };
  Session first({.key_file = key.path(), .vnodes = kVnodes, .timeout = 30s});
  std::thread other([&] {
    try {
      Session job({.join = first.endpoints().front(), .key_file = key.path(), .timeout = 30s});
      program(job, true);
    } catch (const Failure& failure) {
      MESSAGE(std::string(failure.what()));
    }
  });

  CHECK_NOTHROW(program(first, false));
  first.finish();
  other.join();
  CHECK(refusals >= kDuringGathering);
}

TEST_CASE("a message-driven program loses nothing while its vnodes spread over processes") {
  constexpr std::uint64_t kVnodes = 16;
  constexpr std::uint64_t kHops = 300;  // and more, until every process takes part
  constexpr int kProcesses = 3;
  enum : Tag { kToken, kHome };
  const KeyFile key;
  std::atomic<std::uint64_t> home{0};
  std::atomic<int> processes{0};
  const auto program = [&](Session& job) {
    // Every vnode starts a token on its first arrival, and counts the tokens that pass.
    Objects<Walker> walkers(job, [&](Vnode v) {
      job.send(v, (v + 1) % kVnodes, kHops, kToken);
      return Walker{};
    });
    bool takes_part = false;
    job.run([&](Message& message) {
      if (!std::exchange(takes_part, true)) ++processes;
      if (message.kind == Kind::kBroadcast) return job.stop();
      const auto left = message.as<std::uint64_t>();
      walkers[message.to].heard += 1;
      if (message.tag == kHome) {
        if (++home == kVnodes) job.cast(message.to, true);
      } else if (left == 0 && processes == kProcesses) {
        job.send(message.to, 0, left, kHome);
      } else {
        const std::uint64_t next = left == 0 ? 0 : left - 1;
        job.send(message.to, (message.to * 5 + left + 1) % kVnodes, next, kToken);
      }
    });
  };
  Session first({.key_file = key.path(), .vnodes = kVnodes, .timeout = 60s});
  std::deque<Session> joined;  // before the work begins, so that there is some left for them
  for (int i = 1; i < kProcesses; ++i) {
    joined.emplace_back(
        Options{.join = first.endpoints().front(), .key_file = key.path(), .timeout = 60s});
  }

  std::vector<std::thread> others;
  for (Session& job : joined) {
    others.emplace_back([&] {
      program(job);
      job.finish();
    });
  }
  program(first);
  first.finish();
  for (std::thread& other : others) other.join();

  CHECK(home == kVnodes);
  CHECK(processes == kProcesses);
}

TEST_CASE("a state that reads less than it wrote, or more, is told where it arrives") {
  CHECK(refusal_of_state<Forgetful>() ==
        "the state of v0 has 8 bytes more than its state() reads: that must name the same members "
        "for a Writer and for a Reader");
  CHECK(refusal_of_state<Greedy>() ==
        "the state of v0 is not what its state() reads (the bytes end before the value does): that "
        "must name the same members for a Writer and for a Reader");
}

TEST_CASE(
    "what one process releases another may assume, and before that it is refused and told why") {
  const KeyFile key;
  Session first({.key_file = key.path(), .vnodes = 1, .timeout = 60s});
  Objects<Walker> here(first);
  REQUIRE(first.local_safe_point());
  here[0].heard = 7;
  Session second({.join = first.endpoints().front(), .key_file = key.path(), .timeout = 60s});
  Objects<Walker> there(second);
  const auto expect_refusal = [&](const auto& call) {
    second.assume({0});
    try {
      call();
      FAIL("not refused");
    } catch (const Failure& refusal) {
      CHECK(std::string(refusal.what()) ==
            "assume: v0 refused, held by p1; ask again after their release");
      CHECK(refusal.code() == ErrorCode::kDenied);
      CHECK(refusal.vnodes() == std::vector<Vnode>{0});
      CHECK(refusal.processor() == second.processor());
    }
  };

  expect_refusal([&] { static_cast<void>(second.local_safe_point()); });
  expect_refusal([&] { static_cast<void>(second.next()); });
  expect_refusal([&] { static_cast<void>(second.safe_point()); });
  CHECK_THROWS_WITH_AS(second.assume({0, 1}), "assume: there is no v1: the job has 1 vnodes",
                       Failure);
  CHECK_THROWS_WITH_AS(second.release({0}),
                       "release: v0 is not held by this process, which holds nothing", Failure);
  first.release({0});
  CHECK(first.holds(0));  // until its safe point
  CHECK_FALSE(first.next(0s).has_value());
  CHECK(first.held().empty());
  // The daemon next door may be asked before it has read that the vnode is free.
  bool is_here = false;
  for (int attempts = 0; attempts < 1000 && !is_here; ++attempts) {
    second.assume({0});
    try {
      is_here = second.local_safe_point();
    } catch (const Failure& refusal) {
      REQUIRE(refusal.code() == ErrorCode::kDenied);
    }
  }

  REQUIRE(is_here);
  CHECK(there[0].heard == 7);
  CHECK_THROWS_AS(static_cast<void>(here[0]), Failure);
}

TEST_CASE("who joins when the job is over does not begin another one") {
  const KeyFile key;
  Session first({.key_file = key.path(), .vnodes = 2, .timeout = 60s});
  REQUIRE(first.local_safe_point());
  const std::string where = first.endpoints().front();
  first.finish();

  try {
    const Session late({.join = where, .key_file = key.path(), .timeout = 60s});
    FAIL("has joined");
  } catch (const Failure& failure) {
    const std::string what = failure.what();
    CHECK(failure.code() == ErrorCode::kDenied);
    CHECK(what.ends_with("the job at " + where + " is over, or has not begun"));
  }
}

TEST_CASE("an abort ends the job elsewhere, and with as much of the reason as fits") {
  const KeyFile key;
  Session first({.key_file = key.path(), .vnodes = 2, .timeout = 60s});
  Session second({.join = first.endpoints().front(), .key_file = key.path(), .timeout = 60s});

  first.abort(0, std::string(1'000'000, 'x'));

  try {
    static_cast<void>(second.recv());
    FAIL("goes on");
  } catch (const Failure& failure) {
    const std::string what = failure.what();
    CHECK(failure.code() == ErrorCode::kAborted);
    CHECK(what.find("asked for the end: xxx") != std::string::npos);
    CHECK(what.ends_with("x ..."));
    CHECK(what.size() < 5000);
  }
  CHECK_THROWS_AS(static_cast<void>(second.next()), Failure);
  CHECK_FALSE(second.over());  // That would be a good end.

  // Else this process would end with 1, as one ends whose session was aborted.
  const Session another({.vnodes = 1, .timeout = 60s});
}

TEST_CASE("a vnode leaves in the middle of messages whose sender has stopped, after a while") {
  const KeyFile key;
  constexpr std::size_t kShare = 3;
  Session first({.key_file = key.path(), .vnodes = 2 * kShare, .timeout = 60s});
  const auto join = [&] {
    return Session({.join = first.endpoints().front(), .key_file = key.path(), .timeout = 60s});
  };
  std::thread second([&] {
    Session job = join();
    while (job.held().size() != kShare) static_cast<void>(job.local_safe_point());
    const auto take_all = [&] {
      while (job.next()) {
      }
    };
    CHECK_THROWS_AS(take_all(), Failure);  // That it is over, and not that nothing comes.
  });
  while (first.held().size() != kShare) static_cast<void>(first.local_safe_point());
  const std::string part(std::size_t{8} << 20U, 'x');  // Of this only the first piece leaves.
  const auto held = first.held();
  for (Vnode to = 0; to < 2 * kShare; ++to) {
    const bool is_here = std::find(held.begin(), held.end(), to) != held.end();
    for (const Vnode from : held) {
      if (!is_here) first.send(from, to, part);
    }
  }
  std::this_thread::sleep_for(300ms);  // Has all that can come; from now on it does nothing.

  Session third = join();
  CHECK(third.local_safe_point());
  CHECK_FALSE(third.held().empty());

  third.abort(1, "seen");
  second.join();
  // Else this process would end with 1, as one ends whose session was aborted.
  const Session another({.vnodes = 1, .timeout = 60s});
}

TEST_CASE("the end of a burst leaves although its sender only computes") {
  constexpr int kRounds = 15;
  constexpr int kTrips = 300;
  constexpr int kBurst = 5;
  constexpr auto kComputes = 40ms;  // acknowledgements are sent meanwhile, and take it along
  using Steady = std::chrono::steady_clock;
  const KeyFile key;
  std::atomic<Steady::time_point> sent;
  std::vector<Steady::duration> took;  // of vnode 1 alone
  const auto round = [&](Session& job, Vnode self) {
    for (int trip = 0; trip < kTrips; ++trip) {  // so that nobody else drives the daemon
      if (self == 0) job.send(0, 1, trip);
      CHECK(job.recv<int>({.at = self}) == trip);
      if (self == 1) job.send(1, 0, trip);
    }
    if (self == 0) {
      sent = Steady::now();
      for (int i = 0; i < kBurst; ++i) job.send(0, 1, i);
      std::this_thread::sleep_for(kComputes);
    } else {
      for (int i = 0; i < kBurst; ++i) CHECK(job.recv<int>({.at = 1}) == i);
      took.push_back(Steady::now() - sent.load());
    }
  };
  const auto program = [&](Session& job) {
    while (job.safe_point() && job.held().size() != 1) std::this_thread::sleep_for(2ms);
    for (int i = 0; i < kRounds; ++i) round(job, job.held().at(0));
  };
  Session first({.key_file = key.path(), .vnodes = 2, .timeout = 30s});
  std::thread other([&] {
    Session job({.join = first.endpoints().front(), .key_file = key.path(), .timeout = 30s});
    CHECK_NOTHROW(program(job));
  });

  CHECK_NOTHROW(program(first));
  first.finish();
  other.join();

  std::sort(took.begin(), took.end());
  REQUIRE(took.size() == kRounds);
  CHECK(took[kRounds / 2] < 16ms);  // An acknowledgement that is put off takes 20 or 40.
}

TEST_SUITE_END();

}  // namespace phx::mesh_test
