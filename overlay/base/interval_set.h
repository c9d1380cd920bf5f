#pragma once

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

using VnodeSet = IntervalSet<VnodeId>;
using ProcessorSet = IntervalSet<ProcessorId>;

}  // namespace phx

#include "overlay/base/interval_set_operations.h"
