#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/time.h"
#include "overlay/messages.h"
#include "overlay/rate_gauge_options.h"

namespace phx::overlay {

/// Bytes that this processor has taken from others, and sent to them, so far.
struct Traffic {
  std::uint64_t taken = 0;
  std::uint64_t sent = 0;

  /// What it is more than `before`.
  [[nodiscard]] Traffic since(const Traffic& before) const {
    return {taken - std::min(taken, before.taken), sent - std::min(sent, before.sent)};
  }
};

/// Whether traffic of `all` fills a place that is `width` wide, so that a `rate` measured beside it
/// tells nothing of the place. In bytes per second.
[[nodiscard]] bool fills_beside(std::uint64_t all, std::uint64_t rate, std::uint64_t width);

/// Measures how fast others can send here, one after the other; and sends to others that measure.
/// The first half of the bytes fills the way, the second half is timed. Of a long way it may have
/// waited a round trip for TCP's window, so what is known is between two rates, which are one if
/// the way is narrow and its bytes came evenly. Between tasks it warms ways: that makes TCP's
/// window wide [survey/README, "Warm ways"]. Thread rule: one owner.
class RateGauge {
 public:
  enum class Timer : std::uint8_t { kPatience, kWarm };
  /// A task is over. Who could not be measured is missing.
  struct Done {
    std::vector<SurveyReport::Rate> rates;
  };
  using Outbox = phx::Outbox<Message, Timer, Done>;

  explicit RateGauge(const RateGaugeOptions& options) : options_(options) {}

  // Inputs. What nobody asked for changes nothing.
  /// A newer task replaces an older one.
  void on_task(Instant now, const std::vector<SurveyTask::Download>& downloads, Outbox& out);
  void on_fetch(Instant now, ProcessorId from, const Fetch& request, Outbox& out);
  void on_load(Instant now, ProcessorId from, const Load& load, Outbox& out);
  void on_traffic(const Traffic& traffic) { traffic_ = traffic; }  ///< At the next input.
  /// All of it but downloads.
  [[nodiscard]] Traffic other_traffic() const { return traffic_.since(loads_); }
  void on_timer(Instant now, Timer timer, Outbox& out);
  /// Nothing comes from those who are not in `live`.
  void on_members(Instant now, const ProcessorSet& live, Outbox& out);

  // Commands.
  void stop(Outbox& out);
  /// Downloads so much at once from there, at `due` or later, when no task wants anything. Of what
  /// is wanted from one processor meanwhile only the most is downloaded.
  void warm(ProcessorId from, std::uint64_t bytes, Instant due, Outbox& out);
  /// That way has become warm by itself.
  void spare(ProcessorId from);
  /// Part of a long message came. While they come nothing is warmed, for a while.
  void on_bulk(Instant now) { bulk_at_ = now; }
  /// This processor can take so much per second, as far as it is known.
  void on_interface(std::uint64_t bytes_per_second) { interface_ = bytes_per_second; }
  /// What it has asked for there is on its way, perhaps over a connection made for it.
  [[nodiscard]] bool is_warming(ProcessorId from) const {
    return flight_ && flight_->is_warming && flight_->from == from;
  }
  void leave(Outbox& out);  ///< Stops, and warms nothing any more.

  /// Bytes per second, as far as rates are told apart.
  [[nodiscard]] std::uint64_t rate_of(std::uint64_t bytes, Duration time) const;

 private:
  /// One download.
  struct Flight {
    ProcessorId from;
    bool is_warming = false;  ///< Of no task, and not measured.
    bool grows = false;       ///< Until it is sure.
    Duration round_trip{};
    std::uint64_t number = 0;
    Instant asked;            ///< When it was asked for.
    std::uint64_t bytes = 0;  ///< Asked for, ...
    std::uint64_t got = 0;    ///< and come so far; ...
    std::uint64_t late = 0;   ///< of what was asked for before.
    std::optional<Instant> half_at;
    Instant last_at;  ///< Some of them came; since half of them were there ...
    Duration gap{};   ///< ... for so long none at most, and at least.
    Duration least_gap = Duration::max();
    std::uint64_t half_got = 0;
    std::uint64_t half_taken = 0;  ///< Or when it was asked for.
    SurveyReport::Rate rate;  ///< As it was measured last; 0: not yet.
  };

  /// To be downloaded to warm a way, but not before.
  struct Cold {
    ProcessorId from;
    std::uint64_t bytes = 0;
    Instant due;
  };

  void launch(Instant now, Outbox& out);
  void launch_cold(Instant now, Outbox& out);
  [[nodiscard]] std::optional<Instant> waits_for_stream(Instant now);
  [[nodiscard]] bool is_full(Duration waited) const;
  [[nodiscard]] static Duration longer(const Flight& flight);
  void begin(Instant now, const Flight& flight, Outbox& out);
  void request(Instant now, Outbox& out);
  void on_complete(Instant now, Outbox& out);
  [[nodiscard]] static Duration waited(const Flight& flight, Duration elapsed);
  [[nodiscard]] bool is_slow(const Flight& flight, Duration counted) const;
  [[nodiscard]] bool is_sure(const Flight& flight, std::uint64_t before, Duration counted) const;
  [[nodiscard]] bool is_worth_more(const Flight& flight, Duration elapsed) const;
  void close(Instant now, Outbox& out);
  void close_late(Instant now, Outbox& out);
  void finish(Instant now, Outbox& out);

  RateGaugeOptions options_;
  ProcessorSet live_;
  bool is_busy_ = false;
  std::deque<SurveyTask::Download> queue_;
  std::optional<Flight> flight_;
  std::vector<SurveyReport::Rate> rates_;
  std::deque<Cold> cold_;
  Instant bulk_at_;  ///< Part of a long message came last.
  std::uint64_t interface_ = ~std::uint64_t{0};
  std::optional<Instant> stream_since_;  ///< Since then what is cold waits for long messages.
  Traffic before_stream_;
  std::uint64_t next_ = 1;
  Traffic traffic_;
  Traffic loads_;  ///< Of these: downloads.
  struct Served {
    Instant at;
    std::uint64_t sent = 0;  ///< To all, at that time.
  };
  std::map<ProcessorId, Served> last_served_;
  Instant served_since_;
  std::uint64_t served_ = 0;
};

}  // namespace phx::overlay
