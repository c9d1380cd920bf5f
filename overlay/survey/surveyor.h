#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/rng.h"
#include "overlay/base/time.h"
#include "overlay/messages.h"
#include "overlay/survey/complaints.h"
#include "overlay/survey/rate_finder.h"
#include "overlay/survey/site_finder.h"
#include "overlay/survey/surveyor_options.h"
#include "overlay/survey/waits.h"

namespace phx::overlay {

/// Directs the survey of a mesh: rounds of tasks to whoever is in no site yet, until all are;
/// later patrols, which notice that a way has changed. [overlay/survey/README.md]
///
/// Guarantees: rounds grow with the logarithm of the number of sites; per round a processor has one
/// task. Thread rule: one owner.
class Surveyor {
 public:
  enum class Timer : std::uint8_t { kGather, kRound, kPatrol, kRates, kTell };
  /// The network is known anew.
  struct Found {};
  using Outbox = phx::Outbox<SurveyTask, Timer, Found>;

  Surveyor(ProcessorId self, const SurveyorOptions& options, Rng rng);

  // Inputs.
  void on_members(Instant now, const ProcessorSet& live, Outbox& out);
  /// Who shares a machine with whom, of those named next.
  void on_machines(const std::vector<ProcessorSet>& machines) { finder_.on_machines(machines); }
  void on_ready(Instant now, ProcessorId who, Outbox& out);  ///< It can be reached: place it.
  /// Somebody knows another network than this one: all are told, when a run is over.
  void insist(Instant now, Outbox& out);
  void on_report(Instant now, ProcessorId from, const SurveyReport& report, Outbox& out);
  /// The sender finds it much slower than known. If it is, all are told soon.
  void on_complaint(Instant now, const RateFinder::Download& download, const RateFinder::Rate& rate,
                    Outbox& out);
  /// A message waits so long at `who`, because it stands still now and then; 0: no more.
  void on_wait(Instant now, ProcessorId who, Duration wait, Outbox& out);
  void on_timer(Instant now, Timer timer, Outbox& out);

  // Commands.
  /// This processor is the surveyor from now on, and goes on from what is known.
  void begin(Instant now, const KnownNetwork& known, Outbox& out);
  void stop(Outbox& out);  ///< It is not any more.

  // Queries.
  [[nodiscard]] bool is_active() const { return is_active_; }
  [[nodiscard]] const KnownNetwork& network() const { return found_; }

 private:
  enum class Stage : std::uint8_t { kQuiet, kGathering, kRound, kLook, kPatrol, kRates };

  static void disarm_all(Outbox& out);
  void gather(Instant now, Outbox& out);
  void begin_run(Instant now);
  void forget_run();
  void begin_round(Instant now, Outbox& out);
  [[nodiscard]] bool is_placing() const;
  void begin_look(Instant now, Outbox& out);
  [[nodiscard]] SurveyTask look_task(const std::vector<std::vector<ProcessorId>>& sites);
  void begin_patrol(Instant now, Outbox& out);
  [[nodiscard]] Duration far(ProcessorId to, ProcessorId from) const;
  void begin_rates(Instant now, Outbox& out);
  [[nodiscard]] SurveyTask::Download glance(ProcessorId to, ProcessorId from) const;
  void add_glances(const std::vector<ProcessorId>& askers, std::vector<SurveyTask>& tasks);
  /// True: it is clear who is to blame for something slow.
  bool read_rates(ProcessorId from, const SurveyReport& report);
  void drop_queues();
  /// What is known now, of those who live.
  [[nodiscard]] KnownNetwork current() const;
  void ask(Instant now, const std::vector<SurveyTask>& tasks,
           const std::vector<ProcessorId>& askers, Outbox& out);
  void end_round(Instant now, Outbox& out);
  void end_run(Instant now, Outbox& out);
  void tell(Outbox& out);
  void tell_waits(Instant now, Outbox& out);
  /// Those who can be asked and are in no site.
  [[nodiscard]] ProcessorSet unplaced() const;
  [[nodiscard]] std::vector<ProcessorId> draw_candidates(const ProcessorSet& from);

  ProcessorId self_;
  SurveyorOptions options_;
  Rng rng_;
  SiteFinder finder_;
  ProcessorSet live_;
  ProcessorSet ready_;
  bool is_active_ = false;
  Stage stage_ = Stage::kQuiet;
  std::optional<Instant> changed_;  ///< The first change that is waited with.
  std::uint64_t round_ = 0;
  std::vector<ProcessorId> candidates_;
  ProcessorSet placed_before_;                           ///< When this run began, or looked last.
  ProcessorSet awaited_;                                 ///< Whose report is missing.
  ProcessorSet measured_;                                ///< Whose report is there.
  ProcessorSet busy_;                                    ///< Of these: had other traffic.
  ProcessorSet silent_;                                  ///< Did not report in this run.
  std::set<std::pair<ProcessorId, ProcessorId>> asked_;  ///< In this run: who measures whom.
  std::vector<SiteFinder::Sample> samples_;              ///< Of this run.
  std::vector<Duration> overheads_;
  RateFinder rates_;
  std::set<RateFinder::Download> downloads_;  ///< That were asked for, and not reported yet.
  bool is_doubtful_ = false;                  ///< Some of them because of doubts.
  KnownNetwork at_ask_;                       ///< What was known when they were asked for.
  Complaints complaints_;
  Waits waits_;
  std::optional<Instant> tell_at_;  ///< Of waits.
  Instant told_waits_at_;           ///< Last.
  std::uint64_t patrols_ = 0;
  std::size_t sites_before_ = 0;  ///< This run.
  std::uint32_t soon_ = 0;        ///< Patrols.
  Instant patrol_at_;             ///< The next one, if that is not past; newcomers put it off.
  std::uint64_t glanced_ = 0;     ///< Other sites so far, in turns.
  KnownNetwork found_;            ///< What all were told.
  bool insists_ = false;
  std::optional<Instant> again_at_;  ///< When the silent ones are asked again.
};

}  // namespace phx::overlay
