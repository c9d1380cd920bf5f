#include "runtime/endpoint/cast_receivers.h"

#include "overlay/base/check.h"

namespace phx::runtime {

std::uint64_t CastReceivers::size_of(States::const_iterator range) const {
  const auto next = std::next(range);
  return (next == states_.end() ? total_ : next->first.value) - range->first.value;
}

void CastReceivers::count(States::const_iterator range, bool is_in) {
  const CastReceiver& state = range->second;
  const std::uint64_t vnodes = size_of(range);
  const auto put = [&](VnodeCounts& counts, std::uint64_t number) {
    is_in ? counts.add(number, vnodes) : counts.remove(number, vnodes);
  };
  put(received_, state.received);
  if (!state.is_in_step()) return;
  put(in_step_.limits, limit(state));
  put(in_step_.received, state.received);
}

CastReceivers::Pace CastReceivers::pace_in_step() const {
  if (!vnodes_in_step_) {
    vnodes_in_step_ = select([](const CastReceiver& state) { return state.is_in_step(); });
  }
  return {*vnodes_in_step_, in_step_.limits.lowest(), in_step_.limits.highest(),
          in_step_.limits.median(), in_step_.received.median()};
}

CastReceivers::Pace CastReceivers::pace(
    const std::function<bool(const CastReceiver&)>& is_wanted) const {
  Pace pace;
  VnodeCounts limits;
  VnodeCounts received;
  for_each([&](const Range& range) {
    if (!is_wanted(range.state)) return;
    pace.vnodes.insert(range.vnodes);
    limits.add(limit(range.state), range.size());
    received.add(range.state.received, range.size());
  });
  pace.slowest = limits.lowest();
  pace.fastest = limits.highest();
  pace.median = limits.median();
  pace.received = received.median();
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
  VnodeCounts positions;
  for_each([&](const Range& range) {
    if (range.state.is_open() && range.state.position) {
      positions.add(*range.state.position, range.size());
    }
  });
  return positions.is_empty() ? std::nullopt : std::optional(positions.median());
}

void CastReceivers::check_invariants() const {
  std::size_t count = 0;
  for (const auto& [first, state] : states_) count += state.position ? 1 : 0;
  PHX_CHECK(count == out_of_step_);
  const Pace now = pace([](const CastReceiver& state) { return state.is_in_step(); });
  const Pace kept = pace_in_step();
  PHX_CHECK(now.vnodes == kept.vnodes && now.slowest == kept.slowest &&
            now.fastest == kept.fastest && now.median == kept.median &&
            now.received == kept.received);
}

}  // namespace phx::runtime
