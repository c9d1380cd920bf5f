#pragma once

#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/jobs/surroundings.h"
#include "runtime/messages/job_messages.h"

namespace phx::runtime {

/// It runs, or is being started.
[[nodiscard]] bool takes_part(Stage stage);
/// Its program is done there. That stays so, whatever becomes of the processor.
[[nodiscard]] bool is_over(Stage stage);

/// What is known of one job's processes at all processors, the one here included; of processors
/// that are gone only the ends. `kStarting` with change 0: chosen, and has not answered yet; no
/// entry, or `kNone` with change 0: was never chosen. Not thread-safe.
class StageTable {
 public:
  /// The processors that the job begins with are chosen.
  StageTable(ProcessorId self, const JobStart& start);

  void put(ProcessorId processor, JobStage stage) { runs_.put(processor, std::move(stage)); }
  /// Statements come on several ways; the processor concerned has numbered them, and says most.
  /// A choice is learned from nobody: it concerns the home that chose, and the one that is chosen.
  /// `is_own`: by the processor concerned.
  void learn(const Surroundings& around, const JobStages::Run& said, bool is_own);
  /// It is no member any more.
  void on_gone(ProcessorId processor);
  /// At the home: marks those that are to start the program and were not chosen before, and returns
  /// them. A leaver that was chosen and starts nothing is not chosen again. `unheard`: who has not
  /// said yet what runs there.
  ProcessorSet choose(const Surroundings& around, const JobSpec& spec, const ProcessorSet& unheard);
  /// Another one is the home: it chooses anew those that have not answered.
  void forget_choices();

  // Queries.
  [[nodiscard]] const JobStage* find(ProcessorId processor) const { return runs_.find(processor); }
  [[nodiscard]] const std::vector<JobStages::Run>& runs() const { return runs_.runs(); }
  /// What others are told of all. How much was written and taken each says to the home itself, and
  /// with that no two of them would be alike.
  [[nodiscard]] JobStages said() const;
  [[nodiscard]] JobStages said(const ProcessorSet& of) const;
  [[nodiscard]] ProcessorSet ready() const;
  [[nodiscard]] ProcessorSet taking_part() const;
  /// Chosen, here or with the start of the job, and have said nothing since.
  [[nodiscard]] ProcessorSet silent() const;
  [[nodiscard]] bool is_ending() const;
  /// A process of the job has attached, so it is no mere command.
  [[nodiscard]] bool has_sessions() const;

 private:
  ProcessorId self_;
  JobId job_;
  JobStages runs_;
  ProcessorSet chosen_;  ///< By choose().
};

/// Those of the run that are members, or will be.
[[nodiscard]] ProcessorSet not_gone(const Surroundings& around, const JobStages::Run& run);

}  // namespace phx::runtime
