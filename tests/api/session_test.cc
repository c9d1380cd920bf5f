#include "runtime/api/session.h"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <thread>

#include "runtime/api/objects.h"

namespace phx::session_test {
namespace {

/// A job of one process with its daemon inside, at its first safe point.
struct Alone {
  explicit Alone(std::uint64_t vnodes, Duration timeout = 20s)
      : job({.vnodes = vnodes, .timeout = timeout}) {
    REQUIRE(job.safe_point());
  }
  Session job;
};

}  // namespace

TEST_SUITE_BEGIN("api/session");

TEST_CASE("a process without a daemon carries one inside and holds the whole job") {
  Alone alone(5);

  CHECK(alone.job.vnodes() == 5);
  CHECK(alone.job.held() == std::vector<Vnode>{0, 1, 2, 3, 4});
  CHECK(alone.job.holds(4));
  CHECK_FALSE(alone.job.over());
}

TEST_CASE("a rank that mpirun has started has no session unless it says of what") {
  ::setenv("PHOENIX_MPI_SIZE", "4", 1);
  CHECK_THROWS_WITH_AS(Session(),
                       doctest::Contains("start one that has a Session by `phoenix run`"), Failure);
  CHECK(Session({.vnodes = 3}).vnodes() == 3);
  ::setenv("PHOENIX_MPI_SIZE", "1", 1);
  CHECK(Session().vnodes() == 1);
  ::unsetenv("PHOENIX_MPI_SIZE");
}

TEST_CASE("messages are typed, tagged and ordered") {
  Alone alone(3);
  alone.job.send(0, 2, std::vector<double>{1, 2, 3}, 7);
  alone.job.send(1, 2, std::string("hello"), 8);
  alone.job.send(0, 2, 42, 7);

  CHECK(alone.job.recv<std::string>({.at = 2, .tag = 8}) == "hello");
  CHECK(alone.job.recv<std::vector<double>>({.from = 0}).size() == 3);
  const Message last = alone.job.recv();
  CHECK(last.to == 2);
  CHECK(last.from == 0);
  CHECK(last.tag == 7);
  CHECK(last.as<int>() == 42);
  CHECK_FALSE(alone.job.try_recv().has_value());
}

TEST_CASE("a time-out says what was waited for, and what is there instead") {
  Alone alone(4);
  alone.job.send(0, 3, 1, 5);
  alone.job.send(1, 3, 1, 6);

  try {
    static_cast<void>(alone.job.recv({.at = 3, .tag = 7, .timeout = 20ms}));
    FAIL("did not throw");
  } catch (const Failure& failure) {
    CHECK(std::string(failure.what()) ==
          "recv by v3 of tag 7 from any vnode: nothing for 20 ms; 2 messages with other tags are "
          "waiting");
    CHECK(failure.code() == ErrorCode::kTimeout);
    CHECK(failure.vnode() == std::uint64_t{3});
    CHECK(failure.operation() == "recv");
  }
}

TEST_CASE("who waits for a reduction in vain hears which vnode has not contributed") {
  Alone alone(2);
  static_cast<void>(alone.job.contribute(1, 0, sum, 5, false));
  std::string said;
  while (said.find("lacks") == std::string::npos) {
    try {
      static_cast<void>(alone.job.recv({.at = 0, .kind = Kind::kReduced, .timeout = 20ms}));
    } catch (const Failure& failure) {
      said = failure.what();
    }
  }
  CHECK(said ==
        "recv of the result of a reduction by v0 from any vnode: nothing for 20 ms; no other "
        "message is waiting; a reduction to v0 lacks v0");
}

TEST_CASE("a recv of the wrong kind is told that a broadcast is waiting, or a message") {
  Alone alone(2);
  Session& job = alone.job;
  const auto says = [&](const Wanted& wanted, const std::string& what) {
    CHECK_THROWS_WITH_AS(static_cast<void>(job.recv(wanted)), what.c_str(), Failure);
  };
  job.cast(0, 1, 7);
  job.send(0, 1, 1, 8);

  says({.at = 1, .tag = 7, .timeout = 20ms},
       "recv by v1 of tag 7 from any vnode: nothing for 20 ms; a broadcast with this tag is "
       "waiting: .kind = phx::Kind::kBroadcast gets it");
  says({.at = 0, .timeout = 20ms},
       "recv by v0 from any vnode: nothing for 20 ms; a broadcast is waiting: .kind = "
       "phx::Kind::kBroadcast gets it");
  says({.at = 1, .tag = 8, .kind = Kind::kBroadcast, .timeout = 20ms},
       "recv by v1 of tag 8 from any vnode: nothing for 20 ms; a message with this tag is waiting "
       "that is no broadcast: leave .kind out to get it");
}

TEST_CASE("what one thread reads wakes the thread that waits for it") {
  Alone alone(2, kForever);
  std::thread waiting([&] { CHECK(alone.job.recv<int>({.at = 1, .tag = 1}) == 5); });

  // Each of these reads what has come in, and some of it is for the other thread.
  for (int i = 0; i < 200; ++i) CHECK_FALSE(alone.job.try_recv({.tag = 2}).has_value());
  alone.job.cast(0, 3, 2);
  alone.job.send(0, 1, 5, 1);
  for (int i = 0; i < 200; ++i) {
    static_cast<void>(alone.job.try_recv({.tag = 2, .kind = Kind::kBroadcast}));
  }

  waiting.join();
}

TEST_CASE("wrong use is told at once") {
  Alone alone(2);

  CHECK_THROWS_WITH_AS(alone.job.send(0, 2, 1), "send: there is no v2: the job has 2 vnodes",
                       Failure);
  CHECK_THROWS_WITH_AS(static_cast<void>(alone.job.recv({.at = 9})),
                       "recv: v9 is not held by this process, which holds 0-1", Failure);
  CHECK_THROWS_AS(Session({.join = "127.0.0.1:1"}), Failure);
  CHECK_THROWS_AS(Session({.socket = "/nowhere/phoenix.sock"}), Failure);
}

TEST_CASE("what can never be is refused, instead of waited for") {
  Alone alone(2);
  Session& job = alone.job;
  constexpr Vnode kFar = Vnode{1} << 40U;

  CHECK_THROWS_WITH_AS(static_cast<void>(job.recv({.from = 2})),
                       "recv: there is no v2: the job has 2 vnodes", Failure);
  CHECK_THROWS_WITH_AS(static_cast<void>(job.try_recv({.at = 2})),
                       "try_recv: v2 is not held by this process, which holds 0-1", Failure);
  CHECK_THROWS_AS(job.send(0, kFar, 1), Failure);
  CHECK_THROWS_AS(job.cast(kFar, 1), Failure);
  CHECK_THROWS_AS(static_cast<void>(job.broadcast(kFar, [] { return 1; })), Failure);
  CHECK_THROWS_AS(static_cast<void>(job.reduce(kFar, sum, 1)), Failure);
  CHECK_THROWS_AS(job.assume({kFar}), Failure);
  CHECK_THROWS_AS(job.release({kFar}), Failure);
  CHECK_THROWS_WITH_AS(job.cast(0, 1, 0xffffffff),
                       "cast: the highest tag is taken: collectives use it", Failure);
  CHECK_THROWS_WITH_AS(job.send(0, 1, 1, 0xffffffff),
                       "send: the highest tag is taken: collectives use it", Failure);
  CHECK_THROWS_AS(job.contribute(0, 1, collectives::ReduceOp::kUser, 1, true), Failure);
  CHECK_THROWS_AS(job.contribute(0, 2, sum, 1, true), Failure);
  CHECK_THROWS_WITH_AS(Session({.vnodes = (Vnode{1} << 24U) + 1}),
                       "16777217 vnodes: a job has 16777216 at most", Failure);
  CHECK(job.allreduce(sum, 1) == 2);  // nothing of this did harm
}

TEST_CASE("a program in step does not receive the votes of the library") {
  Alone alone(3, 60s);
  const Wanted anything{.kind = {}, .timeout = 30ms};
  const Wanted result{.kind = Kind::kAllreduced, .timeout = 30ms};

  for (int step = 0; step < 10; ++step) {
    REQUIRE(alone.job.safe_point());
    CHECK_THROWS_AS(static_cast<void>(alone.job.recv(step % 2 == 0 ? anything : result)), Failure);
  }
  for (const Vnode v : alone.job.held()) {
    static_cast<void>(alone.job.contribute(v, 0, sum, 1, true));
  }
  REQUIRE(alone.job.safe_point());

  for (int v = 0; v < 3; ++v) CHECK(alone.job.recv({.kind = Kind::kAllreduced}).as<int>() == 3);
}

TEST_CASE("a state too large to move is a failure at the safe point, and ends the job") {
  constexpr std::size_t kBytes = (std::size_t{64} << 30U) + 1;
  Session job({.vnodes = 2, .timeout = 20s});
  // Never touched, so it occupies nothing.
  void* mapped =
      ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(mapped != MAP_FAILED);
  const std::shared_ptr<std::byte[]> room(static_cast<std::byte*>(mapped),
                                          [](std::byte* bytes) { ::munmap(bytes, kBytes); });
  job.add_state({[&](Vnode) {
                   return Payload(room, {room.get(), kBytes});
                 },
                 [](Vnode, const std::optional<Payload>&) {}});
  REQUIRE(job.local_safe_point());
  job.release({1});

  CHECK_THROWS_WITH_AS(static_cast<void>(job.local_safe_point()),
                       "safe point: the state of v1 has 65537 MiB, and at most 65536 MiB can move; "
                       "cut the work into more vnodes",
                       Failure);
  CHECK_THROWS_AS(static_cast<void>(job.recv()), Failure);
}

TEST_CASE("broadcasts reach every vnode, called for by all or sent by one") {
  Alone alone(3);
  const std::vector<int> table(100'000, 7);

  CHECK(alone.job.broadcast(1, [&] { return table; }) == table);
  alone.job.cast(2, std::string("news"), 4);

  for (const Vnode v : alone.job.held()) {
    CHECK(alone.job.recv<std::string>({.at = v, .kind = Kind::kBroadcast}) == "news");
  }
}

TEST_CASE("reductions combine what every vnode gives") {
  Alone alone(4);
  Session& job = alone.job;

  CHECK(job.allreduce(sum, [](Vnode v) { return v; }) == 6);
  CHECK(job.allreduce(max, [](Vnode v) { return 1.5 * static_cast<double>(v); }) == 4.5);
  CHECK(job.allreduce(sum, 1) == 4);
  CHECK(job.reduce(3, product, [](Vnode v) { return v + 1; }) == std::optional<Vnode>(24));
  std::vector<std::int32_t> ramp(200'000);
  std::iota(ramp.begin(), ramp.end(), 0);
  const auto total = job.allreduce(sum, ramp);
  CHECK(total.size() == ramp.size());
  CHECK(total[199'999] == 4 * 199'999);
  job.barrier();
}

TEST_CASE("operators of the application combine truth values") {
  Alone alone(4);
  Session& job = alone.job;
  const auto either = [](bool a, bool b) { return a || b; };
  const auto is_two = [](Vnode v) { return v == 2; };

  CHECK(job.allreduce(either, is_two));
  CHECK_FALSE(job.allreduce(either, false));
  CHECK(job.reduce(1, either, is_two) == std::optional(true));
  CHECK(job.scan(either, is_two) ==
        std::map<Vnode, bool>{{0, false}, {1, false}, {2, true}, {3, true}});
  CHECK(job.exscan(either, is_two, false) ==
        std::map<Vnode, bool>{{0, false}, {1, false}, {2, false}, {3, true}});
  using Three = std::array<bool, 3>;
  CHECK(job.allreduce(either, [](Vnode v) {
    return Three{v == 0, false, v == 3};
  }) == Three{true, false, true});
}

TEST_CASE("operators of the application are applied in the order of the vnodes") {
  Alone alone(4);
  const auto decimal = [](int a, int b) { return 10 * a + b; };
  const auto join = [](const std::string& a, const std::string& b) { return a + b; };

  CHECK(alone.job.allreduce(decimal, [](Vnode v) { return static_cast<int>(v) + 1; }) == 1234);
  CHECK(alone.job.reduce(2, join, [](Vnode v) { return std::to_string(v); }) ==
        std::optional<std::string>("0123"));
  const std::vector<int> long_one(100'000, 1);
  CHECK(alone.job.allreduce(decimal, long_one) == std::vector<int>(100'000, 1111));
}

TEST_CASE("message-driven programs get every kind of message") {
  Alone alone(3);
  Session& job = alone.job;
  job.send(0, 1, 5, 9);
  job.cast(1, 6);
  for (const Vnode v : job.held()) job.contribute(v, 2, sum, 10, false);
  std::map<Kind, int> kinds;

  int left = 5;
  job.run([&](Message& message) {
    ++kinds[message.kind];
    if (message.kind == Kind::kReduced) CHECK(message.as<int>() == 30);
    if (--left == 0) job.stop();
  });

  CHECK(kinds ==
        std::map<Kind, int>{{Kind::kPointToPoint, 1}, {Kind::kBroadcast, 3}, {Kind::kReduced, 1}});
  CHECK_FALSE(job.next(1ms).has_value());
}

TEST_CASE("stop() of another thread ends every run() that waits") {
  Alone alone(2);
  Session& job = alone.job;
  // Each of the two takes one message, and waits until the other has begun, too.
  std::atomic<int> begun{0};
  const auto handle = [&](Message&) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  };
  for (int i = 0; i < 2; ++i) job.send(0, 1, i);
  std::thread stops([&] {
    while (begun < 2) std::this_thread::yield();
    job.stop();
  });
  std::thread runs_too([&] { job.run(handle); });
  job.run(handle);
  runs_too.join();
  stops.join();
  CHECK_FALSE(job.over());
  // It counts for these only.
  job.send(0, 1, 5);
  int calls = 0;
  job.run([&](Message&) {
    ++calls;
    job.stop();
  });
  CHECK(calls == 1);
}

TEST_CASE("a run() for which nothing comes throws after the time-out, and next() returns nothing") {
  Alone alone(2, 30ms);

  CHECK_FALSE(alone.job.next().has_value());
  CHECK_THROWS_WITH_AS(alone.job.run([](Message&) {}),
                       doctest::Contains("run: no message for 30 ms"), Failure);
}

TEST_CASE("a stop() before run() ends it before any handler is called, and no other one") {
  Alone alone(2);
  Session& job = alone.job;
  job.send(0, 1, 5);
  int calls = 0;
  const auto handler = [&](Message&) {
    ++calls;
    job.stop();
  };
  job.stop();
  job.run(handler);
  CHECK(calls == 0);
  job.run(handler);
  CHECK(calls == 1);
}

TEST_CASE("objects are made on the first arrival") {
  Session job({.vnodes = 3});
  Objects<std::vector<int>> objects(job, [](Vnode v) { return std::vector<int>(v, 1); });
  CHECK(objects.size() == 0);

  REQUIRE(job.safe_point());

  CHECK(objects.size() == 3);
  CHECK(objects[2] == std::vector<int>{1, 1});
}

TEST_CASE("after the end nothing works, and over() tells") {
  Alone alone(1);

  alone.job.finish();
  alone.job.finish();

  CHECK(alone.job.over());
  CHECK_THROWS_AS(static_cast<void>(alone.job.recv()), Failure);
}

TEST_SUITE_END();

}  // namespace phx::session_test
