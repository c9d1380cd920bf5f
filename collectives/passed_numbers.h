#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"

namespace phx::collectives {

/// The reductions that a processor has passed on, in bounded memory. Reductions towards one target
/// are numbered without gaps, so their numbers are one range most of the time. When a target has
/// too many ranges, the gap between its two oldest ones is closed: to be taken for passed only
/// costs a contribution its combination with others. When there are too many targets, the one not
/// used for longest is forgotten. Thread rule: one owner.
class PassedNumbers {
 public:
  /// Ranges kept per target [limit].
  static constexpr std::size_t kRangesMax = 16;

  /// REQUIRES targets_max > 0.
  explicit PassedNumbers(std::size_t targets_max);

  /// `first_token` is when its first token came here.
  void insert(const ReductionId& id, Instant first_token);
  [[nodiscard]] bool contains(const ReductionId& id) const;
  /// When the first token of `id` came, if it is the one passed last towards its target.
  [[nodiscard]] std::optional<Instant> first_token(const ReductionId& id) const;
  [[nodiscard]] std::size_t targets() const { return targets_.size(); }

 private:
  struct NumberTag {
    static constexpr char kLetter = 'n';
  };
  using Number = StrongId<NumberTag>;
  struct Target {
    IntervalSet<Number> numbers;
    std::uint64_t last = 0;  ///< The number passed last, not the greatest.
    Instant first_token;     ///< Of `last`.
    std::uint64_t used = 0;  ///< When it was inserted into, on the counter `uses_`.
  };

  std::size_t targets_max_;
  std::map<VnodeId, Target> targets_;
  std::map<std::uint64_t, VnodeId> by_use_;  ///< `used` -> target, for all targets.
  std::uint64_t uses_ = 0;
};

}  // namespace phx::collectives
