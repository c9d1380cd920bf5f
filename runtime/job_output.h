#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/job_outbox.h"
#include "runtime/job_traffic.h"

namespace phx::runtime {

/// What the processes of one job write, on its way to the tool that follows the job. Where a
/// process runs it counts what that has written; at the job's home it counts what has come of all,
/// passes it on to the tool, and keeps it while there is none. Not thread-safe.
class JobOutput {
 public:
  using Counts = std::map<ProcessorId, OutputCount>;

  /// `bytes_max`: of what is kept while no tool follows the job; the oldest is dropped [limit].
  JobOutput(ProcessorId self, std::uint64_t bytes_max) : self_(self), bytes_max_(bytes_max) {}

  // Inputs where a process runs.
  void on_written() { ++written_; }

  // Inputs at the home.
  /// A process had written so many outputs before its latest stage.
  void on_counted(ProcessorId writer, std::uint64_t written) { counts_[writer].written = written; }
  void on_come(const Surroundings& around, Output output, JobOutbox& out);
  void on_tool(ClientId tool, JobOutbox& out);
  void on_tool_gone() { tool_.reset(); }
  void on_gone(const Surroundings& around, const ViewChange::Gone& gone);
  /// This processor is the home from now on; `counts` are those of the one before.
  void become_home(Counts counts, const std::map<ProcessorId, JobStage>& stages);

  // Commands.
  /// The next home counts again what is given away then.
  void uncount_kept();
  void give_away(ProcessorId home, JobOutbox& out);
  /// This processor is not the home any more.
  void forget_counts() { counts_.clear(); }

  // Queries.
  [[nodiscard]] std::uint64_t written() const { return written_; }
  /// The one that follows the job, if that is here.
  [[nodiscard]] const std::optional<ClientId>& tool() const { return tool_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// What processes had written before their stages has all come here.
  [[nodiscard]] bool has_all_come() const;

 private:
  void pass_on(Output output, JobOutbox& out);
  /// Many may come and go during one job.
  void drop_finished_count(const Surroundings& around, ProcessorId writer);

  ProcessorId self_;
  std::uint64_t bytes_max_;
  std::uint64_t written_ = 0;  ///< Outputs of the process here.
  std::optional<ClientId> tool_;
  std::deque<Output> kept_;  ///< While nobody follows.
  std::uint64_t kept_bytes_ = 0;
  Counts counts_;
  ProcessorSet died_;
};

}  // namespace phx::runtime
