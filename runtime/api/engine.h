#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/api/failure.h"
#include "runtime/api/options.h"
#include "runtime/api/report.h"
#include "runtime/api/waits.h"
#include "runtime/endpoint/endpoint.h"
#include "runtime/local/local_link.h"
#include "runtime/tcp/embedded.h"

namespace phx {

/// The endpoint of this process and its link to the daemon, for several threads: one mutex around
/// both, and one thread at a time that waits at the link while others wait for it.
/// No thread of its own: everything happens inside the calls of the application, as in MPI.
class Engine {
 public:
  using Endpoint = runtime::Endpoint;
  /// How long a wait may take, and what to say of it.
  struct Patience {
    Duration timeout = kForever;
    std::function<std::string()> what;  ///< "recv by v3". Called with the mutex.
    std::optional<VnodeId> at{};        ///< The vnode that waits; empty: the process.
  };

  /// Connects and attaches. Throws Failure.
  explicit Engine(const Options& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Runs `f(endpoint)` and sends what it leads to. Waits while the daemon takes no more. Throws
  /// Failure (kAborted, kUnavailable) if nobody would hear of it.
  template <class F>
  auto call(F f) {
    const std::unique_lock lock(mutex_);
    look(std::chrono::steady_clock::now());
    check_alive();
    // NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): never leaves this function.
    struct Sending {
      Engine& engine;
      const std::uint64_t arrivals = engine.endpoint_.arrivals();
      ~Sending() {
        engine.send();
        // A message to a vnode held here goes no further.
        if (engine.endpoint_.arrivals() != arrivals) engine.wake_others();
      }
    };
    const Sending sending{*this};
    return f(endpoint_);
  }
  /// Runs `f(endpoint)` whenever something has come in, until it returns something or the time is
  /// up. Throws Failure (kAborted, kUnavailable) if that cannot happen any more.
  template <class F>
  auto await(const Patience& patience, F f) {
    std::unique_lock lock(mutex_);
    std::decay_t<decltype(f(endpoint_))> result;
    {
      Wait wait(*this, patience, std::chrono::steady_clock::now());
      while (!(result = f(endpoint_)) && pause(lock, wait)) continue;
    }
    if (!result) give_way(lock);
    return result;
  }
  /// Reads the endpoint without any I/O.
  template <class F>
  auto query(F f) const {
    const std::unique_lock lock(mutex_);
    return f(endpoint_);
  }

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] ProcessorId processor() const { return processor_; }
  /// Of the daemon inside; empty if there is none.
  [[nodiscard]] std::vector<std::string> endpoints() const {
    return embedded_ ? embedded_->endpoints() : std::vector<std::string>();
  }
  [[nodiscard]] bool has_daemon_inside() const { return embedded_ != nullptr; }
  void wake();  ///< Whoever waits looks again.
  /// The program is done: waits until what it sent has been received, or nobody can receive it.
  void drain();
  /// Runs `last_words(endpoint)` and closes the connection, once the daemon has read everything.
  void close(const std::function<void(Endpoint&)>& last_words);
  /// After close(): ends the daemon inside, in good order if that takes no longer.
  void leave(Duration patience);
  void report(const std::function<void(Report&)>& f);  ///< If PHOENIX_REPORT asks for one.

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  struct Wait {  // NOLINT(cppcoreguidelines-special-member-functions): never leaves await().
    Wait(Engine& of, const Patience& patience, SteadyTime now);
    ~Wait() { engine.end(*this); }  ///< Whatever has ended it: the daemon shows it no longer.
    Engine& engine;
    const Patience& patience;
    SteadyTime begin;
    std::optional<SteadyTime> deadline;
    bool has_looked = false;  ///< At least once at what has come in.
    bool has_slept = false;
    std::string reported;  ///< What the daemon knows that we wait for.
    std::optional<SteadyTime> reported_at;
    std::uint64_t news = 0;  ///< What had come in then.
  };

  void check_alive() const;
  void look(SteadyTime now);
  bool send();
  bool exchange();
  bool receive();
  void queue_outputs();
  void wake_others();
  bool pause(std::unique_lock<std::mutex>& lock, Wait& wait);
  bool say(Wait& wait, SteadyTime now);
  void tell_report(bool is_last);
  void end(Wait& wait);
  void tell_waited(SteadyTime now);
  static void give_way(std::unique_lock<std::mutex>& lock);
  void connect();
  void embed();
  void attach();

  Options options_;
  std::unique_ptr<tcp::EmbeddedDaemon> embedded_;  ///< None if there is a daemon next door.
  mutable std::mutex mutex_;
  std::condition_variable came_in_;
  bool is_polled_ = false;  ///< A thread waits at the link.
  SteadyTime looked_at_;    ///< When we read last.
  Waits waits_;             ///< That are over, for `phoenix status`.
  local::LocalLink link_;
  runtime::Endpoint endpoint_;
  SpareRoom<runtime::ToApplication, 256> room_;  ///< Of what comes in.
  /// The thread that waits at the link was woken: the endpoint has what may be waited for.
  bool is_woken_ = false;
  std::optional<Error> lost_;  ///< Why the connection is gone.
  std::optional<Report> report_;
  ProcessorId processor_;
};

}  // namespace phx
