#include "runtime/vnodes/shares.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "collectives/redistribution/known_ways.h"
#include "overlay/base/check.h"
#include "runtime/vnodes/policy.h"

namespace phx::runtime {
namespace {

using Held = std::map<ProcessorId, std::uint64_t>;

/// How much each of some who stay would have, so that whoever has least is found at once.
class Targets {
 public:
  Targets(const ProcessorSet& targets, Held& loads) : loads_(loads) {
    for (const ProcessorId id : targets.ids()) least_first_.emplace(loads_[id], id);
  }

  [[nodiscard]] std::uint64_t load(ProcessorId target) const { return loads_.at(target); }
  [[nodiscard]] ProcessorId least() const { return least_first_.begin()->second; }
  [[nodiscard]] bool has_least(ProcessorId target) const {
    return least_first_.contains({load(least()), target});
  }
  void add(ProcessorId target, std::uint64_t count) {
    std::uint64_t& load = loads_.at(target);
    auto entry = least_first_.extract({load, target});
    load += count;
    entry.value().first = load;
    least_first_.insert(std::move(entry));
  }

 private:
  Held& loads_;
  std::set<std::pair<std::uint64_t, ProcessorId>> least_first_;
};

class Sharing {
 public:
  explicit Sharing(const Leaving& leaving) : leaving_(leaving) {
    PHX_CHECK(!leaving.staying.empty());
    const VnodeMap& map = leaving.map;
    for (const auto& group : map.groups(map.all())) {
      if (leaving.staying.contains(group.owner)) {
        loads_[group.owner] += group.vnodes.size();
      } else if (group.owner != kNobody) {
        rests_[group.owner] = rests_[group.owner].united(group.vnodes);
      }
    }
    rests_[leaving.self] = leaving.vnodes;
    const std::uint64_t count = leaving.staying.size();
    fair_ = (map.vnodes() + count - 1) / count;
  }

  /// Where shares are large, runs disappear: what adjoins vnodes of those who stay goes there. Then
  /// each deals the rest out, those of lower ids first.
  SharePlan by_neighbours() && {
    Targets all(leaving_.staying, loads_);
    for (auto& [leaver, rest] : rests_) {
      if (!gaps_of(fair_).are_none()) push_aside(leaver, rest, all);
    }
    for (auto& [leaver, rest] : rests_) deal(leaver, rest, all, fair_);
    plan_.rule = ShareRule::kNeighbours;
    return std::move(*this).predicted();
  }

  /// Each gives to those of its site what these may take; then everybody the rest.
  SharePlan by_sites() && {
    for (const auto& site : leaving_.network->sites) {
      const ProcessorSet staying = site.processors.common(leaving_.staying);
      if (staying.empty()) continue;
      Targets near(staying, loads_);
      for (auto& [leaver, rest] : rests_) {
        if (site.processors.contains(leaver)) deal(leaver, rest, near, fair_);
      }
    }
    Targets all(leaving_.staying, loads_);
    for (auto& [leaver, rest] : rests_) deal(leaver, rest, all, fair_);
    plan_.rule = ShareRule::kSites;
    return std::move(*this).predicted();
  }

 private:
  void give(ProcessorId leaver, ProcessorId target, const VnodeSet& share, Targets& targets) {
    if (share.empty()) return;
    VnodeSet& given = plan_.shares[leaver][target];
    given = given.united(share);
    targets.add(target, share.size());
  }

  /// What it has beside vnodes of those who stay.
  void push_aside(ProcessorId leaver, VnodeSet& rest, Targets& targets) {
    const VnodeSet vnodes = rest;
    for (const auto& range : vnodes.ranges()) {
      std::vector<ProcessorId> beside = leaving_.map.beside(range);
      std::erase_if(beside, [this](ProcessorId id) { return !leaving_.staying.contains(id); });
      if (beside.empty()) continue;
      // The one before gets the first part, the one behind the last part, so that both have as
      // much.
      const ProcessorId before = beside.front();
      const ProcessorId behind = beside.back();
      const std::uint64_t all = targets.load(before) + range.size();
      const std::uint64_t less = targets.load(behind);
      const bool has_less = before != behind && less < all;
      const std::uint64_t even = has_less ? std::min(range.size(), (all - less) / 2) : 0;
      const VnodeSet whole = VnodeSet::range(range.first, range.last);
      const VnodeSet second = whole.last_ids(even);
      give(leaver, behind, second, targets);
      give(leaver, before, whole.minus(second), targets);
      rest = rest.minus(whole);
    }
  }

  /// Of those who have least whoever has what adjoins the first of these: runs stay long, and a
  /// leaver that does not know yet who leaves besides takes no other one than if it knew.
  [[nodiscard]] ProcessorId target_for(const VnodeSet& rest, const Targets& targets) const {
    for (const ProcessorId id : leaving_.map.beside(rest.ranges().front())) {
      if (targets.has_least(id)) return id;
    }
    return targets.least();
  }

  /// To whoever has least, up to so many each.
  void deal(ProcessorId leaver, VnodeSet& rest, Targets& targets, std::uint64_t most) {
    while (!rest.empty() && targets.load(targets.least()) < most) {
      const ProcessorId target = target_for(rest, targets);
      const std::uint64_t room = most - targets.load(target);
      const VnodeSet share = choose(rest, target, std::min(room, rest.size()), leaving_.map);
      rest = rest.minus(share);
      give(leaver, target, share, targets);
    }
  }

  SharePlan predicted() && {
    if (leaving_.network != nullptr) plan_.predicted = predict();
    return std::move(plan_);
  }

  /// All send at once, and that takes as long as no schedule beats, so nearly that it need not be
  /// simulated [collectives/redistribution/README.md, "Where vnodes move"].
  [[nodiscard]] Duration predict() const {
    constexpr std::uint64_t kVnodeBytes = std::uint64_t{1} << 20U;
    std::map<ProcessorId, std::size_t> places;
    std::vector<ProcessorId> processors;
    const auto place_of = [&](ProcessorId id) {
      const auto [found, is_new] = places.try_emplace(id, processors.size());
      if (is_new) processors.push_back(id);
      return found->second;
    };
    redistribution::MessageGraph graph;
    for (const auto& [leaver, shares] : plan_.shares) {
      for (const auto& [target, share] : shares) {
        const std::size_t from = place_of(leaver);
        graph.messages.push_back({from, place_of(target), share.size() * kVnodeBytes});
      }
    }
    graph.processors = processors.size();
    const auto ways = redistribution::ways_between(*leaving_.network, processors);
    return redistribution::least_time(graph, ways);
  }

  const Leaving& leaving_;
  std::uint64_t fair_ = 0;
  Held loads_;                             ///< Of those who stay.
  std::map<ProcessorId, VnodeSet> rests_;  ///< Of those who leave.
  SharePlan plan_;
};

}  // namespace

SharePlan plan_by_neighbours(const Leaving& leaving) {
  return Sharing(leaving).by_neighbours();
}

SharePlan plan_by_sites(const Leaving& leaving) {
  PHX_CHECK(leaving.network != nullptr);
  return Sharing(leaving).by_sites();
}

Duration planning_time(std::size_t processors) {
  return 10us * static_cast<Duration::rep>(processors);
}

SharePlan choose_plan(const Leaving& leaving, ShareRule rule) {
  constexpr int kWorth = 10;
  const bool knows_sites = leaving.network != nullptr && leaving.network->sites.size() > 1;
  if (rule == ShareRule::kSites && knows_sites) return plan_by_sites(leaving);
  SharePlan plan = plan_by_neighbours(leaving);
  if (rule != ShareRule::kPredicted || !knows_sites) return plan;
  const Duration planning = planning_time(leaving.staying.size() + plan.shares.size());
  if (plan.predicted <= kWorth * planning) return plan;
  SharePlan other = plan_by_sites(leaving);
  constexpr int kTenths = 10;
  const bool gains = kTenths * (other.predicted + planning) < (kTenths - 1) * plan.predicted;
  return gains ? other : plan;
}

}  // namespace phx::runtime
