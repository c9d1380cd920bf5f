#pragma once

#include <algorithm>
#include <deque>
#include <utility>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"

namespace phx::runtime {

/// Until when processors may keep silent because they may not live yet: a newcomer is a member as
/// soon as the view has it, and lives when its contact has told it so.
///
/// Bounded by the views of that time: ids are given in order, so each is told by the first row that
/// reaches as far. Thread rule: one owner.
class Newcomers {
 public:
  /// Whoever has an id up to `last`, and none before, is new, until then.
  void add(Instant now, Instant until, ProcessorId last) {
    for (; !rows_.empty() && rows_.front().second <= now; rows_.pop_front()) {
      old_ = rows_.front().first;
    }
    if ((rows_.empty() ? old_ : rows_.back().first) < last) rows_.emplace_back(last, until);
  }
  /// Long ago: it is not new.
  [[nodiscard]] Instant until(ProcessorId id) const {
    if (id <= old_) return Instant::min();
    const auto row = std::ranges::lower_bound(rows_, id, {}, &Row::first);
    return row == rows_.end() ? Instant::min() : row->second;
  }

 private:
  using Row = std::pair<ProcessorId, Instant>;

  std::deque<Row> rows_;  ///< Both grow.
  ProcessorId old_;       ///< Up to it nobody is new.
};

}  // namespace phx::runtime
