#include "runtime/jobs/job_backlog.h"

#include <algorithm>
#include <iterator>
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

bool JobBacklog::is_token(const JobMessage& message) {
  if (const auto* along = std::get_if<CollectiveMessage>(&message)) {
    return std::holds_alternative<collectives::ReductionToken>(along->message);
  }
  const auto* to_target = std::get_if<VnodeMessage>(&message);
  return to_target != nullptr &&
         std::holds_alternative<collectives::ReductionToken>(to_target->delivery);
}

std::vector<JobBacklog::One> JobBacklog::take_tokens() {
  std::vector<One> tokens;
  for (auto job = kept_.begin(); job != kept_.end();) {
    std::vector<One>& kept = job->second;
    const auto rest = std::stable_partition(kept.begin(), kept.end(),
                                            [](const One& one) { return !is_token(one.message); });
    for (auto one = rest; one != kept.end(); ++one) {
      --messages_;
      bytes_ -= one->bytes;
      tokens.push_back(std::move(*one));
    }
    kept.erase(rest, kept.end());
    job = kept.empty() ? kept_.erase(job) : std::next(job);
  }
  return tokens;
}

}  // namespace phx::runtime
