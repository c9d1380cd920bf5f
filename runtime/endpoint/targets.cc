#include "runtime/endpoint/targets.h"

#include <algorithm>

#include "collectives/reduce_op.h"

namespace phx::runtime {
namespace {

/// What a reduction weighs for the contributor that gave most to it. Values of some operators stay
/// apart.
std::uint64_t weight_of(const collectives::Accumulator& sum) {
  return kPieceOverhead + sum.longest();
}

FlowCredit credit_of(VnodeId contributor, VnodeId target, std::uint64_t reduced) {
  return {contributor, target, 0, 0, {}, reduced};
}

}  // namespace

void Targets::add(VnodeId vnode, AsTarget as_target) {
  Target& target = targets_[vnode];
  for (auto& [number, pending] : as_target.pending) {
    target.pending.insert_or_assign(
        number, Pending{{pending.kind, std::move(pending.parts), pending.misfit}, pending.line});
  }
  as_target.pending.clear();
  target.state = std::move(as_target);
  target.untold = options_.window_bytes;  // nobody knows here when askers were told last
  if (target.state.complete > 0) answer(vnode, target);
}

/// Tells those who wait, and may have more that waits for credit: they may not hear broadcasts.
void Targets::answer(VnodeId vnode, Target& target) {
  const std::uint64_t done = target.state.complete;
  const bool is_due = target.untold >= options_.window_bytes / 2;
  if (is_due) target.untold = 0;
  std::erase_if(target.state.askers, [&](const auto& asker) {
    const bool is_answered = asker.second <= done;
    if (is_due || is_answered) credits_.push_back(credit_of(asker.first, vnode, done));
    return is_answered;
  });
}

AsTarget Targets::remove(VnodeId vnode) {
  auto found = targets_.extract(vnode);
  if (found.empty()) return {};
  untold_.erase(vnode);
  Target& target = found.mapped();
  for (auto& [number, pending] : target.pending) {
    const std::string misfit = pending.sum.misfit();
    target.state.pending[number] = {pending.sum.kind(), pending.sum.take_parts(), pending.line,
                                    misfit};
  }
  return std::move(target.state);
}

void Targets::on_token(const collectives::ReductionToken& token) {
  const auto found = targets_.find(token.id.target);
  if (found == targets_.end()) return;  // it crossed the vnode's release, and comes after it
  Target& target = found->second;
  const std::uint64_t number = token.id.number;
  if (number < target.state.complete) {
    ++late_;
    return;
  }
  const auto at =
      target.pending.try_emplace(number, Pending{collectives::Accumulator(token.kind), token.line})
          .first;
  Pending& pending = at->second;
  if (token.line < pending.line) {
    ++late_;
    return;
  }
  if (token.line > pending.line) pending = {collectives::Accumulator(token.kind), token.line};
  // What does not fit is taken all the same, so the reduction ends with an error.
  auto parts = token.parts;
  if (pending.sum.add(token.kind, std::move(parts)) == collectives::Accumulator::Added::kOverlap) {
    ++late_;
    return;
  }
  ++taken_;
  complete(found->first, target);
}

void Targets::complete(VnodeId vnode, Target& target) {
  std::uint64_t& done = target.state.complete;
  const std::uint64_t before = done;
  for (auto at = target.pending.find(done);
       at != target.pending.end() && at->second.sum.covered().size() >= total_;
       at = target.pending.find(done)) {
    const std::uint64_t share = options_.share_of(
        weight_of(at->second.sum), collectives::is_bundled(at->second.sum.kind().op));
    target.state.unsaid += share;
    target.untold += share;
    reduced_.push_back({{vnode, done}, std::move(at->second.sum)});
    target.pending.erase(at);
    ++done;
  }
  if (done == before) return;
  untold_.insert(vnode);
  answer(vnode, target);
}

void Targets::on_told(const collectives::ReductionId& id) {
  const auto target = targets_.find(id.target);
  if (target == targets_.end()) return;
  AsTarget& state = target->second.state;
  if (id.number + 1 >= state.complete) state.unsaid = 0;
}

std::vector<Targets::News> Targets::take_news() {
  std::vector<News> news;
  for (const VnodeId vnode : std::exchange(untold_, {})) {
    AsTarget& state = targets_.at(vnode).state;
    if (state.unsaid < options_.window_bytes / 2) continue;
    state.unsaid = 0;
    news.emplace_back(vnode, state.complete - 1);
  }
  return news;
}

void Targets::on_question(const FlowQuestion& question) {
  const auto found = targets_.find(question.to);
  if (found == targets_.end()) return;  // as with tokens
  Target& target = found->second;
  const std::uint64_t done = target.state.complete;
  if (target.is_closed && done < question.reductions) {
    credits_.push_back(credit_of(question.from, question.to, kFlowIncomplete));
    return;
  }
  if (done > 0) credits_.push_back(credit_of(question.from, question.to, done));
  if (done >= question.reductions) return;
  std::uint64_t& asked = target.state.askers[question.from];
  asked = std::max(asked, question.reductions);
}

void Targets::answer_closed(VnodeId vnode, Target& target) {
  target.is_closed = true;
  for (const auto& [contributor, asked] : std::exchange(target.state.askers, {})) {
    credits_.push_back(credit_of(contributor, vnode, kFlowIncomplete));
  }
}

void Targets::close(const std::function<bool(VnodeId)>& waits) {
  for (auto& [vnode, target] : targets_) {
    if (!waits(vnode)) answer_closed(vnode, target);
  }
}

void Targets::finish() {
  for (auto& [vnode, target] : targets_) answer_closed(vnode, target);
}

std::uint64_t Targets::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [vnode, target] : targets_) {
    for (const auto& [number, pending] : target.pending) bytes += pending.sum.bytes();
  }
  return bytes;
}

std::string Targets::lacking() const {
  constexpr std::size_t kRangesMost = 8;
  for (const auto& [vnode, target] : targets_) {
    const auto first = target.pending.find(target.state.complete);
    if (first == target.pending.end() || total_ == 0) continue;
    const VnodeSet missing =
        first->second.sum.missing(VnodeSet::range(VnodeId{}, VnodeId{total_ - 1}));
    VnodeSet named;
    for (const VnodeSet::Range& range : missing.ranges()) {
      if (named.ranges().size() < kRangesMost) named.insert(range);
    }
    return "a reduction to " + to_string(vnode) + " lacks v" + to_string(named) +
           (named == missing ? "" : " and others");
  }
  return "";
}

std::uint64_t Targets::most_pending() const {
  std::uint64_t most = 0;
  for (const auto& [vnode, target] : targets_) {
    most = std::max<std::uint64_t>(most, target.pending.size());
  }
  return most;
}

}  // namespace phx::runtime
