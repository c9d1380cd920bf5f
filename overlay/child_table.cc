#include "overlay/child_table.h"

#include <algorithm>
#include <utility>

namespace phx::overlay {

bool ChildTable::attach(ProcessorId child, const Attach& m) {
  Entry& entry = entries_[child];
  if (entry.arrival != 0 && m.attachment <= entry.attachment) return false;  // stale
  entry = Entry{
      .attachment = m.attachment, .arrival = ++arrivals_, .is_far = m.is_far, .below = m.below};
  entry.below.insert(child);
  return true;
}

bool ChildTable::detach(ProcessorId child, std::uint64_t attachment) {
  const auto at = entries_.find(child);
  if (at == entries_.end() || at->second.attachment != attachment) return false;
  entries_.erase(at);
  return true;
}

void ChildTable::let_linger(ProcessorId child, std::uint64_t attachment, Instant now) {
  const auto at = entries_.find(child);
  if (at != entries_.end() && at->second.attachment == attachment) let_linger(child, now);
}

void ChildTable::let_linger(ProcessorId child, Instant now) {
  const auto at = entries_.find(child);
  if (at != entries_.end() && !at->second.left) at->second.left = now;
}

bool ChildTable::age(Instant now, Duration linger) {
  bool changed = false;
  for (auto& [child, entry] : entries_) {
    if (!entry.left || !entry.is_told || now < *entry.left + linger) continue;
    entry.is_told = false;
    changed = true;
  }
  const auto is_over = [&](const auto& e) {
    return e.second.left && now >= *e.second.left + 2 * linger;
  };
  return std::erase_if(entries_, is_over) != 0 || changed;
}

std::optional<Instant> ChildTable::next(Duration linger) const {
  std::optional<Instant> next;
  for (const auto& [child, entry] : entries_) {
    if (!entry.left) continue;
    const Instant due = *entry.left + (entry.is_told ? 1 : 2) * linger;
    next = std::min(next.value_or(due), due);
  }
  return next;
}

bool ChildTable::contains(ProcessorId child) const {
  const auto at = entries_.find(child);
  return at != entries_.end() && !at->second.left;
}

std::size_t ChildTable::size() const {
  return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(),
                                                [](const auto& e) { return !e.second.left; }));
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
  for (const auto& [child, entry] : entries_) {
    if (!entry.left) ids.push_back(child);
  }
  return ids;
}

std::size_t ChildTable::beside(ProcessorId child) const {
  return static_cast<std::size_t>(std::count_if(
      entries_.begin(), entries_.end(),
      [&](const auto& e) { return e.first != child && !e.second.is_far && !e.second.left; }));
}

std::vector<TreeChild> ChildTable::children() const {
  struct Place {
    bool stays;
    std::uint64_t arrival;
    ProcessorId child;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> order;
  for (const auto& [child, entry] : entries_) order.push_back({!entry.left, entry.arrival, child});
  std::sort(order.rbegin(), order.rend());
  std::vector<TreeChild> children;
  children.reserve(order.size());
  // Who is below two of them has moved: below the one that attached later.
  ProcessorSet above;
  for (const auto& [stays, arrival, child] : order) {
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
  for (const auto& [child, entry] : entries_) {
    if (entry.is_told) all = all.united(entry.below);
  }
  return all;
}

}  // namespace phx::overlay
