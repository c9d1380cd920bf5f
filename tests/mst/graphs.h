#pragma once

#include <cstdint>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/rng.h"
#include "overlay/mst/lab.h"
#include "overlay/mst/messages.h"
#include "tests/support/kruskal.h"

namespace phx::mst::support {

inline ProcessorId p(std::uint32_t number) {
  return ProcessorId{number};
}
inline ProcessorSet first(std::uint32_t count) {
  return ProcessorSet::range(p(1), p(count));
}

using phx::support::kruskal;
using phx::support::Pair;
using phx::support::Tree;
using phx::support::Weights;

/// The heaviest edge between two in a tree; kForever: there is no way.
EdgeKey heaviest_between(const Tree& tree, const Weights& weights, Pair ends);
Duration total(const Tree& tree, const Weights& weights);

/// A connected graph of so many processors with about so many channels per processor; few different
/// weights, so many are equal.
Weights random_graph(std::uint32_t processors, std::uint32_t degree, Rng& rng);

/// A delay between 1 and 100 us, drawn for each message.
Lab::Delay random_delays(std::uint64_t seed);

/// What the processors say. CHECKs that both ends of each edge do.
Tree tree_of(const Lab& lab);
/// The weights that the tree was made for. CHECKs that both ends have the same.
Weights references_of(const Lab& lab);

/// Messages of searches: those that the bound of [Gallager83] counts.
std::uint64_t search_messages(const Lab& lab);
std::uint64_t search_bound(std::uint64_t processors, std::uint64_t channels);

}  // namespace phx::mst::support
