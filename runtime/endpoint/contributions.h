#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/messages.h"
#include "collectives/reduce_op.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/endpoint/endpoint_config.h"
#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// What the vnodes held here have contributed to reductions. A contribution stays here until its
/// target says that the reduction is complete, and leaves once under each line; it leaves only as
/// far as that has been said: what waits, waits at its source [README, "Contributions"].
/// Not thread-safe: one owner.
///
/// Guarantees: one token per vnode, reduction and line, also while vnodes move; the contribution to
/// the oldest reduction that is not known to be complete has always left.
class Contributions {
 public:
  /// By target.
  using Targets = std::map<VnodeId, Contributed>;

  explicit Contributions(const ContributionOptions& options) : options_(options) {}

  // Inputs.
  /// The daemon knows of so many deaths. What has left under a lower line leaves again.
  void on_line(std::uint64_t line);
  /// The reductions towards `target` with numbers below `below` are complete, as `vnode` hears;
  /// or as all hear that are here. kFlowClosed, kFlowIncomplete: nothing need be kept, and nothing
  /// leaves any more.
  void on_complete(VnodeId vnode, VnodeId target, std::uint64_t below);
  void on_complete(VnodeId target, std::uint64_t below);
  /// Vnodes come and go with what they keep.
  void add(VnodeId vnode, Targets targets);
  [[nodiscard]] Targets remove(VnodeId vnode);

  // Commands.
  /// The next contribution of `vnode` towards `id.target`.
  void push(VnodeId vnode, const collectives::ReductionId& id, Contributed::One one);
  /// What leaves now; contributions of several vnodes to one reduction as one token.
  [[nodiscard]] std::vector<collectives::ReductionToken> take_tokens();
  /// To each target for which something is kept: one of the vnodes here asks for all.
  [[nodiscard]] std::vector<FlowQuestion> ask(const Asking& how);

  // Queries.
  [[nodiscard]] bool has_tokens() const { return !leaving_.empty(); }
  [[nodiscard]] std::uint64_t line() const { return line_; }
  /// Weight of all that is kept.
  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_bytes_; }
  /// Somebody here has contributed to the reduction before.
  [[nodiscard]] bool is_following(const collectives::ReductionId& id) const;
  /// `vnode` keeps something for a reduction towards `target` whose result goes to all.
  [[nodiscard]] bool keeps_for_all(VnodeId vnode, VnodeId target) const;
  /// What has no result: the last target that has said kFlowIncomplete, and who gave something.
  struct Lost {
    VnodeId target;
    VnodeSet vnodes;
  };
  [[nodiscard]] const std::optional<Lost>& lost() const { return lost_; }
  /// The target for which most is kept, for a person. Empty if nothing is.
  [[nodiscard]] std::string slowest() const;
  void check_invariants() const;

 private:
  struct Flow {
    Contributed given;
    std::uint64_t on_way = 0;  ///< Shares of the window of those that have left.
  };
  struct Leaving {
    VnodeId vnode;
    collectives::ReductionId id;
    Contributed::One one;
  };
  using Key = std::pair<VnodeId, VnodeId>;  ///< Target, then vnode.

  [[nodiscard]] std::uint64_t share_of(const Contributed::One& one) const {
    return options_.share_of(kPieceOverhead + one.value.size(),
                             collectives::is_bundled(one.kind.op));
  }
  void emit(const Key& key, Flow& flow);
  void forget(const Key& key, Flow& flow, std::uint64_t below);
  void start_anew(const Key& key, Flow& flow);

  ContributionOptions options_;
  std::uint64_t line_ = 0;
  std::map<Key, Flow> flows_;
  std::map<VnodeId, std::uint64_t> asked_;  ///< Per target: it says when those below are complete.
  std::map<VnodeId, std::uint64_t> next_;   ///< Per target: the highest of those that were here.
  std::uint64_t kept_bytes_ = 0;
  std::vector<Leaving> leaving_;
  std::optional<Lost> lost_;
};

}  // namespace phx::runtime
