#include "runtime/takeover.h"

#include <algorithm>
#include <iterator>

namespace phx::runtime {

std::vector<ProcessorId> Takeover::take_unasked(const FailureDetector& detector) {
  std::vector<ProcessorId> unasked;
  for (const auto& [id, member] : best_.members) {
    if (id == self_ || detector.is_suspected(id) || !asked_.insert(id).second) continue;
    awaited_.insert(id);
    unasked.push_back(id);
  }
  return unasked;
}

void Takeover::on_report(ProcessorId from, const View& view) {
  if (awaited_.erase(from) == 0) return;
  const std::uint32_t next_processor = std::max(best_.next_processor, view.next_processor);
  const std::uint32_t next_job = std::max(best_.next_job, view.next_job);
  if (view.number > best_.number) best_ = view;
  best_.next_processor = next_processor;
  best_.next_job = next_job;
  std::erase_if(awaited_, [&](ProcessorId id) {
    return !best_.members.contains(id) && id.value < best_.next_processor;
  });
}

ViewInstall Takeover::result(const FailureDetector& detector, std::uint32_t id_gap) const {
  ViewInstall install{best_, {}};
  ++install.view.number;
  // Two may take over at once, and one of them in vain: their new ids must differ as well.
  const auto rank = static_cast<std::uint32_t>(
      std::distance(best_.members.begin(), best_.members.lower_bound(self_)));
  install.view.next_processor += id_gap * std::max(rank, 1U);
  for (const auto& [id, gone] : detector.suspected()) {
    install.view.members.erase(id);
    install.gone.push_back(gone);
  }
  return install;
}

}  // namespace phx::runtime
