#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/time.h"
#include "overlay/messages.h"
#include "overlay/rate_gauge.h"
#include "overlay/rate_stats.h"

namespace phx::overlay {

struct DownloadsOptions {
  /// Many measure, so nothing is worth more bytes.
  RateGaugeOptions gauge = {.far_limit = RateGaugeOptions{}.far_most};
  /// Candidates measured per change of the members, beside the parents [limit] [Saito08 B].
  std::size_t candidates = 10;
  /// Peers that wait to be measured here, and askers that wait for their turn [limits].
  std::size_t queue_max = 16;
  std::size_t waiting_max = 64;
  /// Who could not be measured is not asked again for so long, twice as long after the second time,
  /// and so on; and so often at most per change of the members [limit].
  Duration pause = 1s;
  std::uint32_t failures_max = 6;
  /// What was measured so long ago is measured again when it is asked for.
  Duration fresh = 60s;
  /// An asker has its turn until it says that it has enough, or has asked for nothing for so long;
  /// and never longer than `turn_most`, after which nobody waits for an answer any more.
  Duration turn = 300ms;
  Duration turn_most = 2s;
  /// Longer ways between sites: TCP may lose a round trip by waiting.
  Duration far = 1ms;
  /// Nothing is measured until no long message came for so long, or it has waited so long for that.
  Duration quiet = 200ms;
  Duration quiet_most = 2s;
};

/// Measures how fast peers can send here, one after the other; sends to those who measure, one
/// after the other too, because two would each see half of what there is. [Saito08 D, G18; README]
///
/// Guarantees: a bounded number of downloads per change of the members and of parents.
/// Thread rule: one owner.
class Downloads {
 public:
  enum class Timer : std::uint8_t { kPatience, kTurn, kQuiet };
  /// rates() knows `peer` now.
  struct Measured {
    ProcessorId peer;
  };
  /// It could not be measured. Who still needs to know requests it again; it will wait.
  struct Failed {
    ProcessorId peer;
  };
  using Report = std::variant<Measured, Failed>;
  using Outbox = phx::Outbox<Message, Timer, Report>;

  explicit Downloads(const DownloadsOptions& options)
      : options_(options), gauge_(options.gauge), left_(options.candidates) {}

  // Inputs. What nobody asked for changes nothing.
  void on_members(Instant now, const ProcessorSet& live, Outbox& out);
  void on_message(Instant now, ProcessorId from, const Fetch& m, Outbox& out);
  void on_message(Instant now, ProcessorId from, const Load& m, Outbox& out);
  void on_timer(Instant now, Timer timer, Outbox& out);
  /// As it is at the message that follows.
  void on_traffic(const Traffic& traffic) { gauge_.on_traffic(traffic); }
  /// Part of a long message came.
  void on_bulk(Instant now) { bulk_at_ = now; }

  // Commands.
  /// `peer` is to be measured: as a parent always, as a candidate while there are some left.
  void request(Instant now, ProcessorId peer, Duration round_trip, bool is_parent, Outbox& out);
  void stop(Outbox& out);

  // Queries.
  [[nodiscard]] const RateStats& rates() const { return rates_; }
  [[nodiscard]] bool is_idle() const { return !flight_ && queue_.empty() && !turn_; }

 private:
  struct Wanted {
    ProcessorId peer;
    Duration round_trip{};  ///< 0 if near.
    Instant since;          ///< Not before.
  };
  struct Failures {
    std::uint32_t count = 0;
    Instant until;  ///< The pause after the last one.
  };

  void launch(Instant now, Outbox& out);
  void serve(Instant now, ProcessorId asker, const Fetch& m, Outbox& out);
  void next_turn(Instant now, Outbox& out);
  void pump(Instant now, RateGauge::Outbox& from, Outbox& out);
  void finish(Instant now, const RateGauge::Done& done, Outbox& out);

  DownloadsOptions options_;
  RateGauge gauge_;
  RateStats rates_;
  ProcessorSet live_;
  std::size_t left_;  ///< Candidates that may be measured still.
  std::deque<Wanted> queue_;
  std::map<ProcessorId, Failures> failures_;  ///< Since the members changed.
  std::optional<ProcessorId> flight_;
  std::optional<ProcessorId> turn_;  ///< Whose it is, ...
  Instant turn_end_;                 ///< and until when at most.
  std::deque<std::pair<ProcessorId, Fetch>> waiting_;
  Instant bulk_at_;
};

}  // namespace phx::overlay
