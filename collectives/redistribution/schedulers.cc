#include "collectives/redistribution/schedulers.h"

#include <array>

namespace phx::redistribution {
namespace {

constexpr std::array kSchedulers = {
    Scheduler{"drc", "heaviest first until two are left for each, then two colours", &schedule_drc},
    Scheduler{"sdrc", "heaviest first to the end", &schedule_sdrc},
    Scheduler{"drc-exact", "who has most left is in each step: the least number of steps",
              &schedule_drc_exact},
    Scheduler{"ggp", "perfect matchings of a graph that is made regular", &schedule_ggp},
    Scheduler{"oggp", "the same, with matchings as heavy as possible", &schedule_oggp}};

}  // namespace

std::span<const Scheduler> all_schedulers() {
  return kSchedulers;
}

}  // namespace phx::redistribution
