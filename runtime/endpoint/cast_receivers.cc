#include "runtime/endpoint/cast_receivers.h"

#include "overlay/base/check.h"

namespace phx::runtime {
namespace {

/// Vnodes by a number. The highest one that half of them reach.
class Counts {
 public:
  void add(std::uint64_t number, std::uint64_t vnodes) {
    counts_[number] += vnodes;
    total_ += vnodes;
  }
  [[nodiscard]] std::optional<std::uint64_t> median() const {
    std::uint64_t reached = 0;
    for (const auto& [number, vnodes] : counts_) {
      reached += vnodes;
      if (2 * reached >= total_) return number;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::uint64_t highest() const {
    return counts_.empty() ? 0 : counts_.begin()->first;
  }
  [[nodiscard]] std::uint64_t lowest() const {
    return counts_.empty() ? 0 : counts_.rbegin()->first;
  }

 private:
  std::map<std::uint64_t, std::uint64_t, std::greater<>> counts_;
  std::uint64_t total_ = 0;
};

}  // namespace

CastReceivers::Pace CastReceivers::pace(
    const std::function<bool(const CastReceiver&)>& is_wanted) const {
  Pace pace;
  Counts limits;
  Counts received;
  for_each([&](const Range& range) {
    if (!is_wanted(range.state)) return;
    pace.vnodes.insert(range.vnodes);
    limits.add(limit(range.state), range.size());
    received.add(range.state.received, range.size());
  });
  pace.slowest = limits.lowest();
  pace.fastest = limits.highest();
  pace.median = limits.median().value_or(0);
  pace.received = received.median().value_or(0);
  return pace;
}

std::optional<std::uint64_t> CastReceivers::followed() const {
  std::optional<std::uint64_t> lowest;
  for (const auto& [first, state] : states_) {
    if (state.follows()) lowest = std::min(lowest.value_or(*state.position), *state.position);
  }
  return lowest;
}

std::optional<std::uint64_t> CastReceivers::middle() const {
  Counts positions;
  for_each([&](const Range& range) {
    if (range.state.is_open() && range.state.position) {
      positions.add(*range.state.position, range.size());
    }
  });
  return positions.median();
}

void CastReceivers::check_invariants() const {
  std::size_t count = 0;
  for (const auto& [first, state] : states_) count += state.position ? 1 : 0;
  PHX_CHECK(count == out_of_step_);
}

}  // namespace phx::runtime
