#pragma once

#include <cstdint>

#include "overlay/base/time.h"

namespace phx::runtime {

/// The knobs and limits of Membership.
struct MembershipOptions {
  Duration retry_period = 2s;  ///< Wishes that were not answered are repeated.
  /// An accusation counts for so long, two of `peer_timeout` and some: channels repeat it every
  /// `peer_timeout` while it holds.
  Duration report_memory = 12s;
  std::uint32_t accusers = 2;   ///< So many must have tried, the judge among them.
  std::uint32_t witnesses = 3;  ///< Asked first; twice as many each time that all keep silent.
  /// Between two changes of the view wishes and deaths are gathered for this long ...
  Duration office_period = 10ms;
  /// ... plus this for each member that a change is sent to.
  Duration office_per_member = 20us;
  /// Who has given all away waits so long for other leavers to come to that, and is out of the
  /// trees together with them.
  Duration emptied_wait = 500ms;
  std::uint32_t monitored = 2;  ///< Successors in the ring of ids that each processor watches.
  std::uint32_t id_gap = 256;   ///< Numbers left out after a coordinator's death: see Takeover.
  std::uint32_t members_max = 10000;  ///< [limit]
  std::uint32_t held_max = 1000;      ///< Requests or changes that came too early [limit].
};

}  // namespace phx::runtime
