#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"

namespace phx::overlay {

/// A network of sites, as a topology file describes it: used by the simulator, and as the ground
/// truth that plans and reports are compared with. The text format is in overlay/network/README.md.
struct Topology {
  struct Site {
    std::string name;
    std::uint32_t processors = 0;
    Duration latency = 50us;  ///< One way, between two processors of the site.
    friend bool operator==(const Site&, const Site&) = default;
  };
  /// Between two sites, in each direction; shared by all flows of that direction.
  struct Link {
    Duration latency = 5ms;              ///< One way.
    std::uint64_t bytes_per_second = 0;  ///< 0: unlimited.
    friend bool operator==(const Link&, const Link&) = default;
  };

  std::vector<Site> sites;
  std::vector<Link> links;                       ///< sites x sites, symmetric; see link().
  std::uint64_t interface_bytes_per_second = 0;  ///< Of each processor and direction; 0: unlimited.
  Duration overhead = 5us;                       ///< A processor's time per message, at each end.
  /// What a new connection between sites may have under way; it grows by all that is confirmed, as
  /// TCP's does, and stays. 0: unlimited.
  std::uint64_t window_bytes = 0;

  /// `processors` of each site, all links alike.
  [[nodiscard]] static Topology uniform(const std::vector<std::uint32_t>& processors,
                                        const Link& between);
  /// kBadInput: names the line and what is wrong with it.
  [[nodiscard]] static Result<Topology> parse(std::string_view text);

  /// REQUIRES indices of sites.
  [[nodiscard]] const Link& link(std::size_t from, std::size_t to) const {
    return links[from * sites.size() + to];
  }
  [[nodiscard]] std::uint32_t processors() const;
  friend bool operator==(const Topology&, const Topology&) = default;
};

/// As files of topologies have it, and read it back: "200", "0.4".
[[nodiscard]] std::string in_microseconds(Duration duration);
/// The same for Mbit/s: "300", "0.4", "0.000008".
[[nodiscard]] std::string in_megabits(std::uint64_t bytes_per_second);

}  // namespace phx::overlay
