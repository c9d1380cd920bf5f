#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/jobs/job_traffic.h"
#include "runtime/messages/job_outbox.h"

namespace phx::runtime {

/// What the processes of one job write, on its way to the tool that follows the job. At the job's
/// home it counts what has come of all, passes it on to the tool in the order in which each wrote,
/// keeps it while there is none, and tells the writers how much the tool has taken. Where a process
/// runs, the process is held up while more than a window of what it wrote has not been taken
/// [runtime/README.md, "Output"]. Not thread-safe.
class JobOutput {
 public:
  using Counts = std::map<ProcessorId, OutputCount>;

  /// The windows of all writers together, and the bounds of one: bytes that may wait for the tool.
  static constexpr std::uint64_t kWindowsBytes = std::uint64_t{32} << 20U;
  static constexpr std::uint64_t kWindowMin = std::uint64_t{64} << 10U;
  static constexpr std::uint64_t kWindowMax = std::uint64_t{1} << 20U;
  /// A writer hears of so many bytes at once: half a window, so that nobody waits for ever.
  static constexpr std::uint64_t kTakenBytes = kWindowMin / 2;
  /// Small outputs cost more than their bytes.
  static constexpr std::uint64_t kOutputBytes = 64;

  /// `bytes_max`: of what is kept while no tool follows the job, and the oldest is dropped; and of
  /// what came ahead of others, and these are not waited for any more [limits].
  JobOutput(ProcessorId self, JobId job, std::uint64_t bytes_max)
      : self_(self), job_(job), bytes_max_(bytes_max) {}

  // Inputs where a process runs.
  /// Gives the output its number.
  void on_written(const Surroundings& around, Output& output, JobOutbox& out);
  /// The tool has taken the first `count` outputs of the process here.
  void on_taken(const Surroundings& around, std::uint64_t count, JobOutbox& out);
  /// The job is over: nobody reads any more, and nobody is held up.
  void on_over(JobOutbox& out);

  // Inputs at the home.
  /// A process had written so many outputs before its latest stage.
  void on_counted(ProcessorId writer, std::uint64_t written) {
    writers_[writer].count.written = written;
  }
  void on_come(const Surroundings& around, Output output, JobOutbox& out);
  void on_tool(ClientId tool, JobOutbox& out);
  /// The tool has taken all that it was given.
  void on_tool_took(const Surroundings& around, JobOutbox& out);
  void on_tool_gone();
  void on_gone(const Surroundings& around, const ViewChange::Gone& gone);
  /// What has not come by now is lost: writers must not wait until it is taken.
  void on_lost(const Surroundings& around, JobOutbox& out);
  /// This processor is the home from now on; `counts` are those of the one before.
  void become_home(const Surroundings& around, const Counts& counts,
                   const std::map<ProcessorId, JobStage>& stages, JobOutbox& out);

  // Commands.
  /// The next home counts again what is given away then.
  void uncount_kept();
  void give_away(ProcessorId home, JobOutbox& out);
  /// This processor is not the home any more.
  void forget_writers();

  // Queries.
  [[nodiscard]] std::uint64_t written() const { return written_; }
  /// The process here is held up until the tool has taken more.
  [[nodiscard]] bool is_held_up() const { return is_held_up_; }
  /// The one that follows the job, if that is here.
  [[nodiscard]] const std::optional<ClientId>& tool() const { return tool_; }
  /// The tool has taken all that it was given.
  [[nodiscard]] bool is_taken() const { return !is_given_; }
  [[nodiscard]] Counts counts() const;
  /// Something has come before what its process had written earlier.
  [[nodiscard]] bool has_gaps() const { return ahead_bytes_ > 0; }
  /// What processes had written before their stages has all come here.
  [[nodiscard]] bool has_all_come() const;

 private:
  /// A process, as its job's home sees it.
  struct Writer {
    OutputCount count;
    std::uint64_t untold_bytes = 0;  ///< That came since it was told how many were taken.
    /// Came before others that take a longer way, over a former home; not counted yet.
    std::map<std::uint64_t, Output> ahead = {};

    [[nodiscard]] std::uint64_t next() const { return count.come + count.lost + 1; }
  };

  [[nodiscard]] static std::uint64_t size(const Output& output) {
    return output.bytes.size() + kOutputBytes;
  }
  void regulate(const Surroundings& around, JobOutbox& out);
  void hold_up(bool is_held_up, JobOutbox& out);
  void take(Writer& writer, Output output, JobOutbox& out);
  void take_next_ahead(Writer& writer, JobOutbox& out);
  void take_all_ahead(Writer& writer, JobOutbox& out);
  static void lose_up_to(std::uint64_t number, Writer& writer);
  void give(Output output, JobOutbox& out);
  void tell(const Surroundings& around, ProcessorId id, Writer& writer, JobOutbox& out);
  /// Many may come and go during one job.
  void drop_finished(const Surroundings& around, ProcessorId writer);

  ProcessorId self_;
  JobId job_;
  std::uint64_t bytes_max_;
  std::uint64_t written_ = 0;          ///< Outputs of the process here.
  std::deque<std::uint64_t> untaken_;  ///< Sizes of the latest of them.
  std::uint64_t untaken_bytes_ = 0;
  bool is_held_up_ = false;
  std::optional<ClientId> tool_;
  bool is_given_ = false;    ///< The tool was given something since it last had taken all.
  std::deque<Output> kept_;  ///< While nobody follows.
  std::uint64_t kept_bytes_ = 0;
  std::map<ProcessorId, Writer> writers_;
  std::uint64_t ahead_bytes_ = 0;
  ProcessorSet died_;
};

}  // namespace phx::runtime
