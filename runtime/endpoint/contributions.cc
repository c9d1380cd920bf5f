#include "runtime/endpoint/contributions.h"

#include <algorithm>
#include <cstddef>

#include "collectives/accumulator.h"
#include "collectives/portions.h"
#include "collectives/reduce_op.h"
#include "overlay/base/check.h"
#include "runtime/endpoint/endpoint_parts.h"

namespace phx::runtime {
namespace {

using collectives::ReductionId;
using collectives::ReductionToken;

std::uint64_t weight_of(const Contributed::One& one) {
  return kPieceOverhead + one.value.size();
}

std::uint64_t end_of(const Contributed& given) {
  return given.first + given.kept.size();
}

std::uint64_t weight_of(const Contributed& given) {
  std::uint64_t weight = 0;
  for (const Contributed::One& one : given.kept) weight += weight_of(one);
  return weight;
}

bool is_closed(const Contributed& given) {
  return given.first == kFlowClosed;
}

constexpr VnodeId kLowest{0};

}  // namespace

/// The first one leaves in any case: the oldest reduction must go on.
void Contributions::emit(const Key& key, Flow& flow) {
  Contributed& given = flow.given;
  // Under a line that the daemon here has not heard of it might be sent to one that is dead.
  if (is_closed(given) || given.line > line_) return;
  while (given.emitted < end_of(given)) {
    const std::uint64_t count = given.emitted - given.first;
    if (flow.on_way >= options_.window_bytes && count > 0) return;
    const Contributed::One& one = given.kept[static_cast<std::size_t>(count)];
    leaving_.push_back({key.second, {key.first, given.emitted}, one});
    flow.on_way += share_of(one);
    ++given.emitted;
  }
}

/// If there is a higher line than the one under which it has left.
void Contributions::start_anew(const Key& key, Flow& flow) {
  if (flow.given.line < line_) {
    flow.given.line = line_;
    flow.given.emitted = flow.given.first;
    flow.on_way = 0;
  }
  emit(key, flow);
}

void Contributions::on_line(std::uint64_t line) {
  if (line <= line_) return;
  line_ = line;
  leaving_.clear();  // comes again
  for (auto& [key, flow] : flows_) start_anew(key, flow);
}

void Contributions::forget(const Key& key, Flow& flow, std::uint64_t below) {
  Contributed& given = flow.given;
  if (is_closed(given)) return;
  if (below >= kFlowIncomplete) {
    kept_bytes_ -= weight_of(given);
    if (below == kFlowIncomplete) {
      if (!lost_) lost_ = Lost{key.first, {}};
      if (lost_->target == key.first) lost_->vnodes.insert(key.second);
    }
    flow = {};
    given.first = kFlowClosed;
    return;
  }
  below = std::min(below, end_of(given));
  for (; given.first < below; ++given.first) {
    const Contributed::One& one = given.kept.front();
    kept_bytes_ -= weight_of(one);
    if (given.first < given.emitted) flow.on_way -= share_of(one);
    given.kept.pop_front();
  }
  given.emitted = std::max(given.emitted, given.first);
  emit(key, flow);
}

void Contributions::on_complete(VnodeId vnode, VnodeId target, std::uint64_t below) {
  const auto at = flows_.find({target, vnode});
  if (at == flows_.end()) return;
  forget(at->first, at->second, below);
  if (at->second.given.kept.empty() && !is_closed(at->second.given)) flows_.erase(at);
}

void Contributions::on_complete(VnodeId target, std::uint64_t below) {
  std::vector<VnodeId> vnodes;
  for (auto at = flows_.lower_bound({target, kLowest});
       at != flows_.end() && at->first.first == target; ++at) {
    vnodes.push_back(at->first.second);
  }
  for (const VnodeId vnode : vnodes) on_complete(vnode, target, below);
}

void Contributions::add(VnodeId vnode, Targets targets) {
  for (auto& [target, given] : targets) {
    kept_bytes_ += weight_of(given);
    if (!is_closed(given)) next_[target] = std::max(next_[target], end_of(given));
    if (!given.kept.empty()) asked_.erase(target);  // the answer may have come before this vnode
    const auto at = flows_.insert_or_assign(Key{target, vnode}, Flow{std::move(given), 0}).first;
    Flow& flow = at->second;
    for (std::uint64_t i = flow.given.first; i < flow.given.emitted && !is_closed(flow.given);
         ++i) {
      flow.on_way += share_of(flow.given.kept[static_cast<std::size_t>(i - flow.given.first)]);
    }
    start_anew(at->first, flow);
  }
}

Contributions::Targets Contributions::remove(VnodeId vnode) {
  Targets targets;
  for (auto at = flows_.begin(); at != flows_.end();) {
    if (at->first.second != vnode) {
      ++at;
      continue;
    }
    kept_bytes_ -= weight_of(at->second.given);
    targets.emplace_hint(targets.end(), at->first.first, std::move(at->second.given));
    at = flows_.erase(at);
  }
  asked_.clear();  // the answer may go to a vnode that was here
  return targets;
}

void Contributions::push(VnodeId vnode, const ReductionId& id, Contributed::One one) {
  const auto [at, is_new] = flows_.try_emplace({id.target, vnode});
  Contributed& given = at->second.given;
  if (is_new) given = {id.number, id.number, line_, {}};
  next_[id.target] = std::max(next_[id.target], id.number + 1);
  if (is_closed(given)) return;
  PHX_CHECK(end_of(given) == id.number);
  kept_bytes_ += weight_of(one);
  given.kept.push_back(std::move(one));
  emit(at->first, at->second);
}

std::vector<ReductionToken> Contributions::take_tokens() {
  struct Merged {
    ReductionId id;
    collectives::ReductionWay way;
    collectives::Accumulator sum;
    std::size_t vnodes = 0;
  };
  std::vector<Merged> merged;
  std::map<ReductionId, std::size_t> latest;
  for (Leaving& leaving : std::exchange(leaving_, {})) {
    auto& [vnode, id, one] = leaving;
    const auto way = collectives::way_of(id.number, one.size, one.kind.ordered);
    std::vector<collectives::ReductionPart> parts{{VnodeSet{vnode}, std::move(one.value)}};
    const auto [at, is_new] = latest.try_emplace(id, merged.size());
    // What does not fit together travels apart: the target finds the error. So does what is much.
    const bool is_bundled = collectives::is_bundled(one.kind.op);
    const auto is_much = [is_bundled, more = parts.front().value.size()](const Merged& token) {
      return is_bundled && (token.sum.bytes() + more > collectives::kPortionBytes ||
                            token.vnodes == collectives::kPortionParts);
    };
    const Merged* known = is_new ? nullptr : &merged[at->second];
    if (known == nullptr || !(known->sum.kind() == one.kind) || is_much(*known)) {
      at->second = merged.size();
      merged.push_back({id, way, collectives::Accumulator(one.kind)});
    }
    ++merged[at->second].vnodes;
    merged[at->second].sum.add(one.kind, std::move(parts));
  }
  std::vector<ReductionToken> tokens;
  tokens.reserve(merged.size());
  for (Merged& one : merged) {
    tokens.push_back({one.id, one.sum.kind(), one.sum.take_parts(), false, line_, one.way});
  }
  return tokens;
}

std::vector<FlowQuestion> Contributions::ask(const Asking& how) {
  std::vector<FlowQuestion> questions;
  for (auto at = flows_.begin(); at != flows_.end();) {
    const auto [target, vnode] = at->first;
    std::uint64_t first = kFlowClosed;
    std::uint64_t end = 0;
    for (; at != flows_.end() && at->first.first == target; ++at) {
      const Contributed& given = at->second.given;
      if (given.kept.empty()) continue;
      first = std::min(first, given.first);
      end = std::max(end, end_of(given));
    }
    if (end == 0) continue;
    std::uint64_t& asked = asked_[target];
    if (how.once && !is_worth_asking(first, asked, end)) continue;
    asked = end;
    questions.push_back({vnode, target, false, 0, end});
  }
  return questions;
}

bool Contributions::is_following(const ReductionId& id) const {
  const auto at = next_.find(id.target);
  return at != next_.end() && id.number < at->second;
}

bool Contributions::keeps_for_all(VnodeId vnode, VnodeId target) const {
  const auto at = flows_.find({target, vnode});
  return at != flows_.end() &&
         std::any_of(at->second.given.kept.begin(), at->second.given.kept.end(),
                     [](const Contributed::One& one) { return one.kind.to_all; });
}

std::string Contributions::slowest() const {
  std::map<VnodeId, std::uint64_t> bytes;
  for (const auto& [key, flow] : flows_) bytes[key.first] += weight_of(flow.given);
  const auto most = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == bytes.end() || most->second == 0) return {};
  return "reductions towards " + to_string(most->first) + " are not complete, for which " +
         spell_bytes(most->second) + " are kept";
}

void Contributions::check_invariants() const {
  std::uint64_t kept = 0;
  for (const auto& [key, flow] : flows_) {
    const Contributed& given = flow.given;
    kept += weight_of(given);
    if (is_closed(given)) {
      PHX_CHECK(given.kept.empty());
      continue;
    }
    PHX_CHECK(given.first <= given.emitted && given.emitted <= end_of(given));
    PHX_CHECK(given.line >= line_ && !given.kept.empty());
    std::uint64_t on_way = 0;
    for (std::uint64_t i = given.first; i < given.emitted; ++i) {
      on_way += share_of(given.kept[static_cast<std::size_t>(i - given.first)]);
    }
    PHX_CHECK(on_way == flow.on_way);
    PHX_CHECK(given.line > line_ || given.emitted > given.first || given.kept.empty());
  }
  PHX_CHECK(kept == kept_bytes_);
}

}  // namespace phx::runtime
