#include "overlay/planners/planners.h"

#include <algorithm>
#include <array>
#include <string>

#include "overlay/planners/pair_plans.h"

namespace phx::planners {
namespace {

constexpr std::array kPlanners = {
    Planner{"flat", "the root sends to all, one after the other", &plan_flat},
    Planner{"binomial", "binomial tree over all, in the order of ids", &plan_binomial},
    Planner{"mpich", "as MPICH chooses by size: binomial, or scatter and allgather", &plan_mpich},
    Planner{"mpich-ring", "binomial scatter, then pieces go round a ring", &plan_mpich_ring},
    Planner{"magpie", "to one of each site, then binomial inside", &plan_magpie},
    Planner{"magpie-long", "to one of each site, then as mpich inside", &plan_magpie_long},
    Planner{"list", "one chain, site by site, in segments", &plan_list},
    Planner{"binary", "two children each, site by site, in segments", &plan_binary},
    Planner{"two-tree", "two trees, inner processors of one are leaves of the other",
            &plan_two_tree},
    Planner{"striped", "two, four or eight such trees, whatever is predicted to be best",
            &plan_striped},
    Planner{"greedy", "always to those who would be last, from who reaches them first",
            &plan_greedy},
    Planner{"fnf", "fastest processor first", nullptr, &tree_fnf},
    Planner{"fef", "fastest edge first", nullptr, &tree_fef},
    Planner{"fef-latency", "the same, told latencies only", nullptr, &tree_fef,
            CostModel::kLatencyOnly},
    Planner{"ecef", "who completes first is next (FCEF)", nullptr, &tree_ecef},
    Planner{"ecef-latency", "the same, told latencies only", nullptr, &tree_ecef,
            CostModel::kLatencyOnly},
    Planner{"look-ahead", "as ecef, counting the receiver's next step", nullptr, &tree_look_ahead},
    Planner{"look-ahead-latency", "the same, told latencies only", nullptr, &tree_look_ahead,
            CostModel::kLatencyOnly},
    Planner{"mgo", "site by site, with a helper in the own one before each", nullptr, &tree_mgo},
    Planner{"mgo-latency", "the same, told latencies only", nullptr, &tree_mgo,
            CostModel::kLatencyOnly},
    Planner{"mgo-r1-first", "as mgo, but the new site before the helper", nullptr,
            &tree_mgo_r1_first}};

/// These have N^2 entries.
bool is_square(const Planner& planner) {
  return planner.from_pairs != nullptr || planner.make == &plan_mpich ||
         planner.make == &plan_mpich_ring || planner.make == &plan_magpie_long;
}

}  // namespace

std::span<const Planner> all_planners() {
  return kPlanners;
}

Result<Plan> plan(std::string_view algorithm, const overlay::KnownNetwork& network,
                  ProcessorId root, std::uint64_t bytes) {
  const auto found = std::find_if(kPlanners.begin(), kPlanners.end(),
                                  [&](const Planner& p) { return p.name == algorithm; });
  if (found == kPlanners.end()) {
    return Error{ErrorCode::kNotFound, "there is no plan '" + std::string(algorithm) + "'"};
  }
  if (const Status status = network.check(); !status.ok()) return status.error();
  const Costs costs(network);
  const auto position = costs.position(root);
  if (!position) {
    return Error{ErrorCode::kBadInput, "nothing is known of the root " + to_string(root)};
  }
  if (is_square(*found) && costs.size() > kScheduledMax) {
    return Error{ErrorCode::kLimit, "'" + std::string(algorithm) + "' is for at most " +
                                        std::to_string(kScheduledMax) + " processors"};
  }
  const Task task{costs, *position, bytes};
  return found->from_pairs == nullptr ? found->make(task) : plan_from_pairs(*found, task);
}

}  // namespace phx::planners
