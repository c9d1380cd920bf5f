#include "runtime/membership/failure_detector.h"

#include <algorithm>
#include <utility>

namespace phx::runtime {

void FailureDetector::accuse(Instant now, ProcessorId accuser, const Gone& accused) {
  if (accuser == self_) {
    own_.try_emplace(accused.id, accused);
    ++times_[accused.id];
  } else {
    others_[accused.id][accuser] = now;
  }
}

void FailureDetector::trust(ProcessorId id) {
  suspected_.erase(id);
  own_.erase(id);
  times_.erase(id);
  others_.erase(id);
}

void FailureDetector::condemn(Gone dead) {
  const ProcessorId id = dead.id;
  suspected_.try_emplace(id, std::move(dead));
}

void FailureDetector::forget(ProcessorId id) {
  trust(id);
  for (auto& [accused, accusers] : others_) accusers.erase(id);
}

void FailureDetector::keep_only(const View& view) {
  const auto is_gone = [&](const auto& entry) { return !view.members.contains(entry.first); };
  std::erase_if(suspected_, is_gone);
  std::erase_if(own_, is_gone);
  std::erase_if(times_, is_gone);
  std::erase_if(others_, is_gone);
}

std::uint32_t FailureDetector::times_accused(ProcessorId id) const {
  const auto found = times_.find(id);
  return found == times_.end() ? 0 : found->second;
}

std::uint32_t FailureDetector::other_accusers(Instant now, ProcessorId id) const {
  const auto found = others_.find(id);
  if (found == others_.end()) return 0;
  return static_cast<std::uint32_t>(std::ranges::count_if(
      found->second, [&](const auto& entry) { return now - entry.second <= memory_; }));
}

ProcessorId FailureDetector::lowest_trusted(const View& view) const {
  for (const auto& [id, member] : view.members) {
    if (!is_suspected(id)) return id;
  }
  return kNobody;
}

ProcessorId FailureDetector::judge_of(ProcessorId accused, const View& view) const {
  for (const auto& [id, member] : view.members) {
    if (id != accused && !is_suspected(id) && !is_accused(id)) return id;
  }
  return kNobody;
}

bool FailureDetector::has_nobody_else(const View& view) const {
  return std::ranges::all_of(view.members, [&](const auto& member) {
    const ProcessorId id = member.first;
    return id == self_ || is_accused(id) || is_suspected(id);
  });
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

std::vector<ProcessorId> ring_predecessors(ProcessorId id, const View& view) {
  std::vector<ProcessorId> result;
  const auto at = view.members.lower_bound(id);
  for (auto it = at; it != view.members.begin();) result.push_back((--it)->first);
  for (auto it = view.members.end(); it != at;) {
    if ((--it)->first != id) result.push_back(it->first);
  }
  return result;
}

namespace {

/// "address:port" without the port.
std::string_view address_of(std::string_view endpoint) {
  return endpoint.substr(0, endpoint.rfind(':'));
}

/// Its name and addresses; addresses alone are not enough: private ones mean another machine in
/// another network.
using Machine = std::pair<std::string_view, std::vector<std::string_view>>;
Machine machine_of(const Member& member) {
  Machine machine{member.name, {}};
  auto& addresses = machine.second;
  for (const std::string& endpoint : member.endpoints) addresses.push_back(address_of(endpoint));
  return machine;
}

}  // namespace

bool share_machine(const Member& a, const Member& b) {
  return !a.endpoints.empty() && machine_of(a) == machine_of(b);
}

ProcessorSet fellows_of(ProcessorId self, const View& view) {
  const auto own = view.members.find(self);
  ProcessorSet fellows;
  if (own == view.members.end()) return fellows;
  for (const auto& [id, member] : view.members) {
    if (id != self && share_machine(own->second, member)) fellows.insert(id);
  }
  return fellows;
}

std::vector<ProcessorSet> shared_machines(const View& view) {
  std::map<Machine, ProcessorSet> machines;
  for (const auto& [id, member] : view.members) {
    if (!member.endpoints.empty()) machines[machine_of(member)].insert(id);
  }
  std::vector<ProcessorSet> shared;
  for (auto& [machine, processors] : machines) {
    if (processors.size() > 1) shared.push_back(std::move(processors));
  }
  return shared;
}

}  // namespace phx::runtime
