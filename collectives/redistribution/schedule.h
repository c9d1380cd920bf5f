#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/redistribution/message_graph.h"

namespace phx::redistribution {

/// A part of a message, or all of it.
struct Part {
  std::size_t message = 0;  ///< Its place in the graph.
  std::uint64_t amount = 0;
  friend bool operator==(const Part&, const Part&) = default;
};

/// What goes at once: nobody sends two of them, nobody receives two.
using Step = std::vector<Part>;

/// The steps may be taken in any order.
struct Schedule {
  std::vector<Step> steps;
  friend bool operator==(const Schedule&, const Schedule&) = default;

  /// Sum of steps: `setup`, and the heaviest part.
  [[nodiscard]] std::uint64_t cost(std::uint64_t setup) const;
  /// Into how many all messages are cut.
  [[nodiscard]] std::size_t parts() const;
};

/// kBadInput: what keeps each message from being moved once and wholly, or two parts of a step that
/// share an end, or a step that is empty or has more than `at_once` parts.
[[nodiscard]] Status validate(const Schedule& schedule, const MessageGraph& graph,
                              std::size_t at_once);

}  // namespace phx::redistribution
