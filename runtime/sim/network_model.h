#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/rng.h"
#include "overlay/base/time.h"
#include "overlay/network/topology.h"

namespace phx::sim {

struct MachineTag {
  static constexpr char kLetter = 'm';
};
/// A simulated machine; runs one daemon in its life. Counted from 0.
using MachineId = StrongId<MachineTag, std::uint32_t>;

/// What one message costs: the sender is busy; then each segment passes the sender's
/// interface, the link of the site pair and the receiver's interface, each a FIFO server of its
/// bandwidth; the path takes its latency; then the receiver is busy. The caller moves a segment
/// from stage to stage at the times given back, so servers see segments in the order of arrival.
/// Not thread-safe.
class NetworkModel {
 public:
  /// Messages travel in segments of at most this size.
  static constexpr std::uint64_t kSegmentBytes = 65536;

  /// `jitter`: each segment's latency grows by up to this fraction, drawn from the seed.
  NetworkModel(overlay::Topology topology, double jitter, Rng rng);

  /// REQUIRES a site of the topology.
  MachineId add_machine(std::size_t site);

  // The stages; each gives the time at which the segment leaves it.
  /// The sender is busy with a message.
  [[nodiscard]] Instant leave_processor(Instant now, MachineId from);
  [[nodiscard]] Instant leave_interface(Instant now, MachineId from, std::uint64_t bytes);
  /// Between two sites: their link. Inside a site there is none.
  [[nodiscard]] Instant pass_link(Instant now, MachineId from, MachineId to, std::uint64_t bytes);
  /// The time on the way, drawn anew for each segment.
  [[nodiscard]] Duration travel_time(Instant now, MachineId from, MachineId to);
  [[nodiscard]] Instant enter_interface(Instant now, MachineId to, std::uint64_t bytes);
  /// The receiver is busy with a message.
  [[nodiscard]] Instant enter_processor(Instant now, MachineId to);

  // Disturbances.
  /// The overhead of this machine's processor is multiplied by `factor`.
  void slow_down(MachineId machine, std::uint32_t factor);
  /// From now on its interface carries so much per second, in each direction; 0: unlimited.
  void set_interface(MachineId machine, std::uint64_t bytes_per_second);
  /// From now on the link of these sites carries so much per second, in each direction.
  void set_link(std::size_t a, std::size_t b, std::uint64_t bytes_per_second);
  /// Whatever leaves site `from` for site `to` (both directions) before `until` takes longer.
  struct Spike {
    std::size_t from = 0;
    std::size_t to = 0;
    Duration extra{};
    Instant until{};
  };
  void add_spike(const Spike& spike) { spikes_.push_back(spike); }

  // Queries.
  /// Until then it is busy with messages; may be past.
  [[nodiscard]] Instant busy_until(MachineId machine) const {
    return machines_[machine.value].processor_free;
  }
  /// From then on its interface takes what arrives at once; may be past.
  [[nodiscard]] Instant takes_from(MachineId machine) const {
    return machines_[machine.value].in_free;
  }
  [[nodiscard]] const overlay::Topology& topology() const { return topology_; }
  [[nodiscard]] std::size_t site(MachineId machine) const { return machines_[machine.value].site; }
  /// One way, undisturbed.
  [[nodiscard]] Duration latency(MachineId from, MachineId to) const;
  [[nodiscard]] bool has_link(MachineId from, MachineId to) const;

 private:
  struct Machine {
    std::size_t site = 0;
    std::uint32_t slowness = 1;
    std::uint64_t interface = 0;  ///< Bytes per second.
    Instant processor_free{};
    Instant out_free{};
    Instant in_free{};
  };

  overlay::Topology topology_;
  double jitter_;
  Rng rng_;
  std::vector<Machine> machines_;
  std::vector<Instant> links_free_;  ///< Per ordered pair of sites.
  std::vector<Spike> spikes_;
};

}  // namespace phx::sim
