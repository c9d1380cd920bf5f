#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/channels/channels.h"

namespace phx::support {

/// Several Channels over links as the world has them: FIFO, but an unknown suffix is lost when one
/// breaks, and its ends notice at different times or not at all. Everything follows from the seed.
class LinkNet {
 public:
  struct Faults {
    double dial_fails = 0.2;
    double break_per_frame = 0.02;  ///< A link breaks when a frame is put on it.
    double end_notices = 0.7;       ///< Else that end of a broken link stays half-open.
    Duration delay_max = 50ms;
    Duration notice_max = 3s;
  };

  LinkNet(std::uint32_t processors, const Faults& faults, std::uint64_t seed,
          const runtime::ChannelOptions& options = {})
      : faults_(faults), rng_(seed) {
    for (std::uint32_t i = 1; i <= processors; ++i) {
      ends_.try_emplace(ProcessorId{i}, ProcessorId{i}, options);
    }
  }

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] runtime::Channels& channels(ProcessorId id) { return ends_.at(id).channels; }
  [[nodiscard]] const std::vector<runtime::Channels::Received>& received(ProcessorId id) const {
    return ends_.at(id).received;
  }
  [[nodiscard]] const std::vector<runtime::Channels::Unreachable>& reports(ProcessorId id) const {
    return ends_.at(id).reports;
  }
  Rng& rng() { return rng_; }
  void at(Instant when, std::function<void()> what) { queue_.emplace(when, std::move(what)); }

  void send(ProcessorId from, ProcessorId to, runtime::Envelope envelope) {
    channels(from).send(now_, to, std::move(envelope));
    execute(from);
  }
  /// The faults stop; links that are half-open already stay so.
  void heal() {
    faults_.dial_fails = 0;
    faults_.break_per_frame = 0;
    faults_.end_notices = 1;
  }
  /// Breaks every link of `id`; it will not be noticed at once.
  void break_links(ProcessorId id) {
    for (auto& [number, wire] : wires_) {
      if (wire->at[0].id == id || wire->at[1].id == id) break_wire(*wire);
    }
  }
  void run_until(Instant end) {
    while (const auto next = next_step()) {
      if (*next > end) break;
      step(*next);
    }
    now_ = end;
  }
  /// No event and no timer is left.
  [[nodiscard]] bool is_quiet() const { return !next_step(); }

 private:
  using Channels = runtime::Channels;
  struct End {
    End(ProcessorId self, const runtime::ChannelOptions& options)
        : channels(self, ProcessorSet{}, options) {}
    Channels channels;
    std::vector<Channels::Received> received;
    std::vector<Channels::Unreachable> reports;
    std::set<ProcessorId> dialling;
    std::uint64_t links = 0;
  };
  struct WireEnd {
    ProcessorId id;
    LinkId link;
    bool is_up = false;      ///< on_link_up was called.
    bool is_closed = false;  ///< Hung up here, or on_link_down was called.
    Instant last_arrival;    ///< Of frames towards this end: keeps them in order.
  };
  struct Wire {
    WireEnd at[2];  ///< The dialler, the acceptor.
    bool is_broken = false;
  };

  Duration delay(Duration max) {
    return Duration(
        static_cast<Duration::rep>(rng_.below(static_cast<std::uint64_t>(max.count()))));
  }
  [[nodiscard]] std::optional<Instant> next_step() const {
    std::optional<Instant> next;
    if (!queue_.empty()) next = queue_.begin()->first;
    for (const auto& [id, end] : ends_) {
      const auto deadline = end.channels.next_deadline();
      if (deadline && (!next || *deadline < *next)) next = deadline;
    }
    return next;
  }
  void step(Instant when) {
    now_ = std::max(now_, when);
    if (!queue_.empty() && queue_.begin()->first <= now_) {
      const auto what = std::move(queue_.begin()->second);
      queue_.erase(queue_.begin());
      what();
      return;
    }
    for (auto& [id, end] : ends_) {
      end.channels.on_deadline(now_);
      execute(id);
    }
  }

  void execute(ProcessorId id) {
    End& end = ends_.at(id);
    for (auto& output : end.channels.take_outputs()) {
      if (const auto* connect = std::get_if<Channels::Connect>(&output)) dial(id, connect->peer);
      if (const auto* hangup = std::get_if<runtime::Hangup>(&output)) hang_up(hangup->link, id);
      if (auto* transmit = std::get_if<runtime::Transmit>(&output)) {
        transfer(id, transmit->link, std::move(transmit->frame));
        if (transmit->tell) {
          at(now_ + delay(faults_.delay_max), [this, id, link = transmit->link] {
            ends_.at(id).channels.on_drained(now_, link);
            execute(id);
          });
        }
      }
      if (auto* got = std::get_if<Channels::Received>(&output)) end.received.push_back(*got);
      if (auto* report = std::get_if<Channels::Unreachable>(&output)) {
        end.reports.push_back(*report);
      }
    }
    end.channels.check_invariants();
  }

  void dial(ProcessorId from, ProcessorId to) {
    if (!ends_.at(from).dialling.insert(to).second) return;
    if (rng_.chance(faults_.dial_fails)) {
      at(now_ + delay(faults_.delay_max), [this, from, to] {
        ends_.at(from).dialling.erase(to);
        ends_.at(from).channels.on_dial_failed(now_, to, {}, "bad luck");
        execute(from);
      });
      return;
    }
    auto wire = std::make_shared<Wire>();
    wires_.emplace(wires_.size(), wire);
    wire->at[0].id = from;
    wire->at[1].id = to;
    for (std::size_t side = 0; side < 2; ++side) {
      const Instant up = now_ + delay(faults_.delay_max);
      wire->at[side].last_arrival = up;
      at(up, [this, wire, side] { raise(*wire, side); });
    }
  }
  void raise(Wire& wire, std::size_t side) {
    WireEnd& end = wire.at[side];
    const ProcessorId peer = wire.at[1 - side].id;
    if (side == 0) ends_.at(end.id).dialling.erase(peer);
    if (wire.is_broken) {
      end.is_closed = true;
      if (side == 0) ends_.at(end.id).channels.on_dial_failed(now_, peer, {}, "broke");
    } else {
      end.is_up = true;
      end.link = LinkId{peer, ++ends_.at(end.id).links};
      by_link_[{end.id, end.link}] = {&wire, side};
      ends_.at(end.id).channels.on_link_up(now_, end.link, side == 0);
    }
    execute(end.id);
  }
  void transfer(ProcessorId from, const LinkId& link, runtime::Frame frame) {
    const auto found = by_link_.find({from, link});
    if (found == by_link_.end()) return;
    const auto [wire, side] = found->second;
    if (wire->is_broken) return;
    WireEnd& to = wire->at[1 - side];
    to.last_arrival = std::max(to.last_arrival, now_ + delay(faults_.delay_max));
    at(to.last_arrival, [this, wire_at = wire, &to, frame = std::move(frame)] {
      // A random part of what was in flight still arrives after a break.
      if (to.is_closed || !to.is_up || (wire_at->is_broken && rng_.chance(0.3))) {
        to.is_closed = to.is_closed || wire_at->is_broken;
        return;
      }
      ends_.at(to.id).channels.on_frame(now_, to.link, runtime::Frame(frame));
      execute(to.id);
    });
    if (rng_.chance(faults_.break_per_frame)) break_wire(*wire);
  }
  void hang_up(const LinkId& link, ProcessorId id) {
    const auto found = by_link_.find({id, link});
    if (found == by_link_.end()) return;
    const auto [wire, side] = found->second;
    wire->at[side].is_closed = true;
    by_link_.erase(found);
    break_wire(*wire);
  }
  void break_wire(Wire& wire) {
    if (wire.is_broken) return;
    wire.is_broken = true;
    for (WireEnd& end : wire.at) {
      if (end.is_closed || !rng_.chance(faults_.end_notices)) continue;
      at(now_ + delay(faults_.notice_max), [this, &end] {
        if (!end.is_up || by_link_.erase({end.id, end.link}) == 0) return;
        end.is_closed = true;
        ends_.at(end.id).channels.on_link_down(now_, end.link);
        execute(end.id);
      });
    }
  }

  Faults faults_;
  Rng rng_;
  Instant now_;
  std::map<ProcessorId, End> ends_;
  std::map<std::size_t, std::shared_ptr<Wire>> wires_;
  std::map<std::pair<ProcessorId, LinkId>, std::pair<Wire*, std::size_t>> by_link_;
  std::multimap<Instant, std::function<void()>> queue_;
};

}  // namespace phx::support
