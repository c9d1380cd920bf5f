#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
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
  static constexpr std::size_t kRangesMax = 256;
  /// Numbers per target and way of which the way is known [limit].
  static constexpr std::size_t kNumbersMax = 256;

  /// The passing of one reduction.
  struct Passing {
    Instant first_token;              ///< When its first token came here.
    Instant at;                       ///< When it was passed on.
    std::optional<ProcessorId> told;  ///< The parent that knows of all numbers passed so far.
    bool in_time = true;              ///< All that was waited for had come.
  };

  /// REQUIRES targets_max > 0.
  explicit PassedNumbers(std::size_t targets_max);

  /// `way`: the tree along which it was passed.
  void insert(const ReductionId& id, const Passing& passing, ReductionWay way = kShortWay);
  /// `parent` knows now what was passed towards `target` that way. REQUIRES last(target, way).
  void tell(VnodeId target, ProcessorId parent, ReductionWay way = kShortWay);

  [[nodiscard]] bool contains(const ReductionId& id) const;
  /// When the first token of `id` came, if it is the one passed last towards its target on a way.
  [[nodiscard]] std::optional<Instant> first_token(const ReductionId& id) const;
  /// The passing that was last towards `target` that way; null: none is known.
  [[nodiscard]] const Passing* last(VnodeId target, ReductionWay way = kShortWay) const;
  /// When something was passed in time last towards `target`, on a way for long values.
  [[nodiscard]] std::optional<Instant> last_in_time(VnodeId target) const;
  /// The ways along which something was passed towards `target`, ascending.
  [[nodiscard]] std::vector<ReductionWay> ways(VnodeId target) const;
  /// Targets to which something was passed at or after `from`, the latest first.
  [[nodiscard]] std::vector<VnodeId> targets_since(Instant from) const;
  /// The greatest numbers passed towards `target` that way, at most `count` and kNumbersMax,
  /// ascending.
  [[nodiscard]] std::vector<ReductionId> greatest(VnodeId target, std::uint64_t count,
                                                  ReductionWay way = kShortWay) const;
  [[nodiscard]] std::size_t targets() const { return targets_.size(); }

 private:
  struct NumberTag {
    static constexpr char kLetter = 'n';
  };
  using Number = StrongId<NumberTag>;
  struct Way {
    std::set<std::uint64_t> greatest;  ///< Numbers that went this way.
    std::uint64_t last_number = 0;     ///< The number passed last, not the greatest.
    Passing last;                      ///< Of `last_number`.
    std::optional<Instant> in_time;    ///< When something was passed in time last.
  };
  struct Target {
    IntervalSet<Number> numbers;
    std::map<ReductionWay, Way> ways;
    Instant at;              ///< When something was passed last.
    std::uint64_t used = 0;  ///< When it was inserted into, on the counter `uses_`.
  };

  std::size_t targets_max_;
  std::map<VnodeId, Target> targets_;
  std::map<std::uint64_t, VnodeId> by_use_;  ///< `used` -> target, for all targets.
  std::uint64_t uses_ = 0;
};

}  // namespace phx::collectives
