#pragma once

#include <cstdint>
#include <vector>

#include "overlay/network/known_network.h"

namespace phx::support {

/// Sites of so many processors each, counted from p1; all fields are known.
struct NetworkSketch {
  std::vector<std::uint32_t> sites;
  Duration inside = 150us;
  Duration between = 3ms;
  std::uint64_t bytes_per_second = 125'000'000;  ///< Of interfaces and ways.
  Duration overhead = 5us;
};

inline overlay::KnownNetwork known(const NetworkSketch& sketch) {
  overlay::KnownNetwork network;
  std::uint32_t next = 1;
  for (const std::uint32_t count : sketch.sites) {
    const auto all = ProcessorSet::range(ProcessorId{next}, ProcessorId{next + count - 1});
    network.sites.push_back({"s" + std::to_string(network.sites.size()), all, sketch.inside});
    next += count;
  }
  for (std::size_t a = 0; a < sketch.sites.size(); ++a) {
    for (std::size_t b = 0; b < sketch.sites.size(); ++b) {
      if (a != b) network.between[{a, b}] = {sketch.between, sketch.bytes_per_second};
    }
  }
  network.usual = {sketch.overhead, sketch.bytes_per_second, sketch.bytes_per_second};
  return network;
}

/// Three sites, 4, 6 and 8 ms of round trip between them.
inline overlay::KnownNetwork three_sites(std::uint32_t each) {
  overlay::KnownNetwork network = known({.sites = {each, each, each}});
  const auto set = [&](std::size_t a, std::size_t b, Duration latency) {
    network.between[{a, b}].latency = network.between[{b, a}].latency = latency;
  };
  set(0, 1, 2ms);
  set(0, 2, 3ms);
  set(1, 2, 4ms);
  return network;
}

}  // namespace phx::support
