#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"

namespace phx::overlay {

/// How fast peers can send here, bytes per second, as measured last [Saito08 D, bw_p2p]. Bounded by
/// the number of live processors. Thread rule: one owner.
class RateStats {
 public:
  // Inputs.
  /// So fast it was; or, if a long way has lost a round trip by waiting, up to `at_most`.
  void set(ProcessorId peer, std::uint64_t at_least, std::uint64_t at_most, Instant now) {
    rates_[peer] = {at_least, at_most, now};
  }
  /// Forgets everybody who is not in `live`.
  void keep_only(const ProcessorSet& live) {
    std::erase_if(rates_, [&](const auto& of) { return !live.contains(of.first); });
  }

  // Queries.
  [[nodiscard]] std::size_t size() const { return rates_.size(); }
  /// Empty: not measured. Nobody sends faster over a long way than somebody was seen to send.
  [[nodiscard]] std::optional<std::uint64_t> rate(ProcessorId peer) const {
    const auto at = rates_.find(peer);
    if (at == rates_.end()) return std::nullopt;
    return std::clamp(*best(), at->second.at_least, at->second.at_most);
  }
  [[nodiscard]] bool is_fresh(ProcessorId peer, Instant now, Duration age) const {
    const auto at = rates_.find(peer);
    return at != rates_.end() && now < at->second.at + age;
  }
  /// Of the fastest peer: what one that was not measured may have. Empty: none was.
  [[nodiscard]] std::optional<std::uint64_t> best() const {
    return best_of([](ProcessorId) { return true; });
  }
  /// Of those that `counts` holds for.
  [[nodiscard]] std::optional<std::uint64_t> best_of(const auto& counts) const {
    std::optional<std::uint64_t> most;
    for (const auto& [peer, measured] : rates_) {
      if (counts(peer)) most = std::max(most.value_or(0), measured.at_least);
    }
    return most;
  }

 private:
  struct Measured {
    std::uint64_t at_least = 0;
    std::uint64_t at_most = 0;  ///< No less.
    Instant at;
  };
  std::map<ProcessorId, Measured> rates_;
};

}  // namespace phx::overlay
