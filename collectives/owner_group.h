#pragma once

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"

namespace phx::collectives {

/// Vnodes believed to be owned by `owner` at `epoch`: what the vnode map knows, as a value. A list
/// of groups is disjoint and sorted by owner, then epoch [Saito08 G12].
struct OwnerGroup {
  ProcessorId owner;
  Epoch epoch = 0;
  VnodeSet vnodes;
  friend bool operator==(const OwnerGroup&, const OwnerGroup&) = default;
};

}  // namespace phx::collectives
