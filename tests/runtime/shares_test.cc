#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/vnodes/policy.h"
#include "runtime/vnodes/shares.h"
#include "tests/support/seeds.h"

TEST_SUITE_BEGIN("runtime/shares");

namespace phx::runtime::shares_test {
namespace {

using overlay::KnownNetwork;

std::vector<ProcessorId> ids_up_to(std::uint32_t count) {
  std::vector<ProcessorId> ids;
  for (std::uint32_t id = 1; id <= count; ++id) ids.push_back(ProcessorId{id});
  return ids;
}

/// Some of these have moved, so runs are of all lengths, and some processors have nothing.
VnodeMap random_map(std::uint64_t vnodes, std::uint32_t processors, Rng& rng) {
  VnodeMap map(vnodes, ids_up_to(processors));
  const Epoch moves = rng.below(vnodes);
  for (Epoch epoch = 2; epoch < 2 + moves; ++epoch) {
    const VnodeId first{rng.below(vnodes)};
    const VnodeId last{std::min(vnodes - 1, first.value + rng.below(4))};
    const ProcessorId to{1 + static_cast<std::uint32_t>(rng.below(processors))};
    map.learn({VnodeSet::range(first, last), to, epoch});
  }
  return map;
}

ProcessorSet random_stayers(std::uint32_t processors, Rng& rng) {
  ProcessorSet staying{ProcessorId{1 + static_cast<std::uint32_t>(rng.below(processors))}};
  const double chance = 0.1 + 0.8 * static_cast<double>(rng.below(10)) / 10;
  for (const ProcessorId id : ids_up_to(processors)) {
    if (rng.chance(chance)) staying.insert(id);
  }
  return staying;
}

constexpr std::uint64_t kMebi = std::uint64_t{1} << 20U;

/// p1, p2, p3 ... in turns in these, which are joined by narrow ways.
KnownNetwork sites_in_turn(std::uint32_t processors, std::size_t sites) {
  KnownNetwork network;
  network.sites.resize(sites);
  for (const ProcessorId id : ids_up_to(processors)) {
    network.sites[id.value % sites].processors.insert(id);
  }
  for (std::size_t a = 0; a < sites; ++a) {
    for (std::size_t b = 0; b < sites; ++b) {
      if (a != b) network.between[{a, b}] = {1ms, 10 * kMebi};
    }
  }
  return network;
}

/// What one gives whose vnodes these are.
Shares shares_of(const Leaving& leaving) {
  return choose_plan(leaving).shares.at(leaving.self);
}

/// What a leaver gives of small shares, by definition: everybody before gives in its turn, and then
/// this one, each time to one of those with least. That is who has what adjoins the first vnodes of
/// the rest, the one before first; else the lowest.
class Definition {
 public:
  Definition(const ProcessorSet& staying, const VnodeMap& map) : staying_(staying), map_(map) {
    for (const auto& [owner, load] : map.loads()) loads_[owner] = load;
    fair_ = (map.vnodes() + staying.size() - 1) / staying.size();
  }

  Shares shares(ProcessorId self) {
    for (const auto& [other, load] : map_.loads()) {
      if (other < self && !staying_.contains(other)) static_cast<void>(deal(other));
    }
    return deal(self);
  }

 private:
  Shares deal(ProcessorId leaver) {
    Shares shares;
    VnodeSet rest = map_.owned_by(leaver);
    while (!rest.empty()) {
      const ProcessorId target = next(rest);
      const std::uint64_t room = std::min(fair_ - loads_[target], rest.size());
      const VnodeSet share = choose(rest, target, room, map_);
      shares[target] = shares[target].united(share);
      rest = rest.minus(share);
      loads_[target] += share.size();
    }
    return shares;
  }
  ProcessorId next(const VnodeSet& rest) {
    const std::vector<ProcessorId> all = staying_.ids();
    const ProcessorId least =
        *std::ranges::min_element(all, {}, [this](ProcessorId id) { return loads_[id]; });
    for (const ProcessorId id : map_.beside(rest.ranges().front())) {
      if (staying_.contains(id) && loads_[id] == loads_[least]) return id;
    }
    return least;
  }

  const ProcessorSet& staying_;
  const VnodeMap& map_;
  std::uint64_t fair_ = 0;
  std::map<ProcessorId, std::uint64_t> loads_;
};

}  // namespace

TEST_CASE("many that leave together give to different processors") {
  const VnodeMap map(8, ids_up_to(8));
  ProcessorSet staying;
  for (const std::uint32_t id : {1U, 3U, 5U, 7U}) staying.insert(ProcessorId{id});
  ProcessorSet receivers;
  for (const std::uint32_t id : {2U, 4U, 6U, 8U}) {
    for (const auto& [to, share] :
         shares_of({ProcessorId{id}, map.owned_by(ProcessorId{id}), staying, map})) {
      if (!share.empty()) receivers.insert(to);
    }
  }
  CHECK(receivers == staying);
}

TEST_CASE(
    "a leaver that does not know yet who leaves besides gives to no other one than if it knew") {
  const VnodeMap map(16, ids_up_to(16));
  ProcessorSet staying;
  for (std::uint32_t id = 1; id < 16; id += 2) staying.insert(ProcessorId{id});
  for (std::uint32_t id = 2; id <= 16; id += 2) {
    const ProcessorId self{id};
    const VnodeSet own = map.owned_by(self);
    ProcessorSet alone = ProcessorSet::range(ProcessorId{1}, ProcessorId{16});
    alone.erase(self);
    CHECK(shares_of({self, own, alone, map}) == shares_of({self, own, staying, map}));
  }
}

TEST_CASE("small shares are what their definition gives") {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const auto processors = static_cast<std::uint32_t>(2 + rng.below(40));
    const ProcessorSet staying = random_stayers(processors, rng);
    const VnodeMap map = random_map(1 + rng.below(7 * staying.size()), processors, rng);
    for (const ProcessorId self : ids_up_to(processors)) {
      const VnodeSet own = map.owned_by(self);
      if (staying.contains(self) || own.empty()) continue;
      CHECK(shares_of({self, own, staying, map}) == Definition(staying, map).shares(self));
      ++compared;
    }
  }
  CHECK(compared > 1000);
}

TEST_CASE("of large shares nobody who stays gets much more than a fair one") {
  for (std::uint64_t seed = 1; seed <= support::seeds(100); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const auto processors = static_cast<std::uint32_t>(2 + rng.below(60));
    const ProcessorSet staying = random_stayers(processors, rng);
    const std::uint64_t each = 8 + rng.below(100);
    const VnodeMap map(each * processors, ids_up_to(processors));
    VnodeSet given;
    std::map<ProcessorId, std::uint64_t> loads;
    for (const ProcessorId self : ids_up_to(processors)) {
      if (staying.contains(self)) {
        loads[self] += each;
        continue;
      }
      for (const auto& [to, share] : shares_of({self, map.owned_by(self), staying, map})) {
        CHECK(staying.contains(to));
        CHECK(given.common(share).empty());
        given = given.united(share);
        loads[to] += share.size();
      }
    }
    CHECK(given == map.all().minus(map.owned_by_any(staying)));
    const std::uint64_t fair = (map.vnodes() + staying.size() - 1) / staying.size();
    // What adjoins its own it gets in any case: at most a whole share from each side.
    for (const auto& [processor, load] : loads) CHECK(load <= std::max(fair, 3 * each));
  }
}

TEST_CASE("by sites nothing leaves a site in which somebody may take it") {
  for (std::uint64_t seed = 1; seed <= support::seeds(100); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const auto processors = static_cast<std::uint32_t>(4 + rng.below(40));
    const ProcessorSet staying = random_stayers(processors, rng);
    const VnodeMap map = random_map(processors + rng.below(10 * processors), processors, rng);
    const KnownNetwork network = sites_in_turn(processors, 1 + rng.below(4));
    const VnodeSet left = map.all().minus(map.owned_by_any(staying));
    if (left.empty()) continue;
    const ProcessorId self = map.owner(left.front()).first;
    const SharePlan plan = plan_by_sites({self, map.owned_by(self), staying, map, &network});

    VnodeSet given;
    std::map<ProcessorId, std::uint64_t> loads;
    for (const ProcessorId id : staying.ids()) loads[id] = map.owned_by(id).size();
    for (const auto& [leaver, shares] : plan.shares) {
      for (const auto& [to, share] : shares) {
        CHECK(map.owned_by(leaver).contains_all(share));
        CHECK(given.common(share).empty());
        given = given.united(share);
        loads[to] += share.size();
      }
    }
    CHECK(given == left);
    const std::uint64_t fair = (map.vnodes() + staying.size() - 1) / staying.size();
    for (const auto& [leaver, shares] : plan.shares) {
      const std::size_t site = *network.site_of(leaver);
      for (const auto& [to, share] : shares) {
        CHECK(loads[to] <= fair);
        if (network.site_of(to) == site) continue;
        const ProcessorSet near = network.sites[site].processors.common(staying);
        for (const ProcessorId id : near.ids()) CHECK(loads[id] >= fair);
      }
    }
  }
}

TEST_CASE("all leavers make the same plan") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const auto processors = static_cast<std::uint32_t>(4 + rng.below(40));
    const ProcessorSet staying = random_stayers(processors, rng);
    const VnodeMap map = random_map(processors * (1 + rng.below(20)), processors, rng);
    const KnownNetwork network = sites_in_turn(processors, 1 + rng.below(4));
    std::optional<SharePlan> first;
    for (const ProcessorId self : ids_up_to(processors)) {
      const VnodeSet own = map.owned_by(self);
      if (staying.contains(self) || own.empty()) continue;
      const SharePlan plan = choose_plan({self, own, staying, map, &network});
      if (!first) first = plan;
      CHECK(plan.rule == first->rule);
      CHECK(plan.shares == first->shares);
    }
  }
}

TEST_CASE("what is predicted to be faster is chosen with the time of planning") {
  // In turns in two sites; p3 gives its ten to p2, and p4 to p5: to the other site.
  const VnodeMap map(80, ids_up_to(8));
  const ProcessorSet staying =
      ProcessorSet::range(ProcessorId{1}, ProcessorId{8}).minus({ProcessorId{3}, ProcessorId{4}});
  const VnodeSet own = map.owned_by(ProcessorId{3});
  KnownNetwork network = sites_in_turn(8, 2);
  const Leaving leaving{ProcessorId{3}, own, staying, map, &network};
  const auto between = [&](std::uint64_t rate) {
    network.between[{0, 1}] = network.between[{1, 0}] = {1ms, rate};
  };
  const auto chosen = [&] { return choose_plan(leaving).rule; };

  between(kMebi);
  CHECK(plan_by_neighbours(leaving).predicted == 10s);
  CHECK(plan_by_sites(leaving).predicted < 100ms);
  CHECK(chosen() == ShareRule::kSites);
  CHECK(choose_plan(leaving, ShareRule::kNeighbours).rule == ShareRule::kNeighbours);
  between(1000 * kMebi);
  CHECK(chosen() == ShareRule::kNeighbours);
  CHECK(choose_plan(leaving, ShareRule::kSites).rule == ShareRule::kSites);

  // Long runs are worth a tenth: 100 ms to send all within the sites.
  network.usual = {5us, 100 * kMebi, 100 * kMebi};
  between(98 * kMebi);
  CHECK(chosen() == ShareRule::kNeighbours);
  between(80 * kMebi);
  CHECK(chosen() == ShareRule::kSites);

  // Planning takes 80 us by account, so what lasts 800 us is not planned twice.
  CHECK(planning_time(8) == 80us);
  network.usual = {5us, 100'000 * kMebi, 100'000 * kMebi};
  between(11'000 * kMebi);  // 0.9 ms; 0.1 within the sites
  CHECK(chosen() == ShareRule::kSites);
  between(14'000 * kMebi);  // 0.7 ms
  CHECK(chosen() == ShareRule::kNeighbours);

  const Leaving knows_nothing{ProcessorId{3}, own, staying, map};
  CHECK(choose_plan(knows_nothing, ShareRule::kSites).rule == ShareRule::kNeighbours);
}

}  // namespace phx::runtime::shares_test

TEST_SUITE_END();
