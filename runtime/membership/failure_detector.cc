#include "runtime/membership/failure_detector.h"

#include <utility>

namespace phx::runtime {

void FailureDetector::suspect(ProcessorId accused, Departure why, std::string detail) {
  suspected_.try_emplace(accused, ViewChange::Gone{accused, why, std::move(detail)});
}

bool FailureDetector::on_report(Instant now, ProcessorId accused) {
  std::vector<Instant>& times = reports_[accused];
  std::erase_if(times, [&](Instant at) { return now - at > memory_; });
  times.push_back(now);
  return times.size() >= decisive_;
}

void FailureDetector::forget(ProcessorId id) {
  suspected_.erase(id);
  reports_.erase(id);
}

void FailureDetector::keep_only(const View& view) {
  const auto is_gone = [&](const auto& entry) { return !view.members.contains(entry.first); };
  std::erase_if(suspected_, is_gone);
  std::erase_if(reports_, is_gone);
}

ProcessorId FailureDetector::lowest_trusted(const View& view) const {
  for (const auto& [id, member] : view.members) {
    if (!is_suspected(id)) return id;
  }
  return kNobody;
}

ProcessorSet ring_successors(ProcessorId self, const View& view, std::uint32_t count) {
  ProcessorSet result;
  auto at = view.members.upper_bound(self);
  for (std::size_t seen = 1; seen < view.members.size() && count > 0; ++seen, --count) {
    if (at == view.members.end()) at = view.members.begin();
    result.insert(at->first);
    ++at;
  }
  return result;
}

}  // namespace phx::runtime
