#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/rng.h"
#include "overlay/base/time.h"
#include "overlay/link_stats.h"
#include "overlay/messages.h"

namespace phx::overlay {

struct ProberOptions {
  /// Peers probed per change of the membership [Saito08 B].
  std::size_t candidates = 10;
  /// Of these, the nearest ones known, and those that others recommended; the rest is uniform.
  std::size_t nearest = 5;
  std::size_t recommended = 3;
  /// Changes that follow within this time count as one [Saito08 G18].
  Duration event_window = 1s;
  /// A round begins up to this much later, so that not everybody probes at once.
  Duration jitter = 50ms;
  /// A peer that does not answer within this time is passed over.
  Duration timeout = 2s;
  /// After a round, its suggestions and the nearest peers are asked again, this many times, this
  /// long apart: by then they have moved too.
  std::size_t looks = 3;
  Duration look_delay = 250ms;
  /// Further looks for suggestions that come when all is over, per round.
  std::size_t extra_looks = 3;
  /// Suggested peers probed per look.
  std::size_t suggestions = 10;
};

/// Measures round trips: one exchange at a time, each of as many pings as make a measurement, then
/// silence until something changes. [Saito08 B, G18]; states are drawn in the README.
///
/// Guarantees: per change a bounded number of pings; no timer is set when it has nothing to do.
/// Does not guarantee: that a given peer is ever probed.
/// Thread rule: one owner.
class Prober {
 public:
  enum class Timer : std::uint8_t { kRound, kLost };
  /// A finished exchange; the round trips went to the LinkStats.
  struct Probed {
    ProcessorId peer;
    std::vector<TreeAdvert> adverts;
    std::vector<ProcessorId> recommended;
  };
  /// All peers of a round were asked.
  struct RoundOver {};
  using Report = std::variant<Probed, RoundOver>;
  using Outbox = phx::Outbox<Probe, Timer, Report>;

  Prober(ProcessorId self, const ProberOptions& options, Rng rng);

  // Inputs.
  /// The processors that may be probed changed. `again`: also measure again.
  void on_members(Instant now, const ProcessorSet& live, bool again, Outbox& out);
  void on_reply(Instant now, ProcessorId from, ProbeReply reply, LinkStats& links, Outbox& out);
  void on_timer(Instant now, Timer timer, const LinkStats& links, Outbox& out);

  // Commands.
  /// Something happened that makes measuring worthwhile.
  void request(Instant now, Outbox& out);
  /// `peer` is worth a probe. Keeps a bounded number of suggestions; if nothing is under way, a
  /// bounded number of further looks is made for them.
  void suggest(Instant now, ProcessorId peer, Outbox& out);
  void stop(Outbox& out);

  // Queries.
  [[nodiscard]] bool is_idle() const { return !flight_ && queue_.empty() && !due_; }

 private:
  struct Flight {
    ProcessorId peer;
    std::uint64_t seq = 0;
    Instant sent;
  };

  void schedule(Instant at, Outbox& out);
  [[nodiscard]] std::vector<ProcessorId> draw(const LinkStats& links);
  void take_nearest(const LinkStats& links, std::vector<ProcessorId>& chosen) const;
  void take_uniform(std::size_t count, const LinkStats& links, std::vector<ProcessorId>& chosen);
  void take_suggestions(std::size_t count, std::vector<ProcessorId>& chosen);
  void next(Instant now, Outbox& out);
  void ping(Instant now, ProcessorId peer, Outbox& out);

  ProcessorId self_;
  ProberOptions options_;
  Rng rng_;
  ProcessorSet live_;
  std::vector<ProcessorId> queue_;        ///< Still to be asked in this round; last first.
  std::vector<ProcessorId> suggestions_;  ///< Oldest first.
  std::optional<Flight> flight_;
  std::optional<Instant> due_;         ///< When the next round or look begins.
  std::optional<Instant> last_round_;  ///< When the last full round began.
  bool wanted_ = false;                ///< The next one is a full round.
  std::size_t looks_left_ = 0;
  std::size_t extra_looks_left_ = 0;  ///< For suggestions that come when all is over.
  std::uint64_t next_seq_ = 1;
};

}  // namespace phx::overlay
