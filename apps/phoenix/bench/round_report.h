#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/phoenix/bench/bench.h"

namespace phx::app {

/// What `phoenix bench round` says of each size and order of roots. V2 is what is left of a time
/// after that of a reduction is taken off, so it is known no better than the time of one reduction
/// is like that of the next: the noise. No V2 is told below that.
class RoundReport {
 public:
  /// `said`: seconds as br/ORDER, v2/ORDER, v3/ORDER of broadcasts, and noise/ORDER of each root.
  void add(std::uint64_t bytes, const std::string& order, const Said& said);
  /// Of one job: of all lines since the last time. Stands in the first of them.
  void tell_past(double percent);
  [[nodiscard]] bool is_empty() const { return rows_.empty(); }
  /// The median that is below the noise is "< NOISE", and has no ratio.
  [[nodiscard]] std::string table() const;
  /// Times are seconds. "v2" is never below "v2_noise"; "v2_below_noise" counts those that were.
  /// "past_trees_percent" is that of the whole job, in each of its entries.
  [[nodiscard]] std::string json() const { return list_.dump(2) + "\n"; }

 private:
  std::vector<std::vector<std::string>> rows_;
  std::size_t told_ = 0;  ///< So many have what went past the trees.
  nlohmann::json list_ = nlohmann::json::array();
};

}  // namespace phx::app
