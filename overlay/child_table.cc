#include "overlay/child_table.h"

#include <algorithm>
#include <utility>

namespace phx::overlay {

bool ChildTable::attach(ProcessorId child, const Attach& m) {
  Entry& entry = entries_[child];
  if (entry.arrival != 0 && m.attachment <= entry.attachment) return false;  // stale
  entry = Entry{m.attachment, 0, ++arrivals_, m.below};
  entry.below.insert(child);
  return true;
}

bool ChildTable::detach(ProcessorId child, std::uint64_t attachment) {
  const auto at = entries_.find(child);
  if (at == entries_.end() || at->second.attachment != attachment) return false;
  entries_.erase(at);
  return true;
}

bool ChildTable::update(ProcessorId child, const UpdateSet& m) {
  const auto at = entries_.find(child);
  if (at == entries_.end()) return false;
  Entry& entry = at->second;
  if (entry.attachment != m.attachment || m.version <= entry.version) return false;
  entry.version = m.version;
  ProcessorSet below = entry.below.minus(m.removed).united(m.added);
  below.insert(child);
  if (below == entry.below) return false;
  entry.below = std::move(below);
  return true;
}

bool ChildTable::keep_only(const ProcessorSet& live) {
  return std::erase_if(entries_, [&](const auto& e) { return !live.contains(e.first); }) != 0;
}

std::vector<ProcessorId> ChildTable::ids() const {
  std::vector<ProcessorId> ids;
  for (const auto& [child, entry] : entries_) ids.push_back(child);
  return ids;
}

std::vector<TreeChild> ChildTable::children() const {
  std::vector<std::pair<std::uint64_t, ProcessorId>> order;
  for (const auto& [child, entry] : entries_) order.push_back({entry.arrival, child});
  std::sort(order.rbegin(), order.rend());
  std::vector<TreeChild> children;
  children.reserve(order.size());
  // Who is below two of them has moved: below the one that attached later.
  ProcessorSet above;
  for (const auto& [arrival, child] : order) {
    const ProcessorSet& below = entries_.at(child).below;
    children.push_back(TreeChild{child, below.minus(above)});
    above = above.united(below);
  }
  // The children with most below them have the longest way to go [Saito08 E, future work a].
  std::stable_sort(children.begin(), children.end(), [](const TreeChild& a, const TreeChild& b) {
    return a.below.size() > b.below.size();
  });
  return children;
}

ProcessorSet ChildTable::below() const {
  ProcessorSet all;
  for (const auto& [child, entry] : entries_) all = all.united(entry.below);
  return all;
}

}  // namespace phx::overlay
