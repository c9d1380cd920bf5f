#include "runtime/cast_piece.h"

#include <algorithm>

#include "runtime/membership/failure_detector.h"

namespace phx::runtime {

std::uint32_t cast_piece(const View& view, const overlay::KnownNetwork& network) {
  constexpr std::uint32_t kShort = std::uint32_t{16} << 10U;
  constexpr std::uint32_t kLong = std::uint32_t{64} << 10U;
  constexpr std::uint32_t kLongest = std::uint32_t{256} << 10U;
  constexpr std::uint64_t kFast = 500'000'000;  // bytes per second
  const auto& members = view.members;
  const bool is_one_machine = std::all_of(members.begin(), members.end(), [&](const auto& one) {
    return share_machine(members.begin()->second, one.second);
  });
  const bool is_fast = network.usual.out_bytes_per_second.value_or(0) >= kFast &&
                       network.usual.in_bytes_per_second.value_or(0) >= kFast;
  if (is_one_machine) return kLongest;
  return is_fast ? kLong : kShort;
}

}  // namespace phx::runtime
