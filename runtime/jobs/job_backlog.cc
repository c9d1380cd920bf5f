#include "runtime/jobs/job_backlog.h"

#include <utility>

#include "runtime/messages/weight.h"

namespace phx::runtime {

bool JobBacklog::keep(JobId job, ProcessorId from, JobMessage message) {
  const std::uint64_t bytes =
      std::visit([](const auto& m) { return weight_of(Envelope{m}).total(); }, message);
  if (messages_ >= limits_.messages || bytes_ + bytes > limits_.bytes) return false;
  ++messages_;
  bytes_ += bytes;
  kept_[job].push_back({from, std::move(message), bytes});
  return true;
}

std::vector<JobBacklog::One> JobBacklog::take(JobId job) {
  auto taken = kept_.extract(job);
  if (taken.empty()) return {};
  messages_ -= taken.mapped().size();
  for (const One& one : taken.mapped()) bytes_ -= one.bytes;
  return std::move(taken.mapped());
}

}  // namespace phx::runtime
