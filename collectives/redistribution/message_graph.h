#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "overlay/base/result.h"

/// Schedules for many messages of different sizes between the same processors, of which each sends
/// one and receives one at a time. What is meant, and from where, is in
/// collectives/redistribution/README.md. Thread rule: values and pure functions.
namespace phx::redistribution {

/// All weights of a graph together are no more.
inline constexpr std::uint64_t kTotalMax = std::uint64_t{1} << 60U;

/// So much goes from one processor to another one: bytes, or bytes over bandwidth.
struct Message {
  std::size_t from = 0;
  std::size_t to = 0;
  std::uint64_t weight = 0;
  friend bool operator==(const Message&, const Message&) = default;
};

/// All messages of one redistribution. Two may have the same ends.
struct MessageGraph {
  std::size_t processors = 0;  ///< Positions 0..processors-1.
  std::vector<Message> messages;

  /// kBadInput: a processor that does not exist, a message to oneself (that is a copy, and no
  /// message), one without weight, or more than 2^60 in all.
  [[nodiscard]] Status check() const;
  friend bool operator==(const MessageGraph&, const MessageGraph&) = default;
};

/// What no schedule can go below.
struct Bounds {
  std::uint64_t load = 0;   ///< W: the most that one processor sends, or receives.
  std::size_t degree = 0;   ///< Delta: the most messages that one sends, or receives.
  std::uint64_t total = 0;  ///< P: of all messages.
  std::size_t count = 0;    ///< m: of messages.

  /// Time of transmission, if so many messages go at once.
  [[nodiscard]] std::uint64_t duration(std::size_t at_once) const;
  [[nodiscard]] std::size_t steps(std::size_t at_once) const;
  /// Both together, if the beginning of a step costs `setup`.
  [[nodiscard]] std::uint64_t cost(std::size_t at_once, std::uint64_t setup) const;
};
/// REQUIRES a graph whose check() succeeds.
[[nodiscard]] Bounds bounds_of(const MessageGraph& graph);

}  // namespace phx::redistribution
