#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/vnodes/policy.h"

TEST_SUITE_BEGIN("runtime/shares");

namespace phx::runtime {
namespace {

using Shares = std::map<ProcessorId, VnodeSet>;

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

/// What `shares_of` is for small shares, by definition: everybody before gives in its turn, each
/// time to those with least first; and then this one.
class Definition {
 public:
  Definition(const ProcessorSet& staying, const VnodeMap& map) : staying_(staying), map_(map) {
    for (const auto& [owner, load] : map.loads()) loads_[owner] = load;
    fair_ = (map.vnodes() + staying.size() - 1) / staying.size();
  }

  Shares shares(ProcessorId self) {
    const std::map<ProcessorId, std::uint64_t> before = loads_;
    for (const auto& [other, load] : before) {
      if (other < self && !staying_.contains(other)) take_in(load);
    }
    Shares shares;
    VnodeSet rest = map_.owned_by(self);
    const auto order = least_first();
    for (const ProcessorId target : order) {
      if (rest.empty() || loads_[target] >= fair_) break;
      const std::uint64_t room = std::min(fair_ - loads_[target], rest.size());
      shares[target] = choose(rest, target, room, map_);
      rest = rest.minus(shares[target]);
    }
    shares[order.front()] = shares[order.front()].united(rest);
    return shares;
  }

 private:
  std::vector<ProcessorId> least_first() {
    std::vector<ProcessorId> order = staying_.ids();
    std::ranges::stable_sort(order, {}, [this](ProcessorId id) { return loads_[id]; });
    return order;
  }
  void take_in(std::uint64_t count) {
    for (const ProcessorId target : least_first()) {
      if (loads_[target] >= fair_) return;
      const std::uint64_t taken = std::min(fair_ - loads_[target], count);
      loads_[target] += taken;
      count -= taken;
    }
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
    for (const auto& [to, share] : shares_of(map.owned_by(ProcessorId{id}), staying, map)) {
      if (!share.empty()) receivers.insert(to);
    }
  }
  CHECK(receivers == staying);
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
      CHECK(shares_of(own, staying, map) == Definition(staying, map).shares(self));
      ++compared;
    }
  }
  CHECK(compared > 1000);
}

TEST_CASE("of large shares nobody who stays gets much more than a fair one") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
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
      for (const auto& [to, share] : shares_of(map.owned_by(self), staying, map)) {
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

}  // namespace phx::runtime

TEST_SUITE_END();
