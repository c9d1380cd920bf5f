#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/time.h"
#include "overlay/messages.h"
#include "overlay/rate_gauge.h"
#include "overlay/survey/gauge.h"
#include "overlay/survey/standstills.h"
#include "overlay/survey/survey_options.h"
#include "overlay/survey/surveyor.h"

namespace phx::overlay {

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
    std::variant<Gauge::Timer, RateGauge::Timer, Standstills::Timer, Surveyor::Timer> of;
    friend constexpr auto operator<=>(const Timer&, const Timer&) = default;
  };
  /// network() is another one now.
  struct NetworkChanged {};
  using Outbox = phx::Outbox<Message, Timer, NetworkChanged>;

  /// `seed` and the inputs alone decide what happens.
  Survey(ProcessorId self, const SurveyOptions& options, std::uint64_t seed);

  // Inputs. Stale messages and timers change nothing.
  /// As it is at the message or timer that follows.
  void on_traffic(const Traffic& traffic) { rate_gauge_.on_traffic(traffic); }
  /// Who shares a machine with whom, of the members named next. Needed where these are directed.
  void on_machines(const std::vector<ProcessorSet>& machines) { surveyor_.on_machines(machines); }
  /// Those who may be measured, self included; the first of them directs it.
  void on_members(Instant now, const ProcessorSet& live, Outbox& out);
  /// What is not of surveys is ignored.
  void on_message(Instant now, ProcessorId from, const Message& message, Outbox& out);
  void on_timer(Instant now, const Timer& timer, Outbox& out);
  /// So much of a long message came from there: what comes together a long way shall carry at once.
  void on_heard(Instant now, ProcessorId from, std::uint64_t bytes, Outbox& out);
  /// So much may come from there together soon.
  void expect(Instant now, ProcessorId from, std::uint64_t bytes, Outbox& out);
  /// There is a new connection to it.
  void on_connected(ProcessorId peer) {
    if (!rate_gauge_.is_warming(peer)) heard_.erase(peer);
  }

  /// Bytes per second: of the link to a peer, for which more waits, and of all links together.
  struct Pace {
    std::uint64_t one = 0;
    std::uint64_t all = 0;
  };
  void on_paced(Instant now, ProcessorId peer, const Pace& pace, Outbox& out);
  /// Any timer of this processor fired so late.
  void on_late(Instant now, Duration late, Outbox& out);

  // Commands.
  /// Measures nothing any more, but answers those who do.
  void leave(Instant now, Outbox& out);
  /// By somebody who knows it, the network is this, whatever is measured. Counts here alone.
  /// REQUIRES a network whose check() succeeds.
  void give(const KnownNetwork& network, Outbox& out);

  // Queries.
  /// Without sites: nothing is known yet. May name processors that are gone.
  [[nodiscard]] const KnownNetwork& network() const { return given_ ? *given_ : network_; }
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
  void absorb(Instant now, Surveyor::Outbox& from, Outbox& out);
  void absorb(Instant now, Standstills::Outbox& from, Outbox& out);
  void tell_surveyor(Instant now, const SurveyReport& report, Outbox& out);
  void publish(Instant now, Outbox& out);
  void on_network(Instant now, Outbox& out);
  [[nodiscard]] bool can_be_warmer(ProcessorId from) const;
  /// What comes together and is more would be warmed alike.
  [[nodiscard]] std::uint64_t warmed_most() const {
    return options_.warm_most / options_.warm_times;
  }
  void warm(Instant now, ProcessorId from, Outbox& out);
  [[nodiscard]] std::optional<std::uint64_t> warming(ProcessorId from, std::uint64_t bytes) const;
  [[nodiscard]] bool is_believable(ProcessorId from, const NetworkUpdate& m) const;

  ProcessorId self_;
  Gauge gauge_;
  RateGauge rate_gauge_;
  Standstills standstills_;
  Surveyor surveyor_;
  ProcessorSet live_;
  SurveyOptions options_;
  Traffic traffic_at_task_;  ///< When the task came.
  Instant task_at_;
  std::vector<SurveyTask::Download> downloads_;  ///< Of the task, after its round trips.
  std::optional<Gauge::Done> report_;            ///< Waits for them.
  struct Heard {
    std::uint64_t bytes = 0;  ///< The most that the connection was heard to carry at once.
    std::uint64_t burst = 0;  ///< What came lately, ...
    Instant begun_at;         ///< since then.
    bool is_warm = false;     ///< Or will be soon, or need not be.
  };
  std::map<ProcessorId, Heard> heard_;   ///< Of those who are in a site.
  std::map<ProcessorId, Instant> slow_;  ///< Links that were told of as slow, and when.
  ProcessorId told_;                     ///< The surveyor that knows of this processor.
  KnownNetwork network_;                 ///< As measured.
  NetworkVersion version_;
  std::optional<KnownNetwork> given_;
  bool is_leaving_ = false;
};

}  // namespace phx::overlay
