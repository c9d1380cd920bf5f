#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "apps/phoenix/bench/bench.h"
#include "apps/phoenix/texts/table.h"

namespace phx::app {

/// What `phoenix bench round` says of each size and order of roots. V2 is what is left of a time
/// after that of a reduction is taken off, so it is known no better than the time of one reduction
/// is like that of the next: the noise. No V2 is told below that.
class RoundReport {
 public:
  /// `said`: seconds as br/ORDER, v2/ORDER, v3/ORDER of broadcasts, and noise/ORDER of each root.
  void add(std::uint64_t bytes, const std::string& order, const Said& said, double past_percent);
  /// The median that is below the noise is "< NOISE", and has no ratio.
  [[nodiscard]] std::string table() const { return table_.text(); }
  /// Times are seconds. "v2" is never below "v2_noise"; "v2_below_noise" counts those that were.
  [[nodiscard]] std::string json() const { return list_.dump(2) + "\n"; }

 private:
  Table table_{
      {"BYTES", "ROOTS", "BR MS", "V2 MS", "V2 MOST MS", "BR/V2", "V3 MS", "PAST TREES %"}};
  nlohmann::json list_ = nlohmann::json::array();
};

}  // namespace phx::app
