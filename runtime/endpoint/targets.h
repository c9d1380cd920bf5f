#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectives/accumulator.h"
#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "runtime/endpoint/endpoint_config.h"
#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// The reductions towards the vnodes held here: puts together what comes, and sees to it that
/// contributors hear what is complete [README, "Contributions"]. Not thread-safe: one owner.
///
/// Guarantees: reductions complete in the order of their numbers, each once, with the contribution
/// of every vnode once, all given under one line.
class Targets {
 public:
  /// A reduction that all vnodes have contributed to.
  struct Reduced {
    collectives::ReductionId id;
    collectives::Accumulator value;
  };
  /// The reductions of this target up to this number are complete: to be told to all vnodes.
  using News = std::pair<VnodeId, std::uint64_t>;

  explicit Targets(const ContributionOptions& options) : options_(options) {}

  // Inputs.
  /// Of the whole job.
  void set_total(std::uint64_t vnodes) { total_ = vnodes; }
  /// Vnodes come and go with their reductions.
  void add(VnodeId vnode, AsTarget as_target);
  [[nodiscard]] AsTarget remove(VnodeId vnode);
  void on_token(const collectives::ReductionToken& token);
  /// A contributor asks how far the reductions towards `question.to` are.
  void on_question(const FlowQuestion& question);
  /// All vnodes are told by the result of an allreduce.
  void on_told(const collectives::ReductionId& id);
  /// The program takes no results any more: contributors need not keep anything for these, but for
  /// those that `wait` picks. finish(): nor for those.
  void close(const std::function<bool(VnodeId)>& waits);
  void finish();

  // Commands.
  [[nodiscard]] std::vector<Reduced> take_reduced() { return std::exchange(reduced_, {}); }
  /// To be called when all of take_reduced() is dealt with.
  [[nodiscard]] std::vector<News> take_news();
  /// The answers to contributors.
  [[nodiscard]] std::vector<FlowCredit> take_credits() { return std::exchange(credits_, {}); }

  // Queries.
  [[nodiscard]] bool has_credits() const { return !credits_.empty(); }
  /// Of contributions to reductions that are not complete.
  [[nodiscard]] std::uint64_t bytes() const;
  /// Reductions that have begun and are not complete, towards the vnode that has most.
  [[nodiscard]] std::uint64_t most_pending() const;
  /// Tokens that came for reductions that were complete, or under an old line: dropped.
  [[nodiscard]] std::uint64_t late() const { return late_; }
  /// Tokens that changed something: lacking() may say something else.
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  /// Which vnodes a reduction lacks that others have contributed to, for a person.
  [[nodiscard]] std::string lacking() const;

 private:
  struct Pending {
    collectives::Accumulator sum;
    std::uint64_t line = 0;  ///< Of all that is in it.
  };
  struct Target {
    AsTarget state;  ///< Without what the next member stands for.
    std::map<std::uint64_t, Pending> pending;
    /// Weight of what has become complete since all askers were told.
    std::uint64_t untold = 0;
    bool is_closed = false;
  };

  void complete(VnodeId vnode, Target& target);
  void answer(VnodeId vnode, Target& target);
  void answer_closed(VnodeId vnode, Target& target);

  ContributionOptions options_;
  std::uint64_t total_ = 0;
  std::map<VnodeId, Target> targets_;
  std::set<VnodeId> untold_;  ///< Have completed something.
  std::vector<Reduced> reduced_;
  std::vector<FlowCredit> credits_;
  std::uint64_t late_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace phx::runtime
