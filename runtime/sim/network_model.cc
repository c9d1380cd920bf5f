#include "runtime/sim/network_model.h"

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"

namespace phx::sim {
namespace {

Duration wire_time(std::uint64_t bytes, std::uint64_t bytes_per_second) {
  if (bytes_per_second == 0) return Duration{};
  constexpr std::uint64_t kNanoseconds = 1'000'000'000;
  return Duration{static_cast<Duration::rep>(bytes * kNanoseconds / bytes_per_second)};
}

/// Serves one request of a FIFO server and gives the time of its end.
Instant serve(Instant now, Duration cost, Instant& free) {
  free = std::max(now, free) + cost;
  return free;
}

}  // namespace

NetworkModel::NetworkModel(overlay::Topology topology, double jitter, Rng rng)
    : topology_(std::move(topology)), jitter_(jitter), rng_(rng) {
  links_free_.resize(topology_.sites.size() * topology_.sites.size());
}

MachineId NetworkModel::add_machine(std::size_t site) {
  PHX_CHECK(site < topology_.sites.size());
  Machine machine;
  machine.site = site;
  machine.interface = topology_.interface_bytes_per_second;
  machines_.push_back(machine);
  return MachineId{static_cast<std::uint32_t>(machines_.size() - 1)};
}

Instant NetworkModel::leave_processor(Instant now, MachineId from) {
  Machine& machine = machines_[from.value];
  return serve(now, topology_.overhead * machine.slowness, machine.processor_free);
}

Instant NetworkModel::leave_interface(Instant now, MachineId from, std::uint64_t bytes) {
  Machine& machine = machines_[from.value];
  return serve(now, wire_time(bytes, machine.interface), machine.out_free);
}

bool NetworkModel::has_link(MachineId from, MachineId to) const {
  return site(from) != site(to);
}

Instant NetworkModel::pass_link(Instant now, MachineId from, MachineId to, std::uint64_t bytes) {
  const std::size_t a = site(from);
  const std::size_t b = site(to);
  if (a == b) return now;
  return serve(now, wire_time(bytes, topology_.link(a, b).bytes_per_second),
               links_free_[a * topology_.sites.size() + b]);
}

Duration NetworkModel::latency(MachineId from, MachineId to) const {
  const std::size_t a = site(from);
  const std::size_t b = site(to);
  return a == b ? topology_.sites[a].latency : topology_.link(a, b).latency;
}

Duration NetworkModel::travel_time(Instant now, MachineId from, MachineId to) {
  constexpr std::uint64_t kParts = 1024;
  Duration result = latency(from, to);
  if (jitter_ > 0) {
    const auto longest = static_cast<Duration::rep>(static_cast<double>(result.count()) * jitter_);
    result += Duration{longest * static_cast<Duration::rep>(rng_.below(kParts)) /
                       static_cast<Duration::rep>(kParts)};
  }
  std::erase_if(spikes_, [now](const Spike& spike) { return spike.until <= now; });
  for (const Spike& spike : spikes_) {
    const bool there = spike.from == site(from) && spike.to == site(to);
    const bool back = spike.from == site(to) && spike.to == site(from);
    if (there || back) result += spike.extra;
  }
  return result;
}

Instant NetworkModel::enter_interface(Instant now, MachineId to, std::uint64_t bytes) {
  Machine& machine = machines_[to.value];
  return serve(now, wire_time(bytes, machine.interface), machine.in_free);
}

Instant NetworkModel::enter_processor(Instant now, MachineId to) {
  return leave_processor(now, to);
}

void NetworkModel::slow_down(MachineId machine, std::uint32_t factor) {
  machines_[machine.value].slowness = factor;
}

void NetworkModel::set_interface(MachineId machine, std::uint64_t bytes_per_second) {
  machines_[machine.value].interface = bytes_per_second;
}

void NetworkModel::set_link(std::size_t a, std::size_t b, std::uint64_t bytes_per_second) {
  topology_.links[a * topology_.sites.size() + b].bytes_per_second = bytes_per_second;
  topology_.links[b * topology_.sites.size() + a].bytes_per_second = bytes_per_second;
}

}  // namespace phx::sim
