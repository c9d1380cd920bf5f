#include "tests/mst/graphs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

namespace phx::mst::support {

EdgeKey heaviest_between(const Tree& tree, const Weights& weights, Pair ends) {
  const EdgeKey none{kForever, {}, {}};
  const std::function<EdgeKey(ProcessorId, ProcessorId, EdgeKey)> seek = [&](ProcessorId at,
                                                                             ProcessorId before,
                                                                             EdgeKey heaviest) {
    if (at == ends.second) return heaviest;
    for (const auto& [a, b] : tree) {
      if (a != at && b != at) continue;
      const ProcessorId next = a == at ? b : a;
      if (next == before) continue;
      const EdgeKey found = seek(next, at, std::max(heaviest, EdgeKey{weights.at({a, b}), a, b}));
      if (found != none) return found;
    }
    return none;
  };
  return seek(ends.first, {}, {});
}

Duration total(const Tree& tree, const Weights& weights) {
  Duration sum{};
  for (const Pair& edge : tree) sum += weights.at(edge);
  return sum;
}

Weights random_graph(std::uint32_t processors, std::uint32_t degree, Rng& rng) {
  Weights weights;
  const auto draw = [&rng] { return Duration(1 + rng.below(20)); };
  for (std::uint32_t i = 2; i <= processors; ++i) {
    weights[{p(1 + static_cast<std::uint32_t>(rng.below(i - 1))), p(i)}] = draw();
  }
  for (std::uint32_t i = 0; processors > 1 && i < processors * degree / 2; ++i) {
    const auto a = p(1 + static_cast<std::uint32_t>(rng.below(processors)));
    const auto b = p(1 + static_cast<std::uint32_t>(rng.below(processors)));
    if (a != b) weights[std::minmax(a, b)] = draw();
  }
  return weights;
}

Lab::Delay random_delays(std::uint64_t seed) {
  auto rng = std::make_shared<Rng>(seed);
  return [rng](ProcessorId, ProcessorId) { return std::chrono::microseconds(1 + rng->below(100)); };
}

Tree tree_of(const Lab& lab) {
  Tree tree;
  for (const ProcessorId id : lab.live().ids()) {
    for (const ProcessorId other : lab.at(id).tree()) {
      tree.insert(std::minmax(id, other));
      REQUIRE(lab.live().contains(other));
      CHECK(lab.at(other).tree().contains(id));
    }
  }
  return tree;
}

Weights references_of(const Lab& lab) {
  Weights weights;
  const auto ids = lab.live().ids();
  for (const ProcessorId a : ids) {
    for (const ProcessorId b : ids) {
      if (b <= a) continue;
      const Duration reference = lab.at(a).reference(b);
      CHECK(lab.at(b).reference(a) == reference);
      if (reference != kForever) weights[{a, b}] = reference;
    }
  }
  return weights;
}

std::uint64_t search_messages(const Lab& lab) {
  std::uint64_t sum = 0;
  for (const auto* name :
       {"Connect", "Initiate", "Test", "Accept", "Reject", "Report", "ChangeRoot"}) {
    sum += lab.sent(name);
  }
  return sum;
}

std::uint64_t search_bound(std::uint64_t processors, std::uint64_t channels) {
  const double n = static_cast<double>(processors);
  return static_cast<std::uint64_t>(5 * n * std::log2(n)) + 2 * channels;
}

}  // namespace phx::mst::support
