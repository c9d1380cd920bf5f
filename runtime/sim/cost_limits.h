#pragma once

#include <array>

#include "runtime/sim/costs.h"

namespace phx::sim {

/// Per event: milliseconds; messages and bytes per processor; messages of the busiest one. A third
/// above the table of runtime/README.md. What is N for each: when half of all vnodes move,
/// everybody hears of every owner; at the start, of the site of everybody; the home of a job waits
/// 20 us per member for more to announce.
inline constexpr std::array<CostLimit, 20> kCostLimits = {{
    {"start", {15, 0.1}, {82.1, 2.5}, {2333, 56, 0.25}, 117, 27.5},
    {"join", {25, 1.1}, {10.8, 0.1}, {569, 0}, 43, 5.37},
    {"leave", {143, 5.4}, {12.8, 0.1}, {346, 0}, 24, 8.03},
    {"join again", {10, 3.1}, {10.8, 0.1}, {571, 0}, 46, 5.37},
    {"death", {1964, 15.0}, {14.1, 0.1}, {407, 0}, 106, 2.69},
    {"idle minute", {80400, 0.1}, {386.5, 0.1}, {7908, 0}, 1088, 0.02},
    {"job start", {62, 10.5}, {14.5, 0.1}, {578, 0}, -18, 13.48},
    {"first broadcast", {70, 0.6}, {7.8, 0.1}, {270, 0}, 245, 0.25},
    {"broadcast", {18, 0.3}, {6.2, 0.1}, {218, 0}, 139, 0.12},
    {"first reduction", {22, 8.3}, {5.5, 0.1}, {172, 0}, 226, 0.24},
    {"reduction", {17, 0.3}, {6.5, 0.1}, {200, 3}, 145, 0.11},
    {"allreduce", {30, 0.3}, {7.3, 0.1}, {256, 0}, 193, 0.17},
    {"one vnode moves", {9, 0.3}, {8.3, 0.0}, {265, 0}, 3, 5.45},
    {"half of them move", {63, 0.0}, {20.4, 0.0}, {715, 0, 16.0}, -13, 12.67},
    {"join to a job", {280, 7.5}, {19.9, 0.1}, {893, 0}, 45, 7.96},
    {"leave from a job", {165, 6.9}, {22.9, 0.1}, {768, 0}, 62, 8.02},
    {"job end", {9, 17.2, 0.02}, {5.6, 2.9}, {360, 60}, 18, 10.87},
    {"trees close", {76028, 0.0}, {5.4, 0.8}, {314, 8}, 723, 5.33},
    {"death of a holder", {2024, 11.0}, {24.1, 0.1}, {981, 0}, 71, 8.04},
    {"death of the first", {1960, 15.0}, {15.5, 0.1}, {463, 0}, 69, 9.63},
}};

}  // namespace phx::sim
