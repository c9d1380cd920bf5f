#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "overlay/planners/costs.h"
#include "overlay/planners/plan.h"

/// Schedules in the manner of MPICH, for those who use them among some of the processors.
namespace phx::planners {

/// How MPICH chooses [Thakur03]: short messages, and few processors, take a binomial tree; middle
/// ones recursive doubling, if the number of processors is a power of two; the others the ring.
inline constexpr std::uint64_t kMpichShort = 12288;
inline constexpr std::uint64_t kMpichLong = 524288;
inline constexpr std::size_t kMpichFew = 8;

/// One broadcast among `members`, of which the first one has the message.
class MpichSchedule {
 public:
  MpichSchedule(const Costs& costs, std::span<const std::size_t> members, std::uint64_t bytes);
  /// As MPICH chooses.
  void append(std::vector<Transfer>& transfers) const;
  void append_binomial(std::vector<Transfer>& transfers) const;
  /// Scatter along a binomial tree; then pieces go round.
  void append_ring(std::vector<Transfer>& transfers) const;
  /// REQUIRES a power of two of members. The same scatter; then pieces are exchanged over ever
  /// greater distances.
  void append_doubling(std::vector<Transfer>& transfers) const;

 private:
  void append_scatter(std::vector<Transfer>& transfers) const;
  /// The pieces of `count` members, beginning with `first`; nothing if they are empty.
  void append_pieces(std::vector<Transfer>& transfers, std::pair<std::size_t, std::size_t> ends,
                     std::size_t first, std::size_t count) const;

  const Costs& costs_;
  std::span<const std::size_t> members_;
  std::uint64_t bytes_;
  std::uint64_t piece_;
};

}  // namespace phx::planners
