#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/spare_room.h"
#include "overlay/base/time.h"
#include "runtime/channels/channel_options.h"
#include "runtime/channels/channel_outputs.h"
#include "runtime/channels/channel_peer.h"
#include "runtime/channels/deadlines.h"
#include "runtime/channels/newcomers.h"
#include "runtime/messages/effect.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// A reliable way for envelopes from this processor to each other one, over links that break:
/// connections, or detours of Detours. What waits for a link leaves in the order of its classes.
/// Protocol, states and arguments: runtime/channels/README.md. No I/O; not thread-safe: one owner.
///
/// Guarantees: every envelope sent to a peer is Received there once, and each flow in its order, as
/// long as both live and a link can be made; a peer that is needed and cannot be reached is
/// reported. Does not guarantee: that it is dead (Membership decides); that it is announced first.
class Channels {
 public:
  using DialFailure = channel::DialFailure;
  using Connect = channel::Connect;
  using Received = channel::Received;
  using Unreachable = channel::Unreachable;
  using Reachable = channel::Reachable;
  using Stranger = channel::Stranger;
  using Stalled = channel::Stalled;
  using Up = channel::Up;
  using Down = channel::Down;
  using Output = std::variant<Connect, Hangup, Transmit, Received, Unreachable, Reachable, Stranger,
                              Stalled, channel::Late, channel::Paced, Up, Down, Note>;

  /// `gone`: processors that were members once; those that speak are strangers.
  Channels(ProcessorId self, ProcessorSet gone, const ChannelOptions& options);

  // Inputs. `now` never goes back.
  /// O(1). Dropped, and counted, if `peer` was forgotten. REQUIRES peer != self.
  void send(Instant now, ProcessorId peer, Envelope&& envelope);
  void open(Instant now, ProcessorId peer);  ///< Dials once, if there is no link. Accuses nobody.
  void on_link_up(Instant now, LinkId link, bool dialled);  ///< `dialled`: by this side.
  void on_link_down(Instant now, LinkId link);
  void on_dial_failed(Instant now, ProcessorId peer, DialFailure how, const std::string& why);
  void doubt(Instant now, ProcessorId peer);  ///< Others accuse it: refusals here confirm that.
  void on_frame(Instant now, LinkId link, Frame&& frame);
  void on_drained(Instant now, LinkId link, std::size_t parts = 1);  ///< Left [Transmit::tell].
  void on_activity(Instant now, LinkId link);  ///< Bytes of a large frame moved; each 100 ms or so.
  void on_service(Instant now, LinkId link);  ///< It carries frames of others: it is not idle.
  void watch(Instant now, const ProcessorSet& peers);  ///< Exactly these, also in silence.
  void know_fellows(const ProcessorSet& peers) { fellows_ = peers; }  ///< On this machine.
  /// Members up to `last`: those that were not named before may still have to start.
  void expect(Instant now, ProcessorId last);
  /// `peer` is no member any more: drops what is queued; its links live on for `linger`.
  /// Gives back what the peer has not confirmed: if it left in good order, it did not take it.
  std::vector<Envelope> forget(Instant now, ProcessorId peer);
  void refuse(Instant now, LinkId link, Fenced fenced);  ///< The last word to a stranger.
  void confirm_all();  ///< Acknowledges what is owed: a drain's end waits for no quiet moment.
  void on_deadline(Instant now);

  // Queries.
  [[nodiscard]] std::optional<Instant> next_deadline() const { return deadlines_.next(); }
  /// What happened, in this order; empty afterwards. Dealt with, it is given back as room.
  [[nodiscard]] std::vector<Output> take_outputs() { return room_.take_from(outputs_); }
  void give_back(std::vector<Output>&& room) { room_.give_back(std::move(room)); }
  [[nodiscard]] std::uint64_t queued_bytes(ProcessorId peer) const;  ///< Not acknowledged yet.
  /// Copies of broadcasts that wait for the link to it; what is under way is not one of them.
  [[nodiscard]] std::uint64_t queued_copies(ProcessorId peer) const;
  /// A peer does not keep up: read less from applications. O(1).
  [[nodiscard]] bool congested() const { return !congested_.empty(); }
  [[nodiscard]] bool all_acknowledged() const;  ///< In both directions: for the end of a drain.
  /// The number of the last envelope to each peer; whether all arrived, but at forgotten ones.
  /// What waits is put in order for that: what is sent later overtakes nothing of it.
  [[nodiscard]] ChannelMarks marks();
  [[nodiscard]] bool has_acknowledged(ChannelMarks& marks) const;  ///< Forgets those.
  [[nodiscard]] std::uint64_t links_up() const;
  [[nodiscard]] const ChannelCounters& counters() const { return counters_; }
  [[nodiscard]] std::vector<ProcessorId> peers() const;  ///< Not forgotten; members or not.
  void check_invariants() const;

 private:
  enum class Timer : std::uint8_t { kAck, kDial, kStall, kBeat, kGiveUp, kSurplus, kIdle, kLinger };
  using Key = std::pair<ProcessorId, Timer>;

  void on_timer(Instant now, ProcessorId id, Timer timer);  // channels_timers.cc
  void on_ack_due(Instant now, ChannelPeer& peer);
  void on_dial_due(Instant now, ChannelPeer& peer);
  void on_stall_due(Instant now, ChannelPeer& peer);
  void on_beat_due(Instant now, ChannelPeer& peer);
  void on_give_up_due(Instant now, ChannelPeer& peer);
  void on_surplus_due(Instant now, ChannelPeer& peer);
  void on_idle_due(Instant now, ChannelPeer& peer);
  void on_linger_due(ProcessorId id);

  [[nodiscard]] ChannelPeer& peer_at(ProcessorId id);
  [[nodiscard]] ChannelPeer* find(ProcessorId id);
  void arm(const ChannelPeer& peer, Timer timer, Instant at);
  void enqueue(Instant now, ChannelPeer& peer, Envelope&& envelope);
  void pump(Instant now, ChannelPeer& peer, bool is_last = false);
  void put_on_link(Instant now, ChannelPeer& peer);
  void confirm(ChannelPeer& peer);
  void take_envelope(Instant now, ChannelPeer& peer, LinkId link, Frame&& frame);
  [[nodiscard]] bool take_confirmation(Instant now, ChannelPeer& peer, std::uint64_t received);
  void take_first_frame(Instant now, ChannelPeer& peer, ChannelLink& link, const Frame& frame);
  void on_violation(Instant now, ChannelPeer& peer, LinkId link, const char* what);
  void on_stranger_frame(LinkId link, const Frame& frame);
  void add_link(Instant now, ChannelPeer& peer, const ChannelLink& fresh);
  void hang_up(Instant now, ChannelPeer& peer, LinkId link);
  void lose(Instant now, ChannelPeer& peer, LinkId link);
  void renew_up(ChannelPeer& peer);
  void dial(Instant now, ChannelPeer& peer);
  void dial_soon(Instant now, ChannelPeer& peer);
  [[nodiscard]] bool is_heard_outside(Instant since) const;
  void report(Instant now, ChannelPeer& peer, Departure why, std::string detail);
  [[nodiscard]] Duration patience(Instant now, const ChannelPeer& peer, Duration base) const;
  [[nodiscard]] Duration timeout(Instant now, const ChannelPeer& peer) const;
  void on_late(Instant now, Duration late);

  ProcessorId self_;
  ChannelOptions options_;
  std::uint64_t share_told_ = 0;  ///< That of the link which was full last; 0: none was yet.
  std::map<ProcessorId, ChannelPeer> peers_;
  ProcessorSet gone_;
  std::set<ProcessorId> congested_;
  std::set<ProcessorId> owed_;  ///< All to whom an acknowledgement is owed, and perhaps others.
  ProcessorSet watched_, fellows_;
  Newcomers newcomers_;
  Lateness lateness_;                                         ///< Of this processor.
  std::optional<Instant> late_at_;                            ///< A timer was late last.
  std::map<LinkId, StrangerLink> strangers_;
  Deadlines<Key> deadlines_;
  std::vector<Output> outputs_;
  SpareRoom<Output> room_;
  ChannelCounters counters_;
};

}  // namespace phx::runtime
