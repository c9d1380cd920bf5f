#include "runtime/api/steps.h"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/api/phoenix.h"

namespace phx::steps_test {
namespace {

/// One of the states of every vnode. `trouble` makes callbacks throw.
struct Ledger {
  explicit Ledger(Session& job, std::string its_name) : name(std::move(its_name)) {
    job.add_state({[this](Vnode v) {
                     trouble("depart");
                     const std::string state = name + std::to_string(v);
                     calls.push_back("-" + state);
                     return Payload::copy_of(state);
                   },
                   [this](Vnode v, const std::optional<Payload>& state) {
                     trouble("arrive");
                     calls.push_back("+" + name + std::to_string(v));
                     states[v] = state ? std::string(state->text()) : "new";
                   }});
  }
  void trouble(const std::string& call) {
    if (throws_in > 0 && --throws_in == 0) throw call;
  }

  std::string name;
  int throws_in = 0;  ///< In the how manieth call from now; 0: not at all.
  std::vector<std::string> calls;
  std::map<Vnode, std::string> states;
};

}  // namespace

TEST_SUITE_BEGIN("api/steps");

TEST_CASE("in a program in step what is released and nobody takes comes back, each time") {
  Session job({.vnodes = 3, .timeout = 60s});
  Ledger states(job, "a");
  REQUIRE(job.safe_point());
  for (int round = 0; round < 2; ++round) {
    job.release({1});
    // Whether vnodes are to move is voted on now and then.
    for (const std::size_t calls = states.calls.size(); states.calls.size() == calls;) {
      REQUIRE(job.safe_point());
    }
    CHECK(states.calls.back() == "+a1");
    CHECK(states.states[1] == "a1");
    CHECK(job.held() == std::vector<Vnode>{0, 1, 2});
  }
  REQUIRE(job.safe_point());  // Nothing is refused that the program has not asked for.
}

TEST_CASE("a callback that throws is called again by the next safe point, the others are not") {
  Session job({.vnodes = 3, .timeout = 20s});
  Ledger a(job, "a");
  Ledger b(job, "b");
  using Calls = std::vector<std::string>;

  b.throws_in = 2;
  CHECK_THROWS_AS(static_cast<void>(job.local_safe_point()), std::string);
  a.throws_in = 1;
  CHECK_THROWS_AS(static_cast<void>(job.local_safe_point()), std::string);
  REQUIRE(job.local_safe_point());
  CHECK(a.calls == Calls{"+a0", "+a1", "+a2"});
  CHECK(b.calls == Calls{"+b0", "+b1", "+b2"});
  a.calls.clear();
  b.calls.clear();

  job.send(0, 1, 42);
  job.release({0, 1, 2});
  b.throws_in = 2;
  CHECK_THROWS_AS(static_cast<void>(job.next(0s)), std::string);
  CHECK(job.held().size() == 3);
  a.throws_in = 1;
  CHECK_THROWS_AS(static_cast<void>(job.next(0s)), std::string);
  CHECK_FALSE(job.next(0s).has_value());
  CHECK(job.held().empty());
  CHECK(a.calls == Calls{"-a0", "-a1", "-a2"});
  CHECK(b.calls == Calls{"-b0", "-b1", "-b2"});

  job.assume({0, 1, 2});
  b.throws_in = 3;
  CHECK_THROWS_AS(static_cast<void>(job.local_safe_point()), std::string);
  REQUIRE(job.local_safe_point());
  CHECK(a.states == std::map<Vnode, std::string>{{0, "a0"}, {1, "a1"}, {2, "a2"}});
  CHECK(b.states == std::map<Vnode, std::string>{{0, "b0"}, {1, "b1"}, {2, "b2"}});
  CHECK(job.recv<int>({.at = 1}) == 42);
}

TEST_CASE("a gathering that a callback has interrupted counts every vnode once") {
  Session job({.vnodes = 2, .timeout = 20s});
  Ledger ledger(job, "s");
  REQUIRE(job.safe_point());
  job.release({1});
  ledger.throws_in = 2;  // v1 leaves, and throws when it comes back in the same gathering
  std::thread taking([&] {
    while (job.holds(1)) std::this_thread::yield();
    job.assume({1});
  });

  bool is_interrupted = false;
  while (!is_interrupted) {
    try {
      REQUIRE(job.safe_point());
    } catch (const std::string&) {
      is_interrupted = true;
    }
  }
  taking.join();

  CHECK(job.safe_point());
  CHECK(ledger.states.at(1) == "s1");
  job.barrier();
}

TEST_SUITE_END();

}  // namespace phx::steps_test
