#pragma once

#include <sys/epoll.h>

#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <vector>

#include "overlay/base/time.h"
#include "runtime/tcp/descriptor.h"

namespace phx::tcp {

/// What a driver waits for, in one place: descriptors, one deadline, calls from other threads, and
/// all that Asio does. Waiting and serving are two steps, so that one thread can wait without
/// holding what the calls need, and whoever has something to do can serve [README.md, "The loop"].
/// Thread rule: wait() and post_from_outside() on any thread; all else on one at a time.
///
/// Guarantees: nothing that serve() calls is called from within another function of this class; a
/// watched descriptor costs no system call while what is wanted of it stays the same.
class Loop {
 public:
  /// What a descriptor is watched for, and what has come of it. Errors count as both.
  struct Ready {
    bool readable = false;
    bool writable = false;
    bool anew = false;  ///< Only when more has come to read, and not as long as it is there.
  };
  using OnReady = std::function<void(Ready)>;
  using Watch = std::uint64_t;
  /// What one wait() has brought, for serve().
  class Events {
   private:
    friend class Loop;
    static constexpr std::size_t kMost = 32;
    using List = std::array<epoll_event, kMost>;
    List list_;
    std::size_t count_ = 0;
  };

  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  /// Handlers of Asio's objects run inside serve(). Whoever begins something there outside of such
  /// a handler says so by touch().
  [[nodiscard]] asio::io_context& io() { return io_; }
  void touch();

  /// Calls `on_ready` while `wanted` holds of the descriptor, until unwatch(). It must stay open.
  [[nodiscard]] Watch watch(int descriptor, Ready wanted, OnReady on_ready);
  void want(Watch watch, Ready wanted);
  void unwatch(Watch watch);
  /// Calls `call` soon, from serve().
  void post(std::function<void()> call);
  void post_from_outside(std::function<void()> call);
  /// Calls `call` once that time has come; replaces an earlier setting.
  void set_deadline(Instant at, std::function<void()> call);
  /// run() returns.
  void stop() { is_stopped_ = true; }
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }

  /// How long wait() may take if it shall take `at_most`; serve() must follow. Until then whatever
  /// comes to be done earlier ends the wait of whoever has asked.
  [[nodiscard]] Duration patience(Duration at_most);
  /// Waits until something is to be served, or so long.
  [[nodiscard]] Events wait(Duration at_most) const;
  void serve(const Events& events);
  /// Waits and serves, once or until stop(). For a loop that one thread alone uses.
  void run_one(Duration at_most) { serve(wait(patience(at_most))); }
  void run();
  /// Ends a wait(), or the next one.
  void wake() const;
  /// Readable when wait() would find something, but for deadlines and calls; for poll().
  [[nodiscard]] int descriptor() const { return epoll_.get(); }

 private:
  struct Watched {
    int descriptor = -1;
    Ready wanted;
    bool is_listed = false;  ///< In the list of the system.
    OnReady on_ready;
  };
  void list(Watch watch, Watched& watched);
  void unlist(Watched& watched);
  /// So many events have come; -1: see errno.
  [[nodiscard]] int wait_at_system(Events::List& list, Duration longest) const;
  [[nodiscard]] int wait_exactly(Events::List& list, Duration longest) const;
  void serve(const epoll_event& event);
  void serve_rest();
  void take_outside();

  asio::io_context io_{1};
  /// Without it Asio would not even look at what its descriptor is readable for.
  asio::executor_work_guard<asio::io_context::executor_type> always_{io_.get_executor()};
  Descriptor epoll_;
  Descriptor wake_;
  mutable std::atomic<bool> counts_ms_ = false;  ///< The system can wait no more exactly.
  std::map<Watch, Watched> watched_;
  std::vector<std::map<Watch, Watched>::node_type> ended_;  ///< Gone with the next serve().
  Watch last_;
  std::vector<std::function<void()>> posted_;
  std::mutex outside_mutex_;
  std::vector<std::function<void()>> outside_;
  std::optional<Instant> deadline_;
  std::function<void()> on_deadline_;
  std::size_t waiting_ = 0;  ///< So many threads have asked for their patience, and not served.
  Instant waiting_until_{};  ///< The last of them.
  bool is_touched_ = false;
  bool is_stopped_ = false;
};

/// Takes the socket out of Asio's hands. REQUIRES that nothing waits at it there.
template <class Socket>
[[nodiscard]] Descriptor descriptor_of(Socket&& socket) {
  std::error_code error;
  return Descriptor(socket.release(error));
}

}  // namespace phx::tcp
