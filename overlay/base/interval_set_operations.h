#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "overlay/base/interval_set.h"

/// How the operations of IntervalSet go through its ranges, once, from the front. Included by
/// interval_set.h, which says what they mean.
namespace phx {

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

}  // namespace phx
