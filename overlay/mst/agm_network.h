#pragma once

#include <cstdint>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"

namespace phx::mst {

/// The network of [Agm s.5]: 24 processors, four in each of six sites. Its process 0 is p1 here.
inline constexpr std::uint32_t kAgmSites = 6;
inline constexpr std::uint32_t kAgmPerSite = 4;
inline constexpr std::uint32_t kAgmProcessors = kAgmSites * kAgmPerSite;
/// That sends all broadcasts: process 12, in the site S3.
inline constexpr ProcessorId kAgmRoot{13};

/// Table 1 of [Agm]. Inside of a site it says "about 0"; here 1 ms, from where its injected changes
/// begin. REQUIRES two of the processors.
[[nodiscard]] Duration agm_latency(ProcessorId from, ProcessorId to);
[[nodiscard]] ProcessorSet agm_processors();

}  // namespace phx::mst
