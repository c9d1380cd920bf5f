#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/jobs/job_traffic.h"
#include "runtime/messages/client_end.h"
#include "runtime/messages/job_outbox.h"

namespace phx::runtime {

/// What the processes of one job write, on its way to the tool that follows the job. Where a
/// process runs, it is kept until the tool has taken it, and the process is held up while that is
/// more than a window. At the job's home it is passed on to the tool in the order in which each
/// process wrote it; nothing is kept there [runtime/jobs/README.md, "Output"]. Not thread-safe.
class JobOutput {
 public:
  using Numbers = std::map<ProcessorId, std::uint64_t>;

  /// The windows of all writers together, and the bounds of one: bytes that may wait for the tool.
  static constexpr std::uint64_t kWindowsBytes = std::uint64_t{32} << 20U;
  static constexpr std::uint64_t kWindowMin = std::uint64_t{64} << 10U;
  static constexpr std::uint64_t kWindowMax = std::uint64_t{1} << 20U;
  /// A writer hears of so many bytes at once: half a window, so that nobody waits for ever.
  static constexpr std::uint64_t kTakenBytes = kWindowMin / 2;
  /// Small outputs cost more than their bytes.
  static constexpr std::uint64_t kOutputBytes = 64;

  JobOutput(ProcessorId self, JobId job) : self_(self), job_(job) {}

  // Inputs where a process runs.
  /// Gives the output its number, and keeps it.
  void on_written(const Surroundings& around, Output& output, JobOutbox& out);
  /// The tool has taken the first `count` outputs of the process here.
  void on_taken(const Surroundings& around, std::uint64_t count, JobOutbox& out);
  /// The job is over: nobody reads any more, and nobody is held up.
  void on_over(JobOutbox& out);
  /// Sends what is kept once more, to this home.
  void repeat(ProcessorId home, JobOutbox& out) const;

  // Inputs at the home.
  void on_come(Output output, JobOutbox& out);
  /// The tool, or nobody, has the first `count` outputs of a process, which keeps them no more.
  void on_forgotten(ProcessorId writer, std::uint64_t count);
  /// `shown`: the last that it has of each process. Without `asked` nothing was written before.
  void on_tool(const Tool& tool, const Numbers& shown, const ProcessorSet& asked, JobOutbox& out);
  /// The tool has taken all that it was given. Leavers hear of the least thing: they wait for it.
  void on_tool_took(const Surroundings& around, JobOutbox& out);
  /// Another home follows, another tool, or none.
  void on_tool_gone();
  void on_gone(ProcessorId writer) { writers_.erase(writer); }

  // Queries.
  [[nodiscard]] std::uint64_t written() const { return written_; }
  [[nodiscard]] std::uint64_t taken() const { return written_ - kept_.size(); }
  /// The process here is held up until the tool has taken more.
  [[nodiscard]] bool is_held_up() const { return is_held_up_; }
  /// The one that follows the job, if that is here.
  [[nodiscard]] const std::optional<Tool>& tool() const { return tool_; }
  [[nodiscard]] bool is_for(ClientId client) const { return tool_ && tool_->client == client; }
  /// The tool has taken all that it was given.
  [[nodiscard]] bool is_taken() const { return !is_given_; }
  /// The tool was given so many of a process, or will get no more of them.
  [[nodiscard]] std::uint64_t given(ProcessorId writer) const;

 private:
  /// A process, as its job's home sees it.
  struct Writer {
    std::uint64_t given = 0;
    std::uint64_t untold_bytes = 0;  ///< Given since it was told how many were taken.
    bool is_asked = false;           ///< To send once more what comes after `given`.
  };

  [[nodiscard]] static std::uint64_t size(const Output& output) {
    return output.bytes.size() + kOutputBytes;
  }
  void regulate(const Surroundings& around, JobOutbox& out);
  void hold_up(bool is_held_up, JobOutbox& out);

  ProcessorId self_;
  JobId job_;
  std::uint64_t written_ = 0;  ///< Outputs of the process here.
  std::deque<Output> kept_;    ///< The latest of them, which the tool has not taken.
  std::uint64_t kept_bytes_ = 0;
  bool is_held_up_ = false;
  std::optional<Tool> tool_;
  bool is_given_ = false;  ///< The tool was given something since it last had taken all.
  std::map<ProcessorId, Writer> writers_;
};

}  // namespace phx::runtime
