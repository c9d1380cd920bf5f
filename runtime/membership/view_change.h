#pragma once

#include <cstdint>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

// Views as values: what one change makes of them. Pure functions.

/// The member with the lowest id; kNobody if everybody has left.
[[nodiscard]] ProcessorId coordinator_of(const View& view);
/// Makes `view` the next one. REQUIRES change.number == view.number + 1. O(size of the change).
void apply_change(View& view, const ViewChange& change);
/// The whole view that `install` means, where it follows `before`; without members: it does not.
[[nodiscard]] View result_of(const View& before, const ViewInstall& install);
/// `from` may say `change`: it is the coordinator, or becomes it by this very change (then it
/// repeats the last words of its predecessor, which may not have reached everybody).
[[nodiscard]] bool may_change(ProcessorId from, const View& view, const ViewChange& change);
/// Above every id that can be given.
inline constexpr std::uint32_t kIdEnd = ~std::uint32_t{0};
/// What a peer says makes sense: ids that can have been given, below those that come next.
[[nodiscard]] bool is_sound(const ViewChange& change);
[[nodiscard]] bool is_sound(const View& view);
/// The change names `id` as gone.
[[nodiscard]] bool is_gone_by(const ViewChange& change, ProcessorId id);
/// The change from `before` to `after`, however many views lie between. Why somebody is gone is
/// looked up in `reasons`.
[[nodiscard]] ViewChange difference(const View& before, const View& after,
                                    const std::vector<ViewChange::Gone>& reasons);
/// All members; those that do not leave; these, and leavers that still have vnodes.
[[nodiscard]] ProcessorSet ids_of(const View& view);
[[nodiscard]] ProcessorSet live_members(const View& view);
[[nodiscard]] ProcessorSet relaying_members(const View& view);
/// What it wants is so already.
[[nodiscard]] bool has_done(const Member& leaver, LeaveStep step);
/// Ids that were given once and are no members (any more).
[[nodiscard]] ProcessorSet gone_members(const View& view);

}  // namespace phx::runtime
