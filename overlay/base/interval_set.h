#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "overlay/base/check.h"
#include "overlay/base/ids.h"

namespace phx {

/// A set of ids kept as sorted, disjoint, non-touching ranges [first, last]. Cost of every
/// operation is in the number of ranges, so keeping ids contiguous keeps everything small.
template <class Id>
class IntervalSet {
 public:
  struct Range {
    Id first;
    Id last;  ///< Included.
    friend auto operator<=>(const Range&, const Range&) = default;
    [[nodiscard]] std::uint64_t size() const { return last.value - first.value + std::uint64_t{1}; }
  };

  IntervalSet() = default;
  IntervalSet(std::initializer_list<Id> ids) {
    for (const Id id : ids) insert(id);
  }
  /// {first, ..., last}. REQUIRES first <= last.
  [[nodiscard]] static IntervalSet range(Id first, Id last) {
    IntervalSet set;
    set.insert(Range{first, last});
    return set;
  }

  void insert(Id id) { insert(Range{id, id}); }
  void insert(Range range);
  void erase(Id id) { *this = minus(IntervalSet{id}); }

  [[nodiscard]] bool contains(Id id) const;
  [[nodiscard]] bool contains_all(const IntervalSet& other) const {
    return other.minus(*this).empty();
  }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  /// The smallest id. REQUIRES !empty().
  [[nodiscard]] Id front() const {
    PHX_CHECK(!empty());
    return ranges_.front().first;
  }

  [[nodiscard]] IntervalSet united(const IntervalSet& other) const;
  [[nodiscard]] IntervalSet common(const IntervalSet& other) const;
  [[nodiscard]] IntervalSet minus(const IntervalSet& other) const;
  /// The `count` greatest ids (all, if there are fewer).
  [[nodiscard]] IntervalSet last_ids(std::uint64_t count) const;
  /// Every id in ascending order. REQUIRES a size that fits in memory.
  [[nodiscard]] std::vector<Id> ids() const;

  friend bool operator==(const IntervalSet&, const IntervalSet&) = default;
  friend auto operator<=>(const IntervalSet&, const IntervalSet&) = default;

 private:
  std::vector<Range> ranges_;
};

/// Ranges as people write them, without the letter: "0-7,16-63"; "none" if empty.
template <class Id>
[[nodiscard]] std::string to_string(const IntervalSet<Id>& set) {
  if (set.empty()) return "none";
  std::string text;
  for (const auto& range : set.ranges()) {
    if (!text.empty()) text += ',';
    text += std::to_string(range.first.value);
    if (range.last != range.first) text += '-' + std::to_string(range.last.value);
  }
  return text;
}
template <class Id>
std::ostream& operator<<(std::ostream& stream, const IntervalSet<Id>& set) {
  return stream << to_string(set);
}

template <class Id>
void IntervalSet<Id>::insert(Range range) {
  PHX_CHECK(range.first <= range.last);
  // The first range that touches or follows `range`.
  auto at = std::lower_bound(
      ranges_.begin(), ranges_.end(), range.first,
      [](const Range& r, Id id) { return r.last.value < id.value && id.value - r.last.value > 1; });
  if (at == ranges_.end() || (range.last < at->first && at->first.value - range.last.value > 1)) {
    ranges_.insert(at, range);
    return;
  }
  at->first = std::min(at->first, range.first);
  auto past = at;
  Id last = range.last;
  while (past != ranges_.end() && (past->first <= last || past->first.value - last.value == 1)) {
    last = std::max(last, past->last);
    ++past;
  }
  at->last = last;
  ranges_.erase(at + 1, past);
}

template <class Id>
bool IntervalSet<Id>::contains(Id id) const {
  const auto at = std::lower_bound(ranges_.begin(), ranges_.end(), id,
                                   [](const Range& r, Id wanted) { return r.last < wanted; });
  return at != ranges_.end() && at->first <= id;
}

template <class Id>
std::uint64_t IntervalSet<Id>::size() const {
  std::uint64_t total = 0;
  for (const Range& range : ranges_) total += range.size();
  return total;
}

template <class Id>
IntervalSet<Id> IntervalSet<Id>::united(const IntervalSet& other) const {
  IntervalSet result;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  const auto append = [&result](const Range& range) {
    auto& out = result.ranges_;
    if (!out.empty() &&
        (range.first <= out.back().last || range.first.value - out.back().last.value == 1)) {
      out.back().last = std::max(out.back().last, range.last);
    } else {
      out.push_back(range);
    }
  };
  while (a != ranges_.end() || b != other.ranges_.end()) {
    const bool take_a = b == other.ranges_.end() || (a != ranges_.end() && a->first <= b->first);
    append(take_a ? *a++ : *b++);
  }
  return result;
}

template <class Id>
IntervalSet<Id> IntervalSet<Id>::common(const IntervalSet& other) const {
  IntervalSet result;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const Id first = std::max(a->first, b->first);
    const Id last = std::min(a->last, b->last);
    if (first <= last) result.ranges_.push_back(Range{first, last});
    if (a->last < b->last)
      ++a;
    else
      ++b;
  }
  return result;
}

template <class Id>
IntervalSet<Id> IntervalSet<Id>::minus(const IntervalSet& other) const {
  IntervalSet result;
  auto b = other.ranges_.begin();
  for (Range rest : ranges_) {
    bool left = true;
    while (b != other.ranges_.end() && b->last < rest.first) ++b;
    for (auto cut = b; left && cut != other.ranges_.end() && cut->first <= rest.last; ++cut) {
      if (rest.first < cut->first) {
        result.ranges_.push_back(
            Range{rest.first, Id{static_cast<typename Id::rep>(cut->first.value - 1)}});
      }
      left = cut->last < rest.last;
      if (left) rest.first = Id{static_cast<typename Id::rep>(cut->last.value + 1)};
    }
    if (left) result.ranges_.push_back(rest);
  }
  return result;
}

template <class Id>
IntervalSet<Id> IntervalSet<Id>::last_ids(std::uint64_t count) const {
  IntervalSet result;
  for (auto at = ranges_.rbegin(); at != ranges_.rend() && count > 0; ++at) {
    const std::uint64_t taken = std::min<std::uint64_t>(count, at->size());
    const auto first = static_cast<typename Id::rep>(at->last.value - (taken - 1));
    result.ranges_.insert(result.ranges_.begin(), Range{Id{first}, at->last});
    count -= taken;
  }
  return result;
}

template <class Id>
std::vector<Id> IntervalSet<Id>::ids() const {
  std::vector<Id> all;
  all.reserve(static_cast<std::size_t>(size()));
  for (const Range& range : ranges_) {
    for (Id id = range.first;; ++id.value) {
      all.push_back(id);
      if (id == range.last) break;
    }
  }
  return all;
}

using VnodeSet = IntervalSet<VnodeId>;
using ProcessorSet = IntervalSet<ProcessorId>;

}  // namespace phx
