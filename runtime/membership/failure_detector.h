#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// Whom this processor holds for dead, and how often others said so. Evidence only: what follows
/// from it is decided by Membership.
class FailureDetector {
 public:
  /// Reports of others count for `memory`; the `decisive`-th within it decides.
  FailureDetector(Duration memory, std::uint32_t decisive) : memory_(memory), decisive_(decisive) {}

  /// Own evidence. The first reason is kept.
  void suspect(ProcessorId accused, Departure why, std::string detail);
  /// The own evidence was wrong.
  void trust(ProcessorId id) { suspected_.erase(id); }
  /// Somebody else's word; true if with it there are enough.
  [[nodiscard]] bool on_report(Instant now, ProcessorId accused);
  /// `id` is no member any more.
  void forget(ProcessorId id);
  /// ... and so is everybody else who is not in this view.
  void keep_only(const View& view);

  [[nodiscard]] bool is_suspected(ProcessorId id) const { return suspected_.contains(id); }
  [[nodiscard]] const std::map<ProcessorId, ViewChange::Gone>& suspected() const {
    return suspected_;
  }
  /// The lowest member that is not suspected; kNobody if there is none.
  [[nodiscard]] ProcessorId lowest_trusted(const View& view) const;

 private:
  Duration memory_;
  std::uint32_t decisive_;
  std::map<ProcessorId, ViewChange::Gone> suspected_;
  std::map<ProcessorId, std::vector<Instant>> reports_;  ///< Times, the oldest first.
};

/// The `count` members after `self` in the ring of ids, without `self`: whom it watches.
[[nodiscard]] ProcessorSet ring_successors(ProcessorId self, const View& view, std::uint32_t count);

}  // namespace phx::runtime
