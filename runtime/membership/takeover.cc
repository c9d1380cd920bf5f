#include "runtime/membership/takeover.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/membership/view_change.h"

namespace phx::runtime {

std::vector<ProcessorId> Takeover::take_unasked(const FailureDetector& detector) {
  std::vector<ProcessorId> unasked;
  if (!std::exchange(has_unasked_, false)) return unasked;
  for (const auto& [id, member] : best_.members) {
    if (id == self_ || detector.is_suspected(id) || !asked_.insert(id).second) continue;
    awaited_.insert(id);
    unasked.push_back(id);
  }
  return unasked;
}

void Takeover::on_report(ProcessorId from, const View& view) {
  if (!awaited_.contains(from)) return;
  awaited_.erase(from);
  const std::pair before{best_.number, best_.next_processor};
  const std::uint32_t next_processor = std::max(best_.next_processor, view.next_processor);
  const std::uint32_t next_job = std::max(best_.next_job, view.next_job);
  if (view.number > best_.number) {
    best_ = view;
    up_to_date_.clear();
    has_unasked_ = true;
  }
  if (view.number == best_.number) up_to_date_.insert(from);
  best_.next_processor = next_processor;
  best_.next_job = next_job;
  if (before == std::pair{best_.number, best_.next_processor}) return;
  for (const ProcessorId id : awaited_.ids()) {
    if (!best_.members.contains(id) && id.value < best_.next_processor) awaited_.erase(id);
  }
}

ViewInstall Takeover::result(const FailureDetector& detector, std::uint32_t id_gap) const {
  ViewInstall install{best_, {}};
  install.view.relaying_since = ++install.view.number;
  // Two may take over at once, and one of them in vain: their new numbers must differ as well.
  const auto rank = static_cast<std::uint32_t>(
      std::distance(best_.members.begin(), best_.members.lower_bound(self_)));
  const std::uint64_t gap = std::uint64_t{id_gap} * std::max(rank, 1U);
  const auto skip = [gap](std::uint32_t& next) {
    next = static_cast<std::uint32_t>(std::min<std::uint64_t>(next + gap, kIdEnd));
  };
  skip(install.view.next_processor);
  skip(install.view.next_job);
  for (const auto& [id, gone] : detector.suspected()) {
    if (install.view.members.erase(id) > 0) ++install.view.line;
    install.gone.push_back(gone);
  }
  return install;
}

}  // namespace phx::runtime
