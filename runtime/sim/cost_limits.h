#pragma once

#include <array>

#include "runtime/sim/costs.h"

namespace phx::sim {

/// Per event: its time; messages and bytes per processor; messages of the busiest one, as a fixed
/// number and so many per processor of the mesh. A third above what 16, 64 and 256 processors need.
inline constexpr std::array<CostLimit, 19> kCostLimits = {{
    {"start", 17ms, 507.5, 12998, 290, 12.55},
    {"join", 139ms, 313.8, 8419, 252, 11.27},
    {"leave", 171ms, 165.3, 4327, 247, 10.32},
    {"join again", 32ms, 157.4, 4180, 317, 6.54},
    {"death", 566ms, 157.5, 4179, 273, 6.54},
    {"idle minute", 79803ms, 343.1, 6863, 832, 0.01},
    {"job start", 151ms, 29.3, 6143, 1, 11.63},
    {"first broadcast", 149ms, 272.5, 9056, 186, 9.97},
    {"broadcast", 20ms, 19.0, 457, 35, 0.67},
    {"first reduction", 85ms, 200.5, 7690, 75, 18.47},
    {"reduction", 18ms, 18.8, 426, 37, 0.67},
    {"allreduce", 33ms, 20.9, 514, 33, 1.33},
    {"one vnode moves", 12ms, 22.0, 456, 27, 3.60},
    {"half of them move", 65ms, 48.6, 5442, 1, 28.92},
    {"join to a job", 142ms, 199.2, 7666, 156, 22.93},
    {"leave from a job", 198ms, 204.7, 7726, 45, 25.56},
    {"job end", 109ms, 35.4, 6300, 104, 5.96},
    {"trees close", 67696ms, 295.3, 6219, 670, 2.69},
    {"death of a holder", 930ms, 164.6, 4778, 243, 10.34},
}};

}  // namespace phx::sim
