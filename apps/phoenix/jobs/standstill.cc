#include "apps/phoenix/jobs/standstill.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "apps/phoenix/jobs/job_summary.h"
#include "apps/phoenix/mesh/job_record.h"

namespace phx::app {
namespace {

using runtime::JobStatus;
using runtime::ProcessorStatus;
using runtime::Stage;
using runtime::StatusReply;

/// For how many ms everybody who has vnodes has been still. Nothing: somebody is not, or all have
/// finished.
std::optional<std::uint64_t> still_ms(const StatusReply& reply, JobId id) {
  std::optional<std::uint64_t> least;
  for (const ProcessorStatus& processor : reply.processors) {
    for (const JobStatus& job : processor.jobs) {
      if (job.job != id) continue;
      const bool begins = job.stage == Stage::kStarting || job.is_held_up;
      if (begins || !job.ends_because.empty()) return std::nullopt;
      if (job.held.empty() || is_done(job)) continue;
      if (job.process_waits.empty()) return std::nullopt;
      least = std::min(least.value_or(job.figures.silent_ms), job.figures.silent_ms);
    }
  }
  return least;
}

}  // namespace

std::optional<std::string> Standstill::look(const StatusReply& reply, JobId job,
                                            const std::string& mesh) {
  look_again_after_.reset();
  const auto still = still_ms(reply, job);
  if (!still) return std::nullopt;
  constexpr std::uint64_t kStillMs = kStill / 1ms;
  if (*still < kStillMs) {
    look_again_after_ = std::chrono::milliseconds(kStillMs - *still);
    return std::nullopt;
  }
  const auto jobs = summarise(reply);
  const auto at = jobs.find(job);
  if (at == jobs.end() || at->second.waiting == said_) return std::nullopt;
  said_ = at->second.waiting;
  return "nothing has happened in " + to_string(job) + " for " + std::to_string(*still / 1000) +
         " s: " + said_ + " (see phoenix status " + job_words(job, mesh) + ")";
}

}  // namespace phx::app
