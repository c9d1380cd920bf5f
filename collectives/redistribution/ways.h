#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "collectives/redistribution/schedule.h"
#include "overlay/base/time.h"

namespace phx::redistribution {

/// How fast processors, and the ways between their sites, carry bytes. A value.
struct Ways {
  static constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
  /// Of a processor, in bytes per second.
  struct Interface {
    std::size_t site = 0;
    std::uint64_t out = kEndless;
    std::uint64_t in = kEndless;
    friend bool operator==(const Interface&, const Interface&) = default;
  };
  /// Of a pair of sites in one direction, or inside of one: all messages there share it.
  struct Way {
    std::uint64_t bytes_per_second = kEndless;
    Duration latency{};
    friend bool operator==(const Way&, const Way&) = default;
  };

  std::vector<Interface> processors;  ///< By the positions of a MessageGraph.
  std::size_t sites = 1;
  std::vector<Way> between;  ///< sites x sites.

  [[nodiscard]] std::size_t way_of(std::size_t from, std::size_t to) const {
    return processors[from].site * sites + processors[to].site;
  }
  [[nodiscard]] const Way& way(std::size_t from, std::size_t to) const {
    return between[way_of(from, to)];
  }
  /// Of a message that is alone: the narrowest of two interfaces and what is between them.
  [[nodiscard]] std::uint64_t rate(std::size_t from, std::size_t to) const;

  /// `processors` that are alike, in one site.
  [[nodiscard]] static Ways equal(std::size_t processors, std::uint64_t bytes_per_second);
};

/// What each message weighs: its bytes, more of them the narrower its way is than the widest one in
/// use. So weights are proportional to times, and plain bytes where all ways are alike. REQUIRES
/// `bytes` whose check() succeeds, and ways for its processors.
[[nodiscard]] MessageGraph weighed(const MessageGraph& bytes, const Ways& ways);

/// A schedule of weights as one of bytes. A part without a whole byte is left out, and a step
/// without parts. REQUIRES a valid schedule for `weights`, which are weighed(bytes).
[[nodiscard]] Schedule in_bytes(const Schedule& schedule, const MessageGraph& weights,
                                const MessageGraph& bytes);

/// What no exchange is faster than: the busiest interface, or way between sites, is never idle.
[[nodiscard]] Duration least_time(const MessageGraph& bytes, const Ways& ways);

/// Time for so many bytes.
[[nodiscard]] Duration wire_time(std::uint64_t bytes, std::uint64_t bytes_per_second);

}  // namespace phx::redistribution
