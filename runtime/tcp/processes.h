#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "overlay/base/ids.h"
#include "overlay/base/payload.h"
#include "overlay/base/time.h"
#include "runtime/messages/effect.h"
#include "runtime/tcp/spawn.h"

namespace phx::tcp {

/// The application processes that this daemon started: one per job. None outlives the daemon, and
/// none leaves children behind: those get SIGKILL when it ends, by its keeper [spawn.h]; without
/// one, as far as they are in its process group.
/// Not thread-safe: the io_context's thread only.
class Processes {
 public:
  struct Handlers {
    std::function<void(JobId, bool is_error, Payload)> on_output;
    std::function<void(const runtime::InputTaken&)> on_input_taken;
    /// After all of its output.
    std::function<void(JobId, const runtime::Exit&)> on_ended;
  };

  /// How long loading a program may take: from a file server it may be slow, or hang for ever.
  static constexpr Duration kLoadingMax = 30s;

  Processes(asio::any_io_executor executor, Handlers handlers, Duration loading_max = kLoadingMax);
  /// Ends all that still run, at once, without reports. Waits for the ends for 5 s at most.
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Never reports from within this call; a failure comes through on_ended like any end, with the
  /// exit code a shell would give. So does a program that is not loaded in time; it is killed.
  void start(JobId job, const SpawnRequest& request);
  /// Sends `signal` to the process group; SIGKILL follows if it still runs `escalate_after` later.
  /// Nothing happens if there is no such process (any more).
  void signal(JobId job, int signal, Duration escalate_after);
  /// Stops or resumes reading what the processes write, or what that of one job does: it is read
  /// while neither is stopped.
  void pause_output(bool paused);
  void pause_output(JobId job, bool paused);
  /// For its standard input, if it was started with one. Answered by on_input_taken.
  void feed(const runtime::FeedProcess& input);
  [[nodiscard]] bool empty() const { return children_.empty(); }

 private:
  struct Child;
  void watch(JobId job, const std::shared_ptr<Child>& child);
  void on_exit(JobId job);
  void on_loading_max(JobId job);
  void report_failure(JobId job, int code, std::string why);

  asio::any_io_executor executor_;
  std::shared_ptr<Handlers> handlers_;  ///< Shared with what is posted; emptied by the destructor.
  Duration loading_max_;
  std::map<JobId, std::shared_ptr<Child>> children_;
  bool paused_ = false;
};

}  // namespace phx::tcp
