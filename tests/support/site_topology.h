#pragma once

#include <cstdint>
#include <string>

#include "overlay/network/topology.h"

namespace phx::support {

/// Three sites that are 2, 3 and 4 ms apart, each with so many processors; all ways and interfaces
/// of `mbit` Mbit/s.
[[nodiscard]] inline overlay::Topology three_alike(std::uint32_t each, std::uint32_t mbit) {
  std::string text;
  for (const char* site : {"A", "B", "C"}) {
    text += "site " + std::string(site) + ' ' + std::to_string(each) + " 150\n";
  }
  const std::string rate = std::to_string(mbit) + '\n';
  return overlay::Topology::parse(
             text + "latency A B 2000\nlatency A C 3000\nlatency B C 4000\nlink * * " + rate +
             "nic " + rate + "overhead 5\n")
      .value();
}

}  // namespace phx::support
