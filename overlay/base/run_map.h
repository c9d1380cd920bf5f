#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "overlay/base/check.h"
#include "overlay/base/interval_set.h"

namespace phx {

/// A map from ids to values, kept as sorted runs of consecutive ids with equal values. Cost of
/// every operation is in the number of runs, so equal neighbours cost nothing. Not thread-safe.
template <class Id, class Value>
class RunMap {
 public:
  struct Run {
    Id first;
    Id last;  ///< Included.
    Value value;
    friend bool operator==(const Run&, const Run&) = default;
  };

  void put(Id id, Value value) { put(Run{id, id, std::move(value)}); }
  /// Replaces what these ids had. REQUIRES run.first <= run.last.
  void put(Run run);
  void erase(Id id) { cut(id, id); }
  /// What ids have from now on; without a value, nothing.
  using Changes = std::vector<std::pair<Id, std::optional<Value>>>;
  /// All at once, in one pass over the runs. REQUIRES ascending ids.
  void put_all(const Changes& changes);

  /// Null: nothing. Valid until the next change.
  [[nodiscard]] const Value* find(Id id) const;
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  /// Ascending; those that touch have different values.
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  /// The first run that ends at `id` or later.
  [[nodiscard]] auto from(Id id) const {
    return std::lower_bound(runs_.begin(), runs_.end(), id,
                            [](const Run& run, Id wanted) { return run.last < wanted; });
  }
  /// The ids whose value fulfils `is_wanted`.
  template <class Predicate>
  [[nodiscard]] IntervalSet<Id> ids_where(Predicate is_wanted) const {
    IntervalSet<Id> ids;
    for (const Run& run : runs_) {
      if (is_wanted(run.value)) ids.insert({run.first, run.last});
    }
    return ids;
  }
  friend bool operator==(const RunMap&, const RunMap&) = default;

 private:
  using Runs = std::vector<Run>;

  [[nodiscard]] static bool touch(const Run& before, const Run& after) {
    return before.last.value + 1 == after.first.value && before.value == after.value;
  }
  void cut(Id first, Id last);
  static void append(Runs& runs, Run run);

  Runs runs_;
};

template <class Id, class Value>
const Value* RunMap<Id, Value>::find(Id id) const {
  const auto found = from(id);
  return found != runs_.end() && found->first <= id ? &found->value : nullptr;
}

template <class Id, class Value>
void RunMap<Id, Value>::cut(Id first, Id last) {
  auto begin = runs_.begin() + (from(first) - runs_.begin());
  if (begin == runs_.end() || last < begin->first) return;
  if (begin->first < first) {
    const Run whole = *begin;
    begin->last.value = first.value - 1;
    ++begin;
    if (last < whole.last) {
      Run rest = whole;
      rest.first.value = last.value + 1;
      runs_.insert(begin, std::move(rest));
      return;
    }
  }
  auto past = begin;
  while (past != runs_.end() && past->last <= last) ++past;
  if (past != runs_.end() && past->first <= last) past->first.value = last.value + 1;
  runs_.erase(begin, past);
}

template <class Id, class Value>
void RunMap<Id, Value>::put(Run run) {
  PHX_CHECK(run.first <= run.last);
  cut(run.first, run.last);
  auto next = runs_.begin() + (from(run.first) - runs_.begin());
  if (next != runs_.end() && touch(run, *next)) {
    run.last = next->last;
    next = runs_.erase(next);
  }
  if (next != runs_.begin() && touch(*(next - 1), run)) {
    (next - 1)->last = run.last;
  } else {
    runs_.insert(next, std::move(run));
  }
}

template <class Id, class Value>
void RunMap<Id, Value>::append(Runs& runs, Run run) {
  if (!runs.empty() && touch(runs.back(), run)) {
    runs.back().last = run.last;
  } else {
    runs.push_back(std::move(run));
  }
}

template <class Id, class Value>
void RunMap<Id, Value>::put_all(const Changes& changes) {
  Runs result;
  result.reserve(runs_.size());
  auto change = changes.begin();
  const auto apply_below = [&](const Run* run) {
    for (; change != changes.end() && (run == nullptr || change->first < run->first); ++change) {
      if (change->second) append(result, {change->first, change->first, *change->second});
    }
  };
  for (const Run& run : runs_) {
    apply_below(&run);
    Id rest = run.first;
    for (; change != changes.end() && change->first <= run.last; ++change) {
      const Id id = change->first;
      if (rest < id) append(result, {rest, Id{id.value - 1}, run.value});
      if (change->second) append(result, {id, id, *change->second});
      rest = Id{id.value + 1};
    }
    if (rest <= run.last) append(result, {rest, run.last, run.value});
  }
  apply_below(nullptr);
  runs_ = std::move(result);
}

}  // namespace phx
