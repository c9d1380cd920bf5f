#pragma once

#include <cstdint>
#include <functional>
#include <map>

namespace phx::runtime {

/// How many vnodes have each number, and the number that half of them reach. Time to add or remove
/// some: logarithmic in how many numbers there are, unless the median moves far. Not thread-safe.
class VnodeCounts {
 public:
  void add(std::uint64_t number, std::uint64_t vnodes);
  /// REQUIRES that so many were added with this number.
  void remove(std::uint64_t number, std::uint64_t vnodes);

  [[nodiscard]] bool is_empty() const { return counts_.empty(); }
  /// The highest number that half of them reach; 0: there are none.
  [[nodiscard]] std::uint64_t median() const { return middle_; }
  [[nodiscard]] std::uint64_t highest() const;  ///< 0: there are none.
  [[nodiscard]] std::uint64_t lowest() const;   ///< The same.

 private:
  void find_middle();

  std::map<std::uint64_t, std::uint64_t, std::greater<>> counts_;  ///< The highest number first.
  std::uint64_t middle_ = 0;  ///< The median.
  std::uint64_t above_ = 0;   ///< So many have a higher number than that.
  std::uint64_t total_ = 0;
};

}  // namespace phx::runtime
