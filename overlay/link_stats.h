#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"

namespace phx::overlay {

/// Round trips measured to other processors. The round trip to a peer is the minimum of its last
/// `kKept` samples: what a sample has above the minimum is queueing, not distance; old minima leave
/// with their samples [Saito08 G18]. Bounded by the number of live processors.
/// Thread rule: one owner.
class LinkStats {
 public:
  static constexpr std::size_t kKept = 8;
  /// Samples that make a measurement [Saito08 G18].
  static constexpr std::size_t kEnough = 3;

  // Inputs.
  void add(ProcessorId peer, Duration sample);
  /// Forgets everybody who is not in `live`.
  void keep_only(const ProcessorSet& live);

  // Queries.
  [[nodiscard]] std::size_t samples(ProcessorId peer) const;
  /// Empty: fewer than kEnough samples.
  [[nodiscard]] std::optional<Duration> round_trip(ProcessorId peer) const;
  /// The same from however few samples; empty: none.
  [[nodiscard]] std::optional<Duration> estimate(ProcessorId peer) const;
  /// The `count` nearest of the measured ones, nearest first (ties: smaller id first).
  [[nodiscard]] std::vector<ProcessorId> nearest(std::size_t count) const;
  /// Whether others are at least twice as far as `peer`: probably it is of the same site.
  [[nodiscard]] bool is_near(ProcessorId peer) const;
  /// Whether it is of the same site, as far as round trips tell: up to three times the shortest
  /// one, but never below 0.2 ms or above 1 ms.
  [[nodiscard]] bool is_beside(ProcessorId peer) const;
  /// Whether somebody is near.
  [[nodiscard]] bool knows_near() const;
  [[nodiscard]] std::size_t size() const { return peers_.size(); }

 private:
  struct Peer {
    std::vector<Duration> samples;  ///< Oldest first.
    Duration least{};
  };
  using ByDistance = std::set<std::pair<Duration, ProcessorId>>;

  void forget_place(ProcessorId id, const Peer& peer) { measured_.erase({peer.least, id}); }

  std::map<ProcessorId, Peer> peers_;
  ByDistance measured_;  ///< Those with kEnough samples: who is near is asked with every reply.
};

}  // namespace phx::overlay
