#include "overlay/planners/planners.h"

#include <algorithm>
#include <array>
#include <string>

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
    Planner{"greedy", "always to those who would be last, from who reaches them first",
            &plan_greedy}};

/// These have N^2 transfers.
bool is_schedule(const Planner& planner) {
  return planner.make == &plan_mpich || planner.make == &plan_mpich_ring ||
         planner.make == &plan_magpie_long;
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
  if (is_schedule(*found) && costs.size() > kScheduledMax) {
    return Error{ErrorCode::kLimit, "'" + std::string(algorithm) + "' is for at most " +
                                        std::to_string(kScheduledMax) + " processors"};
  }
  return found->make({costs, *position, bytes});
}

}  // namespace phx::planners
