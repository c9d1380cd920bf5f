#include "overlay/network/placing.h"

#include <utility>

#include "overlay/base/ids.h"
#include "overlay/base/rng.h"

namespace phx::overlay {

Placing placed_by_site(const Topology& topology) {
  Placing placing;
  for (std::size_t site = 0; site < topology.sites.size(); ++site) {
    placing.insert(placing.end(), topology.sites[site].processors, site);
  }
  return placing;
}

Placing placed_at_random(const Topology& topology, std::uint64_t seed) {
  Placing placing = placed_by_site(topology);
  Rng rng(seed);
  for (std::size_t i = placing.size(); i > 1; --i) {
    std::swap(placing[i - 1], placing[static_cast<std::size_t>(rng.below(i))]);
  }
  return placing;
}

KnownNetwork known_network(const Topology& topology, const Placing& placing) {
  const auto rate = [](std::uint64_t bytes_per_second) {
    return bytes_per_second == 0 ? kUnlimited : bytes_per_second;
  };
  KnownNetwork network;
  for (const Topology::Site& site : topology.sites) {
    network.sites.push_back({site.name, {}, site.latency});
  }
  for (std::size_t i = 0; i < placing.size(); ++i) {
    network.sites[placing[i]].processors.insert(ProcessorId{static_cast<std::uint32_t>(i + 1)});
  }
  for (std::size_t a = 0; a < topology.sites.size(); ++a) {
    for (std::size_t b = 0; b < topology.sites.size(); ++b) {
      if (a == b) continue;
      const Topology::Link& link = topology.link(a, b);
      network.between[{a, b}] = {link.latency, rate(link.bytes_per_second)};
    }
  }
  const std::uint64_t interface = rate(topology.interface_bytes_per_second);
  network.usual = {topology.overhead, interface, interface};
  return network;
}

}  // namespace phx::overlay
