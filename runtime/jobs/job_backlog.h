#pragma once

#include <cstdint>
#include <map>
#include <variant>
#include <vector>

#include "overlay/base/ids.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// Whatever one daemon says to another about one job that both know.
using JobMessage = std::variant<Routes, Pull, Offer, OfferReply, OfferCancel, Migrate, StatePiece,
                                StateTaken, VnodeMessage, CollectiveMessage, JobStage, JobHome,
                                Output, OutputTaken, JobSignal>;

/// What came for jobs that have not been announced here yet: announcements and messages come on
/// different ways. Limited in number and bytes, over all jobs. Not thread-safe.
class JobBacklog {
 public:
  struct One {
    ProcessorId from;
    JobMessage message;
    std::uint64_t bytes = 0;
  };
  struct Limits {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };

  explicit JobBacklog(Limits limits) : limits_(limits) {}

  /// False: a limit is reached, and the message was not kept.
  [[nodiscard]] bool keep(JobId job, ProcessorId from, JobMessage message);
  /// All that came for `job`, in its order; nothing of it is kept any more.
  std::vector<One> take(JobId job);
  /// Contributions to reductions, of all jobs.
  std::vector<One> take_tokens();
  [[nodiscard]] static bool is_token(const JobMessage& message);
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

 private:
  Limits limits_;
  std::map<JobId, std::vector<One>> kept_;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace phx::runtime
