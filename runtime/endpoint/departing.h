#pragma once

#include <cstdint>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "runtime/endpoint/holdings.h"

namespace phx::runtime {

/// The vnodes that are wanted elsewhere, and which of them go at the next safe point: those that
/// are between two messages. What has come of a long message, and what the program has not taken,
/// would have to go with its vnode, and what comes meanwhile would wait for it [README, "Between
/// messages"]. Not thread-safe: one owner.
class Departing {
 public:
  /// How much may go along: it hardly delays the move.
  static constexpr std::uint64_t kLittle = std::uint64_t{256} << 10U;
  /// So long the end of a message, and the program, is waited for: it may be a very long one, or
  /// its source stopped.
  static constexpr Duration kPatience = 1s;

  // Inputs.
  void on_time(Instant now) { now_ = now; }
  /// These are wanted. REQUIRES that they are held.
  void add(const VnodeSet& vnodes) {
    if (all_.empty()) since_ = now_;
    all_ = all_.united(vnodes);
  }
  /// The program gives these up itself: they wait for nothing. REQUIRES that they are held.
  void release(const VnodeSet& vnodes) {
    add(vnodes);
    released_ = released_.united(vnodes);
  }
  void remove(const VnodeSet& vnodes) {
    all_ = all_.minus(vnodes);
    released_ = released_.minus(vnodes);
  }

  // Queries.
  [[nodiscard]] const VnodeSet& all() const { return all_; }
  /// Those that have little to take along.
  [[nodiscard]] VnodeSet due(const Holdings& holdings) const {
    if (now_ - since_ >= kPatience) return all_;
    VnodeSet due = all_;
    for (const VnodeId vnode : all_.ids()) {
      if (!released_.contains(vnode) && holdings.has_untaken(vnode, kLittle)) due.erase(vnode);
    }
    return due;
  }

 private:
  VnodeSet all_;
  VnodeSet released_;  ///< Of these.
  Instant now_;
  Instant since_;  ///< There are any: their patience is common.
};

}  // namespace phx::runtime
