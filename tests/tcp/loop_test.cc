#include "runtime/tcp/loop.h"

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <cerrno>
#include <cstddef>
#include <thread>
#include <vector>

#include "runtime/tcp/steady_now.h"

namespace phx::tcp::loop_test {
namespace {

/// Two connected sockets.
struct Ends {
  Ends() {
    std::array<int, 2> both{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both.data()) == 0);
    near.reset(both[0]);
    far.reset(both[1]);
  }
  Descriptor near;
  Descriptor far;
};

/// From now on the system refuses to wait exactly, as in older containers. False: no such thing
/// can be had here.
bool refuse_exact_waiting() {
  std::array<sock_filter, 4> rules{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  sock_fprog program{rules.size(), rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Waits for a descriptor and for the time; whether it slept meanwhile.
bool works(const Ends& ends) {
  constexpr int kWaitsMost = 20;
  Loop loop;
  bool is_read = false;
  bool is_due = false;
  const auto watch = loop.watch(ends.near.get(), {.readable = true}, [&](Loop::Ready) {
    std::array<char, 1> byte{};
    is_read = ::read(ends.near.get(), byte.data(), 1) == 1;
  });
  loop.set_deadline(steady_now() + 50ms, [&] { is_due = true; });
  for (int waits = 0; waits < kWaitsMost && !(is_read && is_due); ++waits) loop.run_one(1h);
  loop.unwatch(watch);
  return is_read && is_due;
}

/// What run_one() takes when it could take 50 ms: an early end counts until nothing is left.
Duration slept(Loop& loop) {
  constexpr int kWarmUp = 5;
  for (int i = 0; i < kWarmUp; ++i) loop.run_one(Duration::zero());
  const Instant begin = steady_now();
  loop.run_one(50ms);
  return steady_now() - begin;
}

}  // namespace

TEST_SUITE_BEGIN("tcp/loop");

TEST_CASE("a loop that has nothing to do sleeps, whatever Asio has done before") {
  Loop loop;
  CHECK(slept(loop) >= 45ms);
  int fired = 0;
  {
    asio::steady_timer timer(loop.io(), 1ms);
    timer.async_wait([&](const std::error_code&) { ++fired; });
    loop.touch();
    while (fired == 0) loop.run_one(1s);
  }
  CHECK(slept(loop) >= 45ms);
  asio::post(loop.io(), [&] { ++fired; });
  loop.touch();
  loop.run_one(1s);
  CHECK(fired == 2);
  CHECK(slept(loop) >= 45ms);
}

TEST_CASE("a descriptor is served while it is watched, and may be given up from within") {
  Loop loop;
  Ends ends;
  int calls = 0;
  Loop::Watch watch = 0;
  watch = loop.watch(ends.near.get(), {.readable = true}, [&](Loop::Ready ready) {
    CHECK(ready.readable);
    CHECK_FALSE(ready.writable);
    if (++calls == 2) loop.unwatch(watch);
  });
  loop.run_one(Duration::zero());
  CHECK(calls == 0);
  REQUIRE(::write(ends.far.get(), "x", 1) == 1);

  for (int i = 0; i < 5; ++i) loop.run_one(Duration::zero());  // nobody reads it

  CHECK(calls == 2);
}

TEST_CASE(
    "a broken descriptor that nobody wants to read keeps nobody awake, and is not forgotten") {
  Loop loop;
  Ends ends;
  int calls = 0;
  const Loop::Watch watch = loop.watch(ends.near.get(), {}, [&](Loop::Ready) { ++calls; });
  ends.far.reset();

  CHECK(slept(loop) >= 45ms);
  CHECK(calls == 0);

  loop.want(watch, {.readable = true});
  loop.run_one(1s);
  CHECK(calls == 1);
}

TEST_CASE("another thread, an earlier deadline, and a post end a wait that has begun") {
  Loop loop;
  bool is_called = false;
  const auto call = [&] { is_called = true; };
  for (const int way : {0, 1, 2}) {
    is_called = false;
    const Duration patience = loop.patience(30s);
    CHECK(patience > 29s);
    // Between the two, as another thread would that holds what the waiting one does not.
    if (way == 0) loop.post_from_outside(call);
    if (way == 1) loop.set_deadline(steady_now(), call);
    if (way == 2) loop.post(call);
    loop.serve(loop.wait(patience));
    CHECK(is_called);
  }
}

TEST_CASE("a deadline is kept, by its last setting") {
  Loop loop;
  std::vector<int> called;
  const Instant begin = steady_now();
  loop.set_deadline(begin + 1h, [&] { called.push_back(1); });
  loop.set_deadline(begin + 20ms, [&] { called.push_back(2); });

  while (called.empty()) loop.run_one(kForever);

  CHECK(called == std::vector<int>{2});
  CHECK(steady_now() - begin >= 20ms);
  CHECK(steady_now() - begin < 10s);
  CHECK(slept(loop) >= 45ms);
}

TEST_CASE("a loop waits also where the system refuses to wait exactly") {
  constexpr int kNoFilter = 77;
  const Ends ends;
  REQUIRE(::write(ends.far.get(), "x", 1) == 1);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(!refuse_exact_waiting() ? kNoFilter : works(ends) ? 0 : 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoFilter) {
    MESSAGE("skipped: no filter of system calls can be had here");
    return;
  }
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_SUITE_END();

}  // namespace phx::tcp::loop_test
