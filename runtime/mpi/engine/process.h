#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/api/session_core.h"
#include "runtime/mpi/engine/awaited.h"
#include "runtime/mpi/engine/leaving.h"
#include "runtime/mpi/engine/nearby.h"
#include "runtime/mpi/engine/start.h"
#include "runtime/mpi/engine/traffic.h"
#include "runtime/mpi/groups/group.h"

namespace phx::mpi {

/// This process as a rank: its traffic, and the runtime below. There is one between MPI_Init and
/// MPI_Finalize. Its lock is the runtime's; the thread that waits drives the daemon inside. Thread
/// rule: any thread.
class Process {
 public:
  [[nodiscard]] static Process& current();  ///< REQUIRES that MPI_Init was called.
  /// Joins the job as the environment says [start.h]. Throws phx::Failure.
  static void begin();
  /// The others need this process no more.
  static void end();
  /// Ends the job with this code; `text` says why. Never returns.
  [[noreturn]] static void abort(int code, const std::string& text);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] ProcessorId processor() const { return core_->engine.processor(); }
  /// Whether a cast reaches just these: trees are better than messages.
  [[nodiscard]] bool may_cast_to(const Group& group) const {
    return is_spread_ && size_ > 1 && group.size() == size_;
  }

  /// Runs `f(traffic)` with the lock, and sends what it leads to.
  template <class F>
  auto call(F f) {
    if (near_) return call_near(f);
    return guarded([&] {
      return core_->engine.call([&](runtime::Endpoint& endpoint) {
        const Calling calling{*this, &endpoint};
        return f(traffic_);
      });
    });
  }
  /// Waits until `is_true(traffic)`. `what()` is for a person. Both are asked with the lock.
  template <class F, class What>
  void wait(F is_true, What what) {
    if (near_) return wait_near(std::ref(is_true), std::ref(what));
    look(kForever, std::ref(what), is_true);
  }
  /// All ranks are on this machine, and share its cores: what counts is how often who has to run.
  [[nodiscard]] Nearby* near() const { return near_.get(); }  // null: they are not
  [[nodiscard]] bool is_crowded() const { return near_ != nullptr && spins_ == 0; }
  /// Waits until what was sent has left.
  void flush() {
    wait([this](Traffic&) { return leaving_.is_empty() && (!near_ || near_->is_sent()); },
         [] { return "room for what was sent"; });
  }
  /// Looks once at what has come in; whether `is_true(traffic)` then.
  template <class F>
  bool test(F is_true) {
    if (near_) return poll_near(std::ref(is_true));
    return look(
        Duration::zero(), [] { return "a message"; }, is_true);
  }

 private:
  /// After a call for one thread: its messages leave, and others see what it has completed.
  // NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): never leaves call().
  struct Calling {
    Process& process;
    runtime::Endpoint* endpoint;  ///< null: of a near rank
    const std::uint64_t news = process.traffic_.news();
    ~Calling() {
      const bool others_may_wait = process.traffic_.news() != news;
      endpoint != nullptr ? process.send(*endpoint, others_may_wait)
                          : process.send_near(others_may_wait && process.waiting_ > 0);
    }
  };
  explicit Process(Started started);

  template <class F>
  auto call_near(F f) {
    return core_->engine.query([&](const runtime::Endpoint&) {
      const Calling calling{*this, nullptr};
      return f(traffic_);
    });
  }
  template <class F>
  bool look(Duration patience, const LongWait::What& what, F& is_true) {
    return guarded([&] {
      LongWait told(what);
      const auto f = [&](runtime::Endpoint& endpoint) -> std::optional<bool> {
        if (receive(endpoint)) told.go_on();
        if (is_true(traffic_)) return true;
        return std::nullopt;
      };
      const Waiting waiting(*this);
      return core_->engine.await({patience, [&] { return told.tell(); }}, f).has_value();
    });
  }
  void wait_near(const std::function<bool(Traffic&)>& is_true, const LongWait::What& what);
  bool poll_near(const std::function<bool(Traffic&)>& is_true);
  void give_way();
  void note_idle_look();
  void check_alive();  ///< Asks the daemon whether the job is over.
  bool receive_near();
  // NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): never leaves look().
  struct Waiting {
    explicit Waiting(Process& of) : process(of) { ++process.waiting_; }
    ~Waiting() { --process.waiting_; }
    Process& process;
  };
  /// The end of the job, or of the daemon, ends the process.
  template <class F>
  static auto guarded(F f) -> decltype(f()) {
    try {
      return f();
    } catch (const phx::Failure& failure) {
      end_badly(failure.what());
    }
  }
  [[noreturn]] static void end_badly(std::string why);
  bool receive(runtime::Endpoint& endpoint);
  void send(runtime::Endpoint& endpoint, bool others_may_wait);
  void send_near(bool others_wait);
  bool send(runtime::Endpoint& endpoint, const Traffic::Output& output) const;
  bool finish_packed();

  std::unique_ptr<SessionCore> core_;
  int rank_;
  int size_;
  bool is_spread_;
  Traffic traffic_;
  std::unique_ptr<Nearby> near_;  ///< All ranks are on this machine, or there is one alone.
  int spins_ = 0;                 ///< None if ranks have to share cores.
  std::vector<Traffic::Output> outputs_;  ///< of near ranks, between one call and the next
  Leaving leaving_;                       ///< through the daemons
  std::vector<Ref<SendRequest>> packed_;  ///< and not told yet
  std::atomic<int> waiting_ = 0;          ///< threads
  std::atomic<unsigned> idle_looks_ = 0;
};

}  // namespace phx::mpi
