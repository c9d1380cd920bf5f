#pragma once

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
#include "overlay/base/rng.h"
#include "overlay/base/time.h"
#include "runtime/channels/channel_outputs.h"
#include "runtime/channels/deadlines.h"
#include "runtime/channels/detour_options.h"
#include "runtime/channels/detour_search.h"
#include "runtime/messages/effect.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// The way from this processor to another one: a connection, or a detour, which is a link that
/// leads through a third processor. Sits between Channels and the driver; as a relay it only
/// forwards. Protocol and arguments: runtime/channels/README.md, "Detours". No I/O; not
/// thread-safe.
///
/// Guarantees: every connect() is answered by a link that comes up, or by DialFailed; a frame
/// passes at most one relay; a relay keeps no frame. Does not guarantee: that a frame on a detour
/// arrives. Channels repair that as on any link.
class Detours {
 public:
  using DialFailure = channel::DialFailure;
  struct Connect {  ///< Dial this peer; the daemon knows its addresses.
    ProcessorId peer;
  };
  struct LinkUp {
    LinkId link;
    bool dialled = false;
  };
  struct LinkDown {
    LinkId link;
  };
  struct DialFailed {
    ProcessorId peer;
    DialFailure how = DialFailure::kNoWay;
    std::string why;
  };
  struct Arrived {
    LinkId link;
    Frame frame;
  };
  using Output = std::variant<Connect, LinkUp, LinkDown, DialFailed, Arrived, Transmit, Note>;

  Detours(ProcessorId self, Rng rng, const DetourOptions& options)
      : self_(self), options_(options), rng_(rng) {}

  // Inputs. `now` never goes back.
  /// Any of them can be a relay.
  void on_members(const ProcessorSet& members);
  /// Nothing arrives there any more: others are asked at once when a link is wanted again.
  void distrust(ProcessorId peer) { hard_to_reach_.insert(peer); }
  /// A link to `peer` is wanted. Ignored while one is sought.
  void connect(Instant now, ProcessorId peer);
  /// A connection came up. Links of Channels that lead through its peer may follow.
  void on_connection_up(LinkId link, bool dialled);
  void on_connection_down(LinkId link);
  /// kGone: nobody else can help.
  void on_dial_failed(Instant now, ProcessorId peer, DialFailure how, const std::string& why);
  /// A frame with a passage came over the connection `link`.
  void on_passage(Instant now, LinkId link, Frame frame);
  /// Channels want this link closed, connection or detour.
  void hang_up(LinkId link);
  /// Sends on a detour.
  void transmit(LinkId link, Frame frame);
  void on_deadline(Instant now);

  // Queries.
  [[nodiscard]] std::optional<Instant> next_deadline() const { return deadlines_.next(); }
  [[nodiscard]] bool has_outputs() const { return !outputs_.empty(); }
  [[nodiscard]] std::vector<Output> take_outputs() { return std::exchange(outputs_, {}); }
  /// There is a connection, or a detour.
  [[nodiscard]] bool has_way(ProcessorId peer) const {
    return is_connected(peer) || has_detour(peer);
  }
  /// Whom this processor reaches only through another one: peer -> relay.
  [[nodiscard]] std::map<ProcessorId, ProcessorId> in_use() const;
  [[nodiscard]] const DetourCounters& counters() const { return counters_; }
  void check_invariants() const;

 private:
  enum class Timer : std::uint8_t { kSeek, kGiveUp, kRetry };
  using Key = std::pair<ProcessorId, Timer>;
  using Connections = std::map<ProcessorId, std::vector<LinkId>>;

  using Seek = DetourSearch;
  /// What a relay remembers of a peer that it dials for others.
  struct Favour {
    std::vector<Passage> waiting;
    Instant failed_at{};
  };

  void dial(ProcessorId peer, Seek& seek);
  void seek_detour(Instant now, ProcessorId peer);
  void ask_more(Instant now, ProcessorId peer);
  void widen(DetourRound& round) const;
  void ask(ProcessorId relay, ProcessorId peer, std::uint64_t number);
  [[nodiscard]] std::vector<ProcessorId> candidates(ProcessorId peer) const;
  void on_no(ProcessorId relay, ProcessorId peer, std::uint64_t number);
  void fail_if_over(ProcessorId peer);
  void fail(ProcessorId peer);
  void relay(Instant now, LinkId link, Frame frame);
  void accept(ProcessorId relay, const Passage& passage);
  void take(Instant now, ProcessorId relay, Frame frame);
  void come_up(Instant now, LinkId link, bool dialled);
  void go_down(LinkId link);
  void lose_relay(ProcessorId relay);
  void tell(ProcessorId via, const Passage& passage);
  void retry_later(Instant now, ProcessorId peer);
  void retry(ProcessorId peer);
  [[nodiscard]] bool is_connected(ProcessorId peer) const { return connections_.contains(peer); }
  [[nodiscard]] bool has_detour(ProcessorId peer) const;

  ProcessorId self_;
  DetourOptions options_;
  Rng rng_;
  ProcessorSet members_;
  Connections connections_;  ///< Per peer; frames for others go over the last one.
  std::map<ProcessorId, Seek> seeks_;
  std::map<ProcessorId, Favour> favours_;
  std::set<LinkId> detours_;                ///< Links through others that are up.
  std::map<ProcessorId, LinkId> offers_;    ///< Accepted, and not yet used by who asked.
  std::set<ProcessorId> hard_to_reach_;     ///< The last dial failed: a detour is sought at once.
  std::map<ProcessorId, Duration> pauses_;  ///< Before the next dial of one reached by a detour.
  std::map<ProcessorId, DetourRound> rounds_;
  Deadlines<Key> deadlines_;
  std::vector<Output> outputs_;
  DetourCounters counters_;
};

}  // namespace phx::runtime
