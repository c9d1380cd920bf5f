#pragma once

#include <cstdint>

#include "overlay/base/time.h"

namespace phx::runtime {

/// The knobs and limits of Membership.
struct MembershipOptions {
  Duration retry_period = 2s;    ///< Wishes that were not answered are repeated.
  Duration report_memory = 30s;  ///< A suspicion by others counts for so long.
  std::uint32_t reports = 3;     ///< So many of them decide, whatever the coordinator sees.
  std::uint32_t monitored = 2;   ///< Successors in the ring of ids that each processor watches.
  std::uint32_t id_gap = 256;    ///< Numbers left out after a coordinator's death: see Takeover.
  std::uint32_t members_max = 10000;  ///< [limit]
  std::uint32_t held_max = 1000;      ///< Requests or changes that came too early [limit].
};

}  // namespace phx::runtime
