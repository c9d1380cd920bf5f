#include "collectives/reduction.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/portions.h"
#include "overlay/base/check.h"

namespace phx::collectives {
namespace {

/// As many pieces of a long value may be on their way along one of its two trees.
constexpr std::uint64_t kMoreLongAnswers = 16;

VnodeSet covered_by(const ReductionToken& token) {
  VnodeSet covered;
  for (const ReductionPart& part : token.parts) {
    for (const auto& range : part.covered.ranges()) covered.insert(range);
  }
  return covered;
}

}  // namespace

Reduction::Reduction(ProcessorId self, const ReductionOptions& options)
    : self_(self), options_(options), passed_(options.targets_max) {
  PHX_CHECK(options.wait_min > Duration::zero() && options.wait_min <= options.wait_max);
  PHX_CHECK(options.distance_factor > 0);
}

/// What others held of the same reductions may be lost, so nothing of it is combined any more, and
/// everybody contributes, and answers, once more.
void Reduction::on_line(std::uint64_t line, Outbox& out) {
  if (line <= line_) return;
  line_ = line;
  for (const auto& [id, held] : held_) {
    if (held.armed) out.disarm(id);
  }
  held_.clear();
  held_bytes_ = 0;
  passed_ = PassedNumbers(options_.targets_max);
  elsewhere_ = {};
}

void Reduction::on_token(Instant now, std::optional<ProcessorId> from, ReductionToken token,
                         const Situation& situation, Outbox& out) {
  PHX_CHECK(token.line <= line_);
  if (token.line < line_) return;  // comes again, under this line
  const ReductionId id = token.id;
  VnodeSet covered = covered_by(token);
  if (held_.count(id) == 0 && passed_.contains(id)) {
    if (!covered.empty()) pass_late(now, std::move(token), out);
    return;
  }
  const auto at = hold(now, token, covered.empty(), situation);
  if (from) at->second.heard.insert(*from);
  if (!covered.empty()) take(at->second, std::move(token), std::move(covered), out);

  const bool too_much = held_.size() > options_.held_max || held_bytes_ > options_.held_bytes_max;
  if (too_much || situation.leaving || has_all(id, at->second, situation)) {
    pass(now, at, situation, out);
  } else if (!at->second.armed || *at->second.armed > at->second.deadline) {
    at->second.armed = at->second.deadline;
    out.arm(id, at->second.deadline);
  }
}

/// The place for `token`, as yet without it. Time counts from the first contribution; a child that
/// has none may say so long before.
Reduction::HeldMap::iterator Reduction::hold(Instant now, const ReductionToken& token,
                                             bool is_empty, const Situation& situation) {
  const auto [at, is_new] = held_.try_emplace(
      token.id,
      Held{Accumulator(token.kind), {}, now, now + wait(situation), std::nullopt, situation.way});
  Held& held = at->second;
  if (!is_new && !is_empty && held.sum.covered().empty()) {
    held.sum = Accumulator(token.kind);
    held.since = now;
    held.way = situation.way;
    held.deadline = now + wait(situation);  // a timer that fires early is set again
  }
  return at;
}

void Reduction::on_situation(Instant now, const ReductionId& id, const Situation& situation,
                             Outbox& out) {
  const auto at = held_.find(id);
  if (at == held_.end()) return;
  if (situation.leaving || has_all(id, at->second, situation)) pass(now, at, situation, out);
}

void Reduction::on_timer(Instant now, const ReductionId& id, const Situation& situation,
                         Outbox& out) {
  const auto at = held_.find(id);
  if (at == held_.end()) return;  // it was passed on while the timer fired
  if (const Instant due = patience(id.target, at->second); now < due) {
    at->second.armed = due;
    out.arm(id, due);
    return;
  }
  at->second.armed.reset();
  pass(now, at, situation, out);
}

std::vector<ReductionId> Reduction::held() const {
  std::vector<ReductionId> ids;
  ids.reserve(held_.size());
  for (const auto& [id, held] : held_) ids.push_back(id);
  return ids;
}

void Reduction::check_invariants() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, held] : held_) {
    bytes += held.sum.bytes();
    PHX_CHECK(held.since < held.deadline);
    PHX_CHECK(held.deadline <= held.since + options_.wait_max);
  }
  PHX_CHECK(bytes == held_bytes_);
  PHX_CHECK(held_.size() <= options_.held_max);
  PHX_CHECK(held_bytes_ <= options_.held_bytes_max);
  PHX_CHECK(passed_.targets() <= options_.targets_max);
}

Duration Reduction::wait(const Situation& situation) const {
  Duration distance{};
  if (situation.tree != nullptr && situation.tree->distance_to_root != kForever) {
    // Cut before it is multiplied, so that no distance overflows.
    distance = std::min(situation.tree->distance_to_root, options_.wait_max);
  }
  const Duration far = distance * options_.distance_factor;
  const Duration skewed = skew_ + skew_ / 4;
  const Duration least = situation.way == kShortWay ? options_.wait_min : options_.wait_long;
  return std::min(std::max({least, far, skewed}), options_.wait_max);
}

Instant Reduction::patience(VnodeId target, const Held& held) const {
  if (held.way == kShortWay) return held.deadline;
  const auto last = passed_.last_in_time(target);
  return last ? std::max(held.deadline, *last + options_.wait_long) : held.deadline;
}

ReductionWay Reduction::way_of(const ReductionId& id) const {
  const auto at = held_.find(id);
  return at == held_.end() ? kShortWay : at->second.way;
}

/// Who has nothing to say may be wrong about it.
ReductionWay Reduction::way_of(const ReductionToken& token) const {
  const auto at = held_.find(token.id);
  if (at == held_.end()) return token.way;
  const bool is_guess = at->second.sum.covered().empty() && !token.parts.empty();
  return is_guess ? token.way : at->second.way;
}

std::optional<ProcessorId> Reduction::parent(std::optional<ProcessorId> target_owner,
                                             const TreeView* tree) const {
  if (tree == nullptr || target_owner == self_) return std::nullopt;
  if (tree->parent == self_) return std::nullopt;  // a tree may be wrong in every way
  return tree->parent;
}

bool Reduction::has_all(const ReductionId& id, const Held& held, const Situation& situation) const {
  const bool own =
      held.sum.complete(situation.own) || elsewhere_.covers(id, held.sum.missing(situation.own));
  if (!own) return false;
  if (situation.tree == nullptr) return true;
  const std::vector<TreeChild>& children = situation.tree->children;
  for (std::size_t i = 0; i < children.size(); ++i) {
    // A child sends one token into the tree; whatever comes to it later goes to the target by
    // itself. So a child that was heard is not waited for, complete or not.
    const bool heard = held.heard.count(children[i].id) > 0;
    if (!heard && !held.sum.complete(situation.below(i))) return false;
  }
  return true;
}

void Reduction::take(Held& held, ReductionToken token, VnodeSet covered, Outbox& out) {
  const auto report = [&](Anomaly::Kind kind) {
    ++anomalies_;
    out.report(Anomaly{kind, token.id, std::move(covered)});
  };
  const auto apart = [&](Anomaly::Kind kind) {
    report(kind);
    token.complete = false;
    out.report(ToTarget{std::move(token)});
  };
  // Another kind cannot be said in the same token, so it must not get into the sum.
  if (token.kind != held.sum.kind()) return apart(Anomaly::Kind::kOtherKind);
  held_bytes_ -= held.sum.bytes();
  const Accumulator::Added added = held.sum.add(token.kind, std::move(token.parts));
  held_bytes_ += held.sum.bytes();
  if (added == Accumulator::Added::kOverlap) return apart(Anomaly::Kind::kOverlap);
  if (added == Accumulator::Added::kUnfit) report(Anomaly::Kind::kUnfitValue);
}

void Reduction::pass_late(Instant now, ReductionToken token, Outbox& out) {
  if (const std::optional<Instant> first = passed_.first_token(token.id)) {
    skew_ = std::max(skew_, std::min<Duration>(now - *first, options_.wait_max));
  }
  token.complete = false;
  out.report(ToTarget{std::move(token)});
}

void Reduction::answer(Instant now, std::pair<VnodeId, ReductionWay> along,
                       std::optional<ProcessorId> parent, Outbox& out) {
  const auto [target, way] = along;
  const PassedNumbers::Passing* last = passed_.last(target, way);
  if (!parent || last == nullptr || last->told == parent) return;
  if (now - last->at > options_.wait_max) return;  // nobody waits any more
  const std::uint64_t count = options_.answers_max * (way == kShortWay ? 1 : kMoreLongAnswers);
  for (const ReductionId& id : passed_.greatest(target, count, way)) {
    out.send(*parent, ReductionToken{id, {}, {}, true, line_, way});
  }
  passed_.tell(target, *parent, way);
}

void Reduction::pass(Instant now, HeldMap::iterator at, const Situation& situation, Outbox& out) {
  Held held = std::move(at->second);
  const ReductionId id = at->first;
  held_.erase(at);
  held_bytes_ -= held.sum.bytes();
  const std::optional<ProcessorId> above = parent(situation.target_owner, situation.tree);
  const bool complete = has_all(id, held, situation);
  answer(now, {id.target, held.way}, above, out);
  passed_.insert(id, {held.since, now, above, complete}, held.way);
  if (held.armed) out.disarm(id);

  elsewhere_.on_passed(id);
  const bool is_empty = held.sum.covered().empty();
  if (complete && !is_empty) skew_ = std::max<Duration>(now - held.since, skew_ - skew_ / 8);
  const ReductionKind kind = held.sum.kind();
  bool goes_up = above.has_value();
  for (std::vector<ReductionPart>& portion : portions(held.sum.take_parts())) {
    ReductionToken token{id, kind, std::move(portion), complete, line_, held.way};
    if (std::exchange(goes_up, false)) {
      out.send(*above, std::move(token));  // nothing is an answer, too: it need not wait
    } else if (!is_empty) {
      token.complete = complete && !above;
      out.report(ToTarget{std::move(token)});
    }
  }
}

}  // namespace phx::collectives
