#include "runtime/api/handlers.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/api/phoenix.h"

namespace phx::handlers_test {
namespace {

struct Counter {
  std::uint64_t heard = 0;
  void state(auto& io) { io(heard); }
};

void run_in_two_threads(Session& job, const std::function<void(Message&)>& handler) {
  std::thread other([&] { job.run(handler); });
  job.run(handler);
  other.join();
}

/// Asks for each vnode once it has left, in a thread of its own.
class Returner {
 public:
  explicit Returner(Session& job) : job_(job) {
    job.add_state({[this](Vnode v) {
                     const std::scoped_lock lock(mutex_);
                     leaving_.push_back(v);
                     return Payload();
                   },
                   [](Vnode, const std::optional<Payload>&) {}});
  }
  ~Returner() { finish(); }
  Returner(const Returner&) = delete;
  Returner& operator=(const Returner&) = delete;

  void start() {
    thread_ = std::thread([this] { run(); });
  }
  void finish() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::atomic<int> returned = 0;

 private:
  void run() {
    while (true) {
      const bool is_last = is_over_;
      std::optional<Vnode> next;
      {
        const std::scoped_lock lock(mutex_);
        if (!leaving_.empty()) next = leaving_.front();
        if (next) leaving_.pop_front();
      }
      if (!next && is_last) return;
      if (!next) {
        std::this_thread::yield();
        continue;
      }
      while (job_.holds(*next)) std::this_thread::yield();
      job_.assume({*next});
      ++returned;
    }
  }

  Session& job_;
  std::mutex mutex_;
  std::deque<Vnode> leaving_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

}  // namespace

TEST_SUITE_BEGIN("api/handlers");

TEST_CASE("vnodes come and go while two threads run, and none leaves under a handler") {
  constexpr std::uint64_t kVnodes = 6;
  constexpr int kMessages = 3000;
  Session job({.vnodes = kVnodes, .timeout = 60s});
  Objects<Counter> counters(job);
  Returner returner(job);
  REQUIRE(job.local_safe_point());
  returner.start();
  std::mutex mutex;
  std::atomic<int> handled = 0;
  std::atomic<int> gone = 0;
  const auto handle = [&](Message& message) {
    Counter& counter = counters[message.to];
    const int number = ++handled;
    if (number == kMessages) job.stop();
    job.send(message.to, (message.to + (number % 2 == 0 ? 1 : 2)) % kVnodes, number);
    if (number % 7 == 0) job.release({message.to});
    for (int i = 0; i < 20; ++i) std::this_thread::yield();  // for the other thread to move it
    if (!job.holds(message.to) || &counters[message.to] != &counter) ++gone;
    const std::scoped_lock lock(mutex);
    ++counter.heard;
  };
  for (Vnode v = 0; v < 4; ++v) job.send(v, v, 0);

  run_in_two_threads(job, handle);
  while (job.held().size() < kVnodes || returner.returned == 0) REQUIRE(job.local_safe_point());
  returner.finish();
  while (job.held().size() < kVnodes) REQUIRE(job.local_safe_point());

  CHECK(gone == 0);
  std::uint64_t heard = 0;
  for (const auto& [v, counter] : counters) heard += counter.heard;
  CHECK(heard == static_cast<std::uint64_t>(handled));
}

TEST_CASE("two handlers that are at safe points do not wait for each other") {
  Session job({.vnodes = 4, .timeout = 60s});
  Objects<Counter> counters(job);
  REQUIRE(job.local_safe_point());
  std::atomic<int> begun = 0;
  std::atomic<int> passed = 0;
  const auto handle = [&](Message& message) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
    job.release({message.to});
    CHECK(job.local_safe_point());
    CHECK_FALSE(job.next(0s).has_value());
    if (++passed == 2) job.stop();
  };
  job.send(0, 0, 1);
  job.send(0, 1, 1);

  run_in_two_threads(job, handle);

  while (job.held().size() > 2) REQUIRE(job.local_safe_point());
  CHECK(job.held() == std::vector<Vnode>{2, 3});
}

TEST_CASE("a handler that waits for one of another thread gets it, although vnodes are to move") {
  Session job({.vnodes = 4, .timeout = 60s});
  REQUIRE(job.local_safe_point());
  std::atomic<bool> is_served = false;
  const auto handle = [&](Message& message) {
    if (message.to == 1) {
      is_served = true;
      return job.stop();
    }
    job.release({3});
    job.send(0, 1, 1);
    while (!is_served) std::this_thread::yield();
  };
  job.send(0, 0, 1);

  run_in_two_threads(job, handle);

  CHECK(is_served);
  while (job.holds(3)) REQUIRE(job.local_safe_point());
}

TEST_CASE("a handler that throws holds nobody up") {
  Session job({.vnodes = 2, .timeout = 60s});
  Objects<Counter> counters(job);
  REQUIRE(job.local_safe_point());
  std::atomic<bool> is_asked = false;
  std::thread other([&] {
    const auto throws = [&](Message& message) {
      job.release({message.to});
      is_asked = true;
      throw Failure(ErrorCode::kBadInput, "no");
    };
    CHECK_THROWS_AS(job.run(throws), Failure);
  });
  job.send(0, 1, 1);
  while (!is_asked) std::this_thread::yield();
  while (job.holds(1)) REQUIRE(job.local_safe_point());
  other.join();
  CHECK(job.held() == std::vector<Vnode>{0});
}

TEST_CASE("a safe point in a callback of a safe point is refused") {
  Session job({.vnodes = 1, .timeout = 60s});
  std::string refused;
  job.add_state({[](Vnode) { return Payload(); },
                 [&](Vnode, const std::optional<Payload>&) {
                   try {
                     static_cast<void>(job.next(0s));
                   } catch (const Failure& failure) {
                     refused = failure.what();
                   }
                 }});
  REQUIRE(job.local_safe_point());
  CHECK(refused == "there is no safe point in a callback of a safe point");
  CHECK_FALSE(job.next(0s).has_value());
}

TEST_SUITE_END();

}  // namespace phx::handlers_test
