#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/daemon.h"

namespace phx::support {

/// Whole daemons p1, p2, ... of one mesh. Links carry everything at once, in order, but what the
/// test holds back. Applications and tools are played by the test.
class DaemonNet {
 public:
  explicit DaemonNet(std::uint32_t members, runtime::DaemonConfig config = {},
                     std::uint32_t next_job = 1);

  /// For one call: invariants are looked at of those that were asked for since the last time.
  [[nodiscard]] runtime::Daemon& daemon(ProcessorId id) {
    unchecked_.insert(id);
    return *ones_.at(id).daemon;
  }
  [[nodiscard]] Instant now() const { return now_; }
  void run_for(Duration duration);
  void run() { run_for(100ms); }

  // What the network does.
  void hold(ProcessorId from, ProcessorId to) { held_[{from, to}]; }
  void release(ProcessorId from, ProcessorId to, Duration then = 100ms);
  /// Arrives at `to` as if `from` had sent it next.
  void slip_in(ProcessorId from, ProcessorId to, runtime::Envelope envelope);
  /// What it has sent and is held back does not arrive any more.
  void kill(ProcessorId id);
  /// A newcomer, which `contact` lets in.
  ProcessorId join(ProcessorId contact);
  /// Of all that is said to `id` nothing arrives but that its peers live.
  void say_nothing_to(ProcessorId id) { told_nothing_.insert(id); }
  /// Calls `step` at every envelope that is sent.
  using Step = std::function<void(ProcessorId from, ProcessorId to, const runtime::Envelope&)>;
  void watch(Step step) { step_ = std::move(step); }

  // Tools and applications.
  ClientId ask(ProcessorId at, runtime::ClientRequest request);
  /// Tools read on, or not, whatever they are sent.
  void tools_read(bool read);
  /// All replies of this kind, to any tool.
  template <class M>
  [[nodiscard]] std::vector<M> replies() const {
    std::vector<M> found;
    for (const runtime::ClientReply& reply : replies_) {
      if (const auto* m = std::get_if<M>(&reply)) found.push_back(*m);
    }
    return found;
  }
  void attach(ProcessorId at, JobId job) { say(at, runtime::AppAttach{job, 0, 1}); }
  /// The application at this processor does.
  void say(ProcessorId at, runtime::ToDaemon message) {
    daemon(at).on_app_message(now_, ApplicationId{1}, std::move(message));
    run();
  }
  template <class M>
  [[nodiscard]] std::vector<M> heard_by_application(ProcessorId at) {
    std::vector<M> found;
    for (const runtime::ToApplication& message : ones_.at(at).to_application) {
      if (const auto* m = std::get_if<M>(&message)) found.push_back(*m);
    }
    return found;
  }
  [[nodiscard]] const std::vector<JobId>& started(ProcessorId at) { return ones_.at(at).started; }
  /// The output of the job's process there is not read.
  [[nodiscard]] bool is_held(ProcessorId at, JobId job) { return ones_.at(at).held[job]; }
  [[nodiscard]] bool has_stopped(ProcessorId at) { return ones_.at(at).stop.has_value(); }
  /// Why. REQUIRES has_stopped(at).
  [[nodiscard]] const runtime::Stop& stop(ProcessorId at) { return ones_.at(at).stop.value(); }

 private:
  struct One {
    std::unique_ptr<runtime::Daemon> daemon;
    bool lives = true;
    std::optional<runtime::Stop> stop;
    std::vector<runtime::ToApplication> to_application;
    std::vector<JobId> started;
    std::map<JobId, bool> held;   ///< The output of these is not read.
    std::set<ClientId> answered;  ///< Have not taken what they were sent.
  };
  using Lane = std::deque<std::pair<std::uint64_t, runtime::Frame>>;

  void carry_all();
  void carry(ProcessorId from, One& one, runtime::Effect& effect);
  void dial(ProcessorId from, ProcessorId to);
  void transmit(ProcessorId from, runtime::Transmit& m);
  void deliver(ProcessorId from, ProcessorId to, std::uint64_t link, runtime::Frame& frame);
  void hang_up(ProcessorId from, LinkId link);

  Instant now_{};
  std::map<ProcessorId, One> ones_;
  std::uint64_t links_ = 0;
  std::map<std::uint64_t, std::pair<ProcessorId, ProcessorId>> open_;
  std::map<std::pair<ProcessorId, ProcessorId>, Lane> held_;
  std::map<std::pair<ProcessorId, ProcessorId>, std::uint64_t> delivered_;  ///< The last number.
  std::vector<runtime::ClientReply> replies_;
  std::uint32_t clients_ = 0;
  bool tools_read_ = true;
  ProcessorSet told_nothing_;
  std::set<ProcessorId> unchecked_;  ///< Their invariants have not been looked at since.
  Step step_;
};

}  // namespace phx::support
