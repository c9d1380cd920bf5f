#pragma once

#include <cstdint>
#include <map>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "runtime/messages/parcels.h"

// What vnodes that arrive at a processor have contributed to reductions elsewhere.
namespace phx::runtime {

/// Per target, the first contribution that a vnode which arrives gives here.
[[nodiscard]] std::map<VnodeId, std::uint64_t> next_numbers_of(const VnodeBundle& bundle,
                                                               std::uint64_t line);

/// Reductions to which vnodes that arrive gave something elsewhere, as far as others may wait.
using GivenElsewhere = std::map<collectives::ReductionId, collectives::ReductionWay>;

/// Adds the last one to each target, and those before it that are not known to be complete.
void add_given(const VnodeBundle& bundle, const std::map<VnodeId, std::uint64_t>& next_numbers,
               GivenElsewhere& given);

}  // namespace phx::runtime
