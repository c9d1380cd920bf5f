#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// What waits at a processor for vnodes that are on their way, or held by nobody. A piece of a
/// broadcast waits for each of its vnodes, but is there once: it counts once, and those that take
/// it together get it as one. Not thread-safe.
class Parking {
 public:
  struct One {
    Delivery delivery;
    Epoch followed = 0;
  };

  /// `delivery` is for this vnode only.
  void add(VnodeId vnode, Delivery delivery, Epoch followed);
  /// What waits for these, and does not any more; messages of one vnode in order. Pieces of
  /// broadcasts have numbers, and may pass others.
  [[nodiscard]] std::vector<One> take(const VnodeSet& vnodes);
  /// The same for fewer deliveries: pieces of broadcasts that are equal are one, for all vnodes.
  [[nodiscard]] static std::vector<One> joined(std::vector<One> all);

  [[nodiscard]] std::uint64_t count() const { return count_; }  ///< Per vnode.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// For which something waits.
  [[nodiscard]] VnodeSet vnodes() const;
  void check_invariants() const;

 private:
  using Key = std::tuple<VnodeId, std::uint64_t, collectives::Purpose>;
  struct Shared {
    std::uint64_t vnodes = 0;
    std::uint64_t bytes = 0;  ///< Of the payload.
  };

  void count(const Delivery& delivery);
  void discount(const Delivery& delivery);

  std::map<VnodeId, std::vector<One>> waiting_;
  std::map<Key, Shared> pieces_;  ///< Of broadcasts.
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace phx::runtime
