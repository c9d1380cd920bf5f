#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace phx {

/// The value in the middle; of an even number, the mean of the two there. 0: there is none.
[[nodiscard]] inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace phx
