#pragma once

#include <cstddef>

#include "overlay/adaptive_tree_options.h"
#include "overlay/base/time.h"
#include "overlay/downloads.h"
#include "overlay/prober.h"

namespace phx::overlay {

struct TreeForestOptions {
  ProberOptions prober;
  DownloadsOptions downloads;
  AdaptiveTreeOptions latency;
  AdaptiveTreeOptions bandwidth = bandwidth_tree_options();
  /// A root closes its tree when it was not used for this long [Saito08 G22].
  Duration idle = 60s;
  /// Trees known at once [limit]. Further ones are not taken part in: their roots' collectives
  /// reach this processor point-to-point.
  std::size_t trees_max = 4096;
  /// Roots whose trees are asked about in one exchange of a probe [limit].
  std::size_t roots_max = 64;
  /// A place in a tree that is so new is asked about in every exchange: better ones may be known.
  Duration young = 3s;
  /// Rounds of probes that follow measurements of parents, per change of the members [limit].
  std::size_t rounds = 2;
  /// Who is near to nobody in the latency tree waits so long before it joins a bandwidth tree.
  Duration settle = 1s;
};

}  // namespace phx::overlay
