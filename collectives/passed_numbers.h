#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

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

  /// The passing of one reduction.
  struct Passing {
    Instant first_token;              ///< When its first token came here.
    Instant at;                       ///< When it was passed on.
    std::optional<ProcessorId> told;  ///< The parent that knows of all numbers passed so far.
  };

  /// REQUIRES targets_max > 0.
  explicit PassedNumbers(std::size_t targets_max);

  void insert(const ReductionId& id, const Passing& passing);
  /// `parent` knows now what was passed towards `target`. REQUIRES last(target).
  void tell(VnodeId target, ProcessorId parent);

  [[nodiscard]] bool contains(const ReductionId& id) const;
  /// When the first token of `id` came, if it is the one passed last towards its target.
  [[nodiscard]] std::optional<Instant> first_token(const ReductionId& id) const;
  /// The passing that was last towards `target`; null: none is known.
  [[nodiscard]] const Passing* last(VnodeId target) const;
  /// Targets to which something was passed at or after `from`, the latest first.
  [[nodiscard]] std::vector<VnodeId> targets_since(Instant from) const;
  /// The greatest numbers passed towards `target`, at most `count`, ascending.
  [[nodiscard]] std::vector<ReductionId> greatest(VnodeId target, std::uint64_t count) const;
  [[nodiscard]] std::size_t targets() const { return targets_.size(); }

 private:
  struct NumberTag {
    static constexpr char kLetter = 'n';
  };
  using Number = StrongId<NumberTag>;
  struct Target {
    IntervalSet<Number> numbers;
    std::uint64_t last_number = 0;  ///< The number passed last, not the greatest.
    Passing last;                   ///< Of `last_number`.
    std::uint64_t used = 0;         ///< When it was inserted into, on the counter `uses_`.
  };

  std::size_t targets_max_;
  std::map<VnodeId, Target> targets_;
  std::map<std::uint64_t, VnodeId> by_use_;  ///< `used` -> target, for all targets.
  std::uint64_t uses_ = 0;
};

}  // namespace phx::collectives
