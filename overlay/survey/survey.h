#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/time.h"
#include "overlay/messages.h"
#include "overlay/survey/gauge.h"
#include "overlay/survey/rate_gauge.h"
#include "overlay/survey/surveyor.h"

namespace phx::overlay {

struct SurveyOptions {
  GaugeOptions gauge;
  RateGaugeOptions rates;
  SurveyorOptions surveyor;
};

/// Whether a message is for a Survey; else it is for the trees.
[[nodiscard]] bool is_of_survey(const Message& message);

/// One processor's part of the survey of a mesh, and what is known of its network: the same value
/// at all processors soon after each change. [overlay/survey/README.md]
///
/// Guarantees: a processor that was placed stays where it is as long as it lives; a newer value
/// replaces an older one, never the other way round.
/// Does not guarantee: that all processors have the same value at the same time.
/// Thread rule: one owner.
class Survey {
 public:
  struct Timer {
    std::variant<Gauge::Timer, RateGauge::Timer, Surveyor::Timer> of;
    friend constexpr auto operator<=>(const Timer&, const Timer&) = default;
  };
  /// network() is another one now.
  struct NetworkChanged {};
  using Outbox = phx::Outbox<Message, Timer, NetworkChanged>;

  /// `seed` and the inputs alone decide what happens.
  Survey(ProcessorId self, const SurveyOptions& options, std::uint64_t seed);

  // Inputs. Stale messages and timers change nothing.
  /// Those who may be measured, self included; the first of them directs it.
  void on_members(Instant now, const ProcessorSet& live, Outbox& out);
  /// What is not of surveys is ignored.
  void on_message(Instant now, ProcessorId from, const Message& message, Outbox& out);
  void on_timer(Instant now, const Timer& timer, Outbox& out);

  // Commands.
  /// Measures nothing any more, but answers those who do.
  void leave(Instant now, Outbox& out);

  // Queries.
  /// Without sites: nothing is known yet. May name processors that are gone.
  [[nodiscard]] const KnownNetwork& network() const { return network_; }
  [[nodiscard]] NetworkVersion version() const { return version_; }

 private:
  void handle(Instant now, ProcessorId from, const Ping& m, Outbox& out);
  void handle(Instant now, ProcessorId from, const SurveyTask& m, Outbox& out);
  void handle(Instant now, ProcessorId from, const SurveyReport& m, Outbox& out);
  void handle(Instant now, ProcessorId from, const NetworkUpdate& m, Outbox& out);
  void handle(Instant now, ProcessorId from, const Fetch& m, Outbox& out);
  void handle(Instant now, ProcessorId from, const Load& m, Outbox& out);
  template <class From, class OnEvent>
  void absorb_items(From& from, Outbox& out, OnEvent on_event);
  void absorb(Instant now, Gauge::Outbox& from, Outbox& out);
  void absorb(RateGauge::Outbox& from, Outbox& out);
  void absorb(Surveyor::Outbox& from, Outbox& out);
  void publish(Outbox& out);
  [[nodiscard]] bool is_believable(ProcessorId from, const NetworkUpdate& m) const;

  ProcessorId self_;
  Gauge gauge_;
  RateGauge rate_gauge_;
  Surveyor surveyor_;
  ProcessorSet live_;
  std::size_t sites_max_;
  std::vector<SurveyTask::Download> downloads_;  ///< Of the task, after its round trips.
  std::optional<Gauge::Done> report_;            ///< Waits for them.
  ProcessorId told_;                             ///< The surveyor that knows of this processor.
  KnownNetwork network_;
  NetworkVersion version_;
  bool is_leaving_ = false;
};

}  // namespace phx::overlay
