#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/redistribution/message_graph.h"

namespace phx::redistribution {

/// How unlike the sizes of messages are.
enum class Sizes : std::uint8_t { kEqual, kUniform, kThreeDecades };

/// What is drawn.
struct GraphSketch {
  std::size_t processors = 0;
  std::size_t messages = 0;  ///< Between different pairs: at most processors * (processors - 1).
  std::uint64_t total = 0;   ///< Of all together; at least `messages`.
  Sizes sizes = Sizes::kUniform;
};

/// As in the experiments of [Kurnysh11], whose own generator is not to be used: see the README.
/// `seed` decides all.
[[nodiscard]] MessageGraph random_graph(const GraphSketch& sketch, std::uint64_t seed);

}  // namespace phx::redistribution
