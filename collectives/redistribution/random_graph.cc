#include "collectives/redistribution/random_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "overlay/base/check.h"
#include "overlay/base/rng.h"

namespace phx::redistribution {
namespace {

double drawn_size(Sizes sizes, Rng& rng) {
  constexpr double kMost = 1000;  // times the least
  const double share = static_cast<double>(rng.next() >> 11U) * 0x1.0p-53;
  switch (sizes) {
    case Sizes::kEqual:
      return 1;
    case Sizes::kUniform:
      return share;
    case Sizes::kThreeDecades:
      return std::pow(kMost, share);
  }
  return 1;
}

}  // namespace

MessageGraph random_graph(const GraphSketch& sketch, std::uint64_t seed) {
  const std::size_t cells = sketch.processors * (sketch.processors - 1);
  PHX_CHECK(sketch.messages <= cells && sketch.messages <= sketch.total);
  Rng rng(seed);
  std::vector<std::size_t> places(cells);
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::vector<double> shares;
  double sum = 0;
  for (std::size_t i = 0; i < sketch.messages; ++i) {
    std::swap(places[i], places[i + static_cast<std::size_t>(rng.below(cells - i))]);
    shares.push_back(drawn_size(sketch.sizes, rng));
    sum += shares.back();
  }
  MessageGraph graph{sketch.processors, {}};
  // One byte for each, and what is left by its share; what rounding leaves, one by one.
  std::uint64_t rest = sketch.total - sketch.messages;
  const auto spread = static_cast<double>(rest);
  for (std::size_t i = 0; i < sketch.messages; ++i) {
    const std::size_t from = places[i] / (sketch.processors - 1);
    const std::size_t column = places[i] % (sketch.processors - 1);
    const double wanted = sum > 0 ? spread * shares[i] / sum : 0;
    const std::uint64_t more = std::min(rest, static_cast<std::uint64_t>(wanted));
    rest -= more;
    graph.messages.push_back({from, column + (column >= from ? 1U : 0U), 1 + more});
  }
  for (std::size_t i = 0; rest > 0; i = (i + 1) % sketch.messages, --rest) {
    ++graph.messages[i].weight;
  }
  return graph;
}

}  // namespace phx::redistribution
