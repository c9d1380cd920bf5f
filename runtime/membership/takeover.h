#pragma once

#include <set>
#include <vector>

#include "overlay/base/ids.h"
#include "runtime/membership/failure_detector.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// The search for the last view by the processor that becomes coordinator because those with lower
/// ids are dead: who is asked, who has not answered, and the highest view so far.
class Takeover {
 public:
  /// `own`: the view of `self`, which takes over.
  Takeover(ProcessorId self, View own) : self_(self), best_(std::move(own)) {}

  /// Members of the best view that were not asked yet and are not suspected; they are awaited
  /// from now on. To be called at the beginning and after every answer. Time: constant, unless the
  /// best view is another one or somebody is trusted again.
  [[nodiscard]] std::vector<ProcessorId> take_unasked(const FailureDetector& detector);
  /// The answer of `from`, if it is awaited.
  void on_report(ProcessorId from, const View& view);
  /// Will not answer.
  void give_up(ProcessorId member) { awaited_.erase(member); }
  /// Somebody is not suspected any more.
  void on_trusted() { has_unasked_ = true; }

  [[nodiscard]] const ProcessorSet& awaited() const { return awaited_; }
  /// A processor spoke that is in no view known here: awaits it, too. False: did so already.
  [[nodiscard]] bool await(ProcessorId newer) {
    awaited_.insert(newer);
    return asked_.insert(newer).second;
  }
  /// `id` is a member of the best view, or awaited.
  [[nodiscard]] bool contains(ProcessorId id) const {
    return best_.members.contains(id) || awaited_.contains(id);
  }
  /// The best view says that `self` is no member.
  [[nodiscard]] bool is_fenced() const { return !best_.members.contains(self_); }
  /// The view that follows the best one: without those suspected, and with `id_gap` numbers left
  /// out for each lower member, because the dead coordinator, or another that tries to take over,
  /// may have given them to processors and jobs that nobody here knows.
  [[nodiscard]] ViewInstall result(const FailureDetector& detector, std::uint32_t id_gap) const;
  /// `member` has the best view already: of the result it needs what has changed.
  [[nodiscard]] bool has_best(ProcessorId member) const { return up_to_date_.contains(member); }

 private:
  ProcessorId self_;
  View best_;
  std::set<ProcessorId> up_to_date_;  ///< Have reported the number of `best_`.
  std::set<ProcessorId> asked_;
  ProcessorSet awaited_;
  bool has_unasked_ = true;  ///< Perhaps: in `best_`.
};

}  // namespace phx::runtime
