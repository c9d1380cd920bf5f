#include "overlay/mst/agm_network.h"

#include <array>
#include <ratio>

#include "overlay/base/check.h"

namespace phx::mst {
namespace {

using TenthsOfMs = std::chrono::duration<std::int64_t, std::ratio<1, 10'000>>;

/// Between sites, S0 to S5; inside of one where both are the same.
constexpr std::array<std::array<std::int64_t, kAgmSites>, kAgmSites> kLatencies = {{
    {10, 4854, 6989, 149, 3328, 614},
    {4854, 10, 3641, 5838, 135, 4905},
    {6989, 3641, 10, 7012, 3717, 7229},
    {149, 5838, 7012, 10, 3310, 351},
    {3328, 135, 3717, 3310, 10, 3559},
    {614, 4905, 7229, 351, 3559, 10},
}};

}  // namespace

Duration agm_latency(ProcessorId from, ProcessorId to) {
  PHX_CHECK(agm_processors().contains(from) && agm_processors().contains(to));
  const auto& row = kLatencies[(from.value - 1) / kAgmPerSite];
  return TenthsOfMs(row[(to.value - 1) / kAgmPerSite]);
}

ProcessorSet agm_processors() {
  return ProcessorSet::range(ProcessorId{1}, ProcessorId{kAgmProcessors});
}

}  // namespace phx::mst
