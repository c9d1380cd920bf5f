#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "overlay/base/overloaded.h"
#include "runtime/daemon.h"

namespace phx::support {

/// Whole daemons p1, p2, ... of one mesh. Links carry everything at once, in order, but what the
/// test holds back. Applications and tools are played by the test.
class DaemonNet {
 public:
  explicit DaemonNet(std::uint32_t members, runtime::DaemonConfig config = {}) {
    runtime::View view;
    view.number = 1;
    view.next_processor = members + 1;
    for (std::uint32_t i = 1; i <= members; ++i) {
      const ProcessorId id{i};
      view.members[id] = {id, 1000 + i, {to_string(id)}, {}, false};
    }
    for (const auto& [id, member] : view.members) {
      runtime::Birth birth;
      birth.self = birth.snapshot.id = id;
      birth.snapshot.view = view;
      ones_[id].daemon = std::make_unique<runtime::Daemon>(birth, config, id.value);
    }
    for (auto& [id, one] : ones_) one.daemon->start(now_);
    run_for(1s);
  }

  [[nodiscard]] runtime::Daemon& daemon(ProcessorId id) { return *ones_.at(id).daemon; }
  [[nodiscard]] Instant now() const { return now_; }
  void run_for(Duration duration) {
    const Instant end = now_ + duration;
    for (carry_all(); now_ < end; carry_all()) {
      Instant next = end;
      for (auto& [id, one] : ones_) {
        if (one.lives) next = std::min(next, one.daemon->next_deadline().value_or(end));
      }
      now_ = std::max(now_, next);
      for (auto& [id, one] : ones_) {
        if (one.lives) one.daemon->on_deadline(now_);
      }
    }
  }
  void run() { run_for(100ms); }

  // What the network does.
  void hold(ProcessorId from, ProcessorId to) { held_[{from, to}]; }
  void release(ProcessorId from, ProcessorId to) {
    auto lane = held_.extract({from, to});
    for (auto& [incarnation, frame] : lane.mapped()) deliver(from, to, incarnation, frame);
    run();
  }
  /// What it has sent and is held back does not arrive any more.
  void kill(ProcessorId id) {
    ones_.at(id).lives = false;
    std::erase_if(held_, [id](const auto& lane) { return lane.first.first == id; });
    for (auto at = open_.begin(); at != open_.end();) {
      const auto [incarnation, ends] = *at;
      const bool is_end = ends.first == id || ends.second == id;
      const ProcessorId other = ends.first == id ? ends.second : ends.first;
      at = is_end ? open_.erase(at) : std::next(at);
      if (is_end && ones_.at(other).lives) daemon(other).on_link_down(now_, {id, incarnation});
    }
  }
  /// Calls `step` at every envelope that is sent.
  using Step = std::function<void(ProcessorId from, ProcessorId to, const runtime::Envelope&)>;
  void watch(Step step) { step_ = std::move(step); }

  // Tools and applications.
  ClientId ask(ProcessorId at, runtime::ClientRequest request) {
    const ClientId client{++clients_};
    daemon(at).on_client_message(now_, client, std::move(request));
    run();
    return client;
  }
  /// All replies of this kind, to any tool.
  template <class M>
  [[nodiscard]] std::vector<M> replies() const {
    std::vector<M> found;
    for (const runtime::ClientReply& reply : replies_) {
      if (const auto* m = std::get_if<M>(&reply)) found.push_back(*m);
    }
    return found;
  }
  void attach(ProcessorId at, JobId job) {
    daemon(at).on_app_message(now_, ApplicationId{1}, runtime::AppAttach{job, 0, 1});
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
  [[nodiscard]] bool has_stopped(ProcessorId at) { return ones_.at(at).has_stopped; }

 private:
  struct One {
    std::unique_ptr<runtime::Daemon> daemon;
    bool lives = true;
    bool has_stopped = false;
    std::vector<runtime::ToApplication> to_application;
    std::vector<JobId> started;
  };
  using Lane = std::deque<std::pair<std::uint64_t, runtime::Frame>>;

  void carry_all() {
    for (bool any = true; any;) {
      any = false;
      for (auto& [id, one] : ones_) {
        for (runtime::Effect& effect : one.daemon->take_effects()) {
          if (one.lives) carry(id, one, effect);
          any = true;
        }
      }
    }
  }
  void carry(ProcessorId from, One& one, runtime::Effect& effect) {
    std::visit(
        Overloaded{[&](const runtime::Dial& m) { dial(from, m.peer); },
                   [&](runtime::Transmit& m) { transmit(from, m); },
                   [&](const runtime::Hangup& m) { hang_up(from, m.link); },
                   [&](runtime::ToApp& m) { one.to_application.push_back(std::move(m.message)); },
                   [&](runtime::Reply& m) { replies_.push_back(std::move(m.reply)); },
                   [&](const runtime::Spawn& m) { one.started.push_back(m.job); },
                   [&](const runtime::Stop&) {
                     one.has_stopped = true;
                     kill(from);
                   },
                   [](const auto&) {}},
        effect);
  }
  void dial(ProcessorId from, ProcessorId to) {
    if (!ones_.at(to).lives) {
      return daemon(from).on_dial_failed(now_, to, true, "connection refused");
    }
    open_[++links_] = {from, to};
    daemon(from).on_link_up(now_, {to, links_}, true);
    daemon(to).on_link_up(now_, {from, links_}, false);
  }
  void transmit(ProcessorId from, runtime::Transmit& m) {
    const ProcessorId to = m.link.peer;
    if (step_ && m.frame.envelope) step_(from, to, *m.frame.envelope);
    const auto lane = held_.find({from, to});
    if (lane == held_.end()) return deliver(from, to, m.link.incarnation, m.frame);
    lane->second.emplace_back(m.link.incarnation, std::move(m.frame));
  }
  void deliver(ProcessorId from, ProcessorId to, std::uint64_t link, runtime::Frame& frame) {
    if (open_.contains(link) && ones_.at(to).lives) {
      daemon(to).on_frame(now_, {from, link}, std::move(frame));
    }
  }
  void hang_up(ProcessorId from, LinkId link) {
    if (open_.erase(link.incarnation) == 0 || !ones_.at(link.peer).lives) return;
    daemon(link.peer).on_link_down(now_, {from, link.incarnation});
  }

  Instant now_{};
  std::map<ProcessorId, One> ones_;
  std::uint64_t links_ = 0;
  std::map<std::uint64_t, std::pair<ProcessorId, ProcessorId>> open_;
  std::map<std::pair<ProcessorId, ProcessorId>, Lane> held_;
  std::vector<runtime::ClientReply> replies_;
  std::uint32_t clients_ = 0;
  Step step_;
};

}  // namespace phx::support
