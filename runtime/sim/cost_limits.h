#pragma once

#include <array>

#include "runtime/sim/costs.h"

namespace phx::sim {

/// Per event: milliseconds; messages and bytes per processor; messages of the busiest one. A third
/// above the table of runtime/README.md. When half of all vnodes move, everybody hears of every
/// owner, which is N for each.
inline constexpr std::array<CostLimit, 19> kCostLimits = {{
    {"start", {18, 0.0}, {-179.2, 95.7}, {-4490, 2430}, 291, 12.58},
    {"join", {-81, 28.0}, {-184.5, 78.5}, {-5423, 2202}, 253, 11.30},
    {"leave", {2, 27.3}, {13.1, 21.6}, {266, 589}, 248, 10.35},
    {"join again", {-9, 6.7}, {64.7, 12.9}, {1529, 381}, 317, 6.62},
    {"death", {534, 41.3}, {33.8, 16.3}, {912, 444}, 291, 6.58},
    {"idle minute", {80003, 0.0}, {343.9, 0.0}, {6879, 0}, 831, 0.06},
    {"job start", {135, 4.7}, {9.4, 0.5}, {673, 16}, -13, 13.67},
    {"first broadcast", {136, 4.0}, {-84.3, 49.4}, {-3179, 1772}, 222, 10.61},
    {"broadcast", {15, 1.3}, {0.0, 0.6}, {10, 28}, 36, 0.61},
    {"first reduction", {-114, 33.3}, {-29.2, 33.7}, {-807, 1334}, 67, 19.54},
    {"reduction", {-10, 7.3}, {2.2, 0.1}, {103, 0}, 38, 0.61},
    {"allreduce", {-21, 13.3}, {3.7, 0.2}, {154, 7}, 35, 1.25},
    {"one vnode moves", {10, 0.7}, {2.1, 0.7}, {118, 11}, -3, 5.78},
    {"half of them move", {66, 0.0}, {9.3, 1.6}, {629, 0, 16.1}, -44, 13.51},
    {"join to a job", {7, 26.7}, {18.4, 27.5}, {1069, 1089}, 327, 12.42},
    {"leave from a job", {32, 26.7}, {8.6, 26.2}, {1155, 941}, 264, 12.00},
    {"job end", {55, 7.3}, {12.2, 1.2}, {501, 29}, 69, 11.50},
    {"trees close", {76028, 0.0}, {5.4, 0.8}, {314, 8}, 723, 5.33},
    {"death of a holder", {935, 0.0}, {45.8, 16.8}, {1133, 525}, 259, 11.22},
}};

}  // namespace phx::sim
