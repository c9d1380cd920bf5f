#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/membership/membership.h"
#include "runtime/membership/view_change.h"

namespace phx::support {

/// Several Membership machines over what Channels give them: a FIFO per pair with random delays;
/// of a dead one's last words an unknown part arrives; whoever is needed and dead is reported;
/// whoever was put out and speaks is fenced. Everything follows from the seed.
class MemberNet {
 public:
  using Membership = runtime::Membership;
  enum class Fate : std::uint8_t { kAlive, kDead, kLeft, kFenced };
  struct One {
    std::optional<Membership> machine;  ///< Empty: has its id, but not yet the view.
    Fate fate = Fate::kAlive;
    Instant died_at;
    std::map<ViewNumber, runtime::View> history;
    std::map<Membership::Timer, Instant> timers;
    std::map<ProcessorId, Instant> noticed;  ///< When a dead one is reported (again).
    std::vector<std::function<void()>> unborn_mail;
  };

  explicit MemberNet(std::uint32_t members, std::uint64_t seed) : rng_(seed) {
    runtime::View view;
    view.number = 1;
    for (std::uint32_t i = 1; i <= members; ++i) {
      const ProcessorId id{i};
      view.members.put(member(1000 + i, id));
    }
    view.next_processor = members + 1;
    for (std::uint32_t i = 1; i <= members; ++i) be_born(ProcessorId{i}, view);
    at(Instant{} + kTick, [this] { tick(); });
  }

  [[nodiscard]] Instant now() const { return now_; }
  Rng& rng() { return rng_; }
  [[nodiscard]] const std::map<ProcessorId, One>& all() const { return all_; }
  [[nodiscard]] Membership& machine(ProcessorId id) { return *all_.at(id).machine; }
  [[nodiscard]] std::vector<ProcessorId> living() const {
    std::vector<ProcessorId> ids;
    for (const auto& [id, one] : all_) {
      if (one.machine && one.fate == Fate::kAlive) ids.push_back(id);
    }
    return ids;
  }
  [[nodiscard]] std::uint64_t waiting_newcomers() const { return newcomers_.size(); }
  [[nodiscard]] bool was_id_given_twice() const { return id_given_twice_; }
  /// Messages delivered so far, e.g. to see what a join costs.
  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }

  void at(Instant when, std::function<void()> what) { queue_.emplace(when, std::move(what)); }

  /// A process appears that asks members until one lets it in.
  void join() {
    const std::uint64_t incarnation = next_incarnation_++;
    newcomers_.insert(incarnation);
    ask(incarnation);
  }
  void leave(ProcessorId id) {
    const auto wish = [this, id](runtime::LeaveStep step) {
      input(id, [&](Membership& m, Membership::Outbox& out) { m.leave(now_, step, out); });
    };
    wish(runtime::LeaveStep::kMark);
    at(now_ + 250ms, [wish] { wish(runtime::LeaveStep::kEmptied); });
    at(now_ + 500ms, [wish] { wish(runtime::LeaveStep::kRemove); });
  }
  void kill(ProcessorId id) {
    One& one = all_.at(id);
    if (one.fate != Fate::kAlive) return;
    one.fate = Fate::kDead;
    one.died_at = now_;
    // Of what it sent to each, only the beginning arrives.
    for (auto& [pair, lane] : lanes_) {
      if (pair.first == id) lane.cut = lane.delivered + rng_.below(lane.sent - lane.delivered + 1);
    }
  }
  /// The channel of `id` to `accused` fails although that one lives; it recovers after `lasting`.
  void accuse(ProcessorId id, ProcessorId accused, Duration lasting) {
    input(id, [&](Membership& m, Membership::Outbox& out) {
      m.suspect(now_, accused, runtime::Departure::kSilent, "false", out);
    });
    at(now_ + lasting, [this, id, accused] {
      input(id, [&](Membership& m, Membership::Outbox& out) { m.trust(now_, accused, out); });
    });
  }
  void run_until(Instant end) {
    while (true) {
      std::optional<Instant> next;
      if (!queue_.empty()) next = queue_.begin()->first;
      std::optional<std::pair<ProcessorId, Membership::Timer>> due;
      for (const auto& [id, one] : all_) {
        for (const auto& [timer, when] : one.timers) {
          if (!next || when < *next) next = when, due = {id, timer};
        }
      }
      if (!next || *next > end) break;
      now_ = std::max(now_, *next);
      if (due) {
        all_.at(due->first).timers.erase(due->second);
        input(due->first, [this, timer = due->second](Membership& m, Membership::Outbox& out) {
          m.on_timer(now_, timer, out);
        });
        continue;
      }
      const auto what = std::move(queue_.begin()->second);
      queue_.erase(queue_.begin());
      what();
    }
    now_ = end;
  }

 private:
  static constexpr Duration kTick = 250ms;
  static constexpr std::uint64_t kNoCut = ~std::uint64_t{0};
  struct Lane {
    std::uint64_t sent = 0;
    std::uint64_t delivered = 0;
    std::uint64_t cut = kNoCut;  ///< The sender died: what follows is lost.
    Instant last_arrival;
  };

  static runtime::Member member(std::uint64_t incarnation, ProcessorId id = kNobody) {
    runtime::Member result{id, incarnation, {}, {}, false};
    result.endpoints = {"127.0.0.1:" + std::to_string(incarnation)};
    result.name = "m" + std::to_string(incarnation);
    return result;
  }
  Duration delay(Duration max) {
    return Duration(
        static_cast<Duration::rep>(rng_.below(static_cast<std::uint64_t>(max.count()))));
  }

  template <class Input>
  void input(ProcessorId id, Input&& what) {
    One& one = all_.at(id);
    if (!one.machine || one.fate != Fate::kAlive) return;
    Membership::Outbox out;
    what(*one.machine, out);
    one.machine->check_invariants();
    for (auto& item : out.take()) {
      if (auto* send = std::get_if<Membership::Outbox::Send>(&item)) {
        transfer(id, send->to, std::move(send->message));
      } else if (const auto* arm = std::get_if<Membership::Outbox::Arm>(&item)) {
        one.timers.erase(arm->timer);
        if (arm->at) one.timers[arm->timer] = *arm->at;
      } else {
        on_event(id, one, std::get<Membership::Event>(item));
      }
    }
    one.history[one.machine->view().number] = one.machine->view();
  }

  void on_event(ProcessorId id, One& one, const Membership::Event& event) {
    if (const auto* installed = std::get_if<Membership::ViewInstalled>(&event)) {
      for (const auto& gone : installed->gone) {
        if (gone.id == id) one.fate = Fate::kLeft;
      }
    } else if (const auto* admission = std::get_if<Membership::Admission>(&event)) {
      const auto& admitted = admission->admitted;
      const runtime::View snapshot = one.machine->view();
      const std::uint64_t incarnation = admitted.request;
      at(now_ + delay(800ms), [this, id, admitted, snapshot, incarnation] {
        // The reply is lost if the contact died meanwhile; the newcomer asks again.
        if (all_.at(id).fate == Fate::kDead || newcomers_.erase(incarnation) == 0) return;
        be_born(admitted.id, snapshot);
      });
    } else {
      one.fate = Fate::kFenced;
    }
    if (one.fate != Fate::kAlive) one.timers.clear();
  }

  void ask(std::uint64_t incarnation) {
    if (!newcomers_.contains(incarnation)) return;
    const auto members = living();
    if (!members.empty()) {
      const ProcessorId contact = members[rng_.below(members.size())];
      input(contact, [&](Membership& m, Membership::Outbox& out) {
        m.admit(now_, member(incarnation), incarnation, out);
      });
    }
    at(now_ + 4s, [this, incarnation] { ask(incarnation); });
  }

  void be_born(ProcessorId id, const runtime::View& view) {
    One& one = all_[id];
    if (one.machine) {
      id_given_twice_ = true;
      return;
    }
    if (one.fate != Fate::kAlive) return;
    if (!view.members.contains(id)) return;  // put out before it was born
    one.machine.emplace(id, view, runtime::MembershipOptions{});
    one.history[view.number] = view;
    input(id, [this](Membership& m, Membership::Outbox& out) { m.start(now_, out); });
    const auto mail = std::exchange(one.unborn_mail, {});
    for (const auto& deliver : mail) deliver();
  }

  void transfer(ProcessorId from, ProcessorId to, runtime::Envelope envelope) {
    if (std::holds_alternative<runtime::Heartbeat>(envelope)) {
      all_.at(from).noticed.try_emplace(to, now_ + 5s);  // Channels answer it or report
      return;
    }
    Lane& lane = lanes_[{from, to}];
    const std::uint64_t number = ++lane.sent;
    lane.last_arrival = std::max(lane.last_arrival, now_ + delay(200ms));
    at(lane.last_arrival, [this, from, to, number, envelope = std::move(envelope)] {
      One& one = all_[to];
      if (one.fate != Fate::kAlive) {
        if (all_.at(from).fate == Fate::kAlive) {
          all_.at(from).noticed.try_emplace(to, now_ + delay(5s));  // is not acknowledged
        }
        return;
      }
      if (!one.machine) {
        all_.at(from).noticed.try_emplace(to, now_ + 5s + delay(5s));
        one.unborn_mail.push_back(
            [this, from, to, number, envelope] { deliver(from, to, number, envelope); });
        return;
      }
      deliver(from, to, number, envelope);
    });
  }
  void deliver(ProcessorId from, ProcessorId to, std::uint64_t number,
               const runtime::Envelope& envelope) {
    Lane& lane = lanes_[{from, to}];
    if (number > lane.cut) return;
    lane.delivered = number;
    ++delivered_;
    if (is_gone(to, from) && !std::holds_alternative<runtime::Fenced>(envelope)) {
      transfer(to, from, all_.at(to).machine->fence());
      return;
    }
    if (is_gone(to, from)) return;
    input(to, [&](Membership& m, Membership::Outbox& out) {
      std::visit([&](const auto& message) { handle(m, from, message, out); }, envelope);
    });
  }
  [[nodiscard]] bool is_gone(ProcessorId by, ProcessorId id) const {
    const runtime::View& view = all_.at(by).machine->view();
    return !view.members.contains(id) && id.value < view.next_processor;
  }
  template <class M>
  void handle(Membership& m, ProcessorId from, const M& message, Membership::Outbox& out) {
    if constexpr (requires { m.on_message(now_, from, message, out); }) {
      m.on_message(now_, from, message, out);
    }
  }

  /// What Channels would notice: dead ones that are watched or were sent something.
  void tick() {
    for (const ProcessorId id : living()) {
      One& one = all_.at(id);
      for (const ProcessorId watched : one.machine->watched().ids()) {
        One& other = all_[watched];
        const bool is_silent = other.fate != Fate::kAlive || !other.machine;
        const Duration least = other.machine ? 100ms : 5s;  // a newcomer listens before it speaks
        if (is_silent) one.noticed.try_emplace(watched, now_ + least + delay(5s));
        // A watched one that has put the watcher out says so.
        if (!is_silent && is_gone(watched, id)) {
          transfer(watched, id, other.machine->fence());
        }
      }
      std::vector<ProcessorId> due;
      for (auto& [accused, when] : one.noticed) {
        if (when > now_) continue;
        due.push_back(accused);
        when = now_ + 5s;
      }
      for (const ProcessorId accused : due) {
        const One& other = all_[accused];
        if ((!one.machine->contains(accused) && !one.machine->watched().contains(accused)) ||
            (other.machine && other.fate == Fate::kAlive)) {
          one.noticed.erase(accused);
          continue;
        }
        const auto why =
            rng_.chance(0.5) ? runtime::Departure::kSilent : runtime::Departure::kConnectionLost;
        input(id, [&](Membership& m, Membership::Outbox& out) {
          m.suspect(now_, accused, why, "dead", out);
        });
      }
    }
    at(now_ + kTick, [this] { tick(); });
  }

  Rng rng_;
  Instant now_;
  std::map<ProcessorId, One> all_;
  std::map<std::pair<ProcessorId, ProcessorId>, Lane> lanes_;
  std::multimap<Instant, std::function<void()>> queue_;
  std::set<std::uint64_t> newcomers_;
  std::uint64_t next_incarnation_ = 5000;
  std::uint64_t delivered_ = 0;
  bool id_given_twice_ = false;
};

}  // namespace phx::support
