#pragma once

#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "overlay/link_stats.h"
#include "overlay/rate_stats.h"

namespace phx::overlay {

/// What a tree may know of the world at the moment of an input.
struct Horizon {
  Instant now;
  const ProcessorSet& live;
  const LinkStats& links;
  const RateStats& rates;
};

}  // namespace phx::overlay
