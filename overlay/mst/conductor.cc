#include "overlay/mst/conductor.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "overlay/base/overloaded.h"

namespace phx::mst {
namespace {

std::set<ProcessorId> as_set(const ProcessorSet& members) {
  const std::vector<ProcessorId> ids = members.ids();
  return {ids.begin(), ids.end()};
}

}  // namespace

void Conductor::begin(const ProcessorSet& members, const Version& own, const RoundId& newest,
                      Outbox& out) {
  PHX_CHECK(members.contains(self_));
  const std::uint64_t last = std::max(newest.number, stamp_.round.number);
  stage_ = Stage::kOffers;
  stamp_ = {{last + 1, self_}, 0};
  members_ = members;
  known_ = own;
  awaited_ = as_set(members);
  has_strange_tree_ = false;
  changes_ = changed_ = cut_ = degrees_ = halted_ = 0;
  recoveries_.clear();
  for (const ProcessorId id : awaited_) out.send(id, Begin{stamp_.round, members_});
}

void Conductor::on_message(ProcessorId from, const Message& message, Outbox& out) {
  if (!is_busy() || !members_.contains(from)) return;
  std::visit(Overloaded{[&](const Ready& m) { handle(from, m, out); },
                        [&](const Outdated& m) { handle(from, m, out); },
                        [&](const Classified& m) { handle(from, m, out); },
                        [&](const Halted& m) { handle(from, m, out); },
                        [&](const Recovered& m) { handle(from, m, out); },
                        [&](const Exchanged& m) { handle(from, m, out); },
                        // For the members.
                        [](const Searching&) {}, [](const Begin&) {}, [](const Step&) {},
                        [](const Recover&) {}, [](const Exchange&) {}, [](const Done&) {},
                        [](const Offer&) {}, [](const OfferTaken&) {}, [](const Seek&) {},
                        [](const SeekReply&) {}, [](const Behind&) {}},
             message);
}

void Conductor::handle(ProcessorId /*from*/, const Outdated& m, Outbox& out) {
  if (m.newest < stamp_.round || m.newest.number >= kRoundHeard) return;
  begin(ProcessorSet(members_), Version(known_), m.newest, out);
}

void Conductor::handle(ProcessorId from, const Ready& m, Outbox& out) {
  if (stage_ != Stage::kOffers || m.round != stamp_.round || awaited_.erase(from) == 0) return;
  const RoundId expected = known_.members.contains(from) ? known_.round : RoundId{};
  if (m.tree != expected) has_strange_tree_ = true;
  changes_ += m.changes;
  if (!awaited_.empty()) return;
  if (has_strange_tree_) {
    known_ = {};
    return step(StepKind::kForget, Stage::kClassify, out);
  }
  if (changes_ == 0 && members_ == known_.members) return end(false, out);
  step(StepKind::kClassify, Stage::kClassify, out);
}

void Conductor::step(StepKind kind, Stage stage, Outbox& out) {
  ++stamp_.step;
  stage_ = stage;
  halted_ = 0;
  awaited_ = as_set(members_);
  for (const ProcessorId id : awaited_) out.send(id, Step{stamp_, kind});
}

void Conductor::handle(ProcessorId from, const Classified& m, Outbox& out) {
  if (stage_ != Stage::kClassify || m.stamp != stamp_ || awaited_.erase(from) == 0) return;
  changed_ += m.changed;
  cut_ += m.cut;
  degrees_ += m.degree;
  recoveries_.insert(recoveries_.end(), m.recoveries.begin(), m.recoveries.end());
  if (awaited_.empty()) after_classes(out);
}

void Conductor::after_classes(Outbox& out) {
  if (changed_ == 0 && members_ == known_.members) return end(false, out);
  std::sort(recoveries_.begin(), recoveries_.end(), std::greater<>());
  const std::uint64_t before = members_.common(known_.members).size();
  const bool is_in_pieces = degrees_ / 2 + 1 < before;  // A forest of n with fewer than n-1 edges.
  if (cut_ > 0 && is_in_pieces) return step(StepKind::kRejoin, Stage::kRejoin, out);
  next_recovery(out);
}

void Conductor::handle(ProcessorId /*from*/, const Halted& m, Outbox& out) {
  const bool is_searching = stage_ == Stage::kRejoin || stage_ == Stage::kTogether;
  if (!is_searching || m.stamp != stamp_) return;
  halted_ += m.processors;
  if (halted_ < members_.size()) return;
  next_recovery(out);
}

/// By the costs in overlay/mst/README.md.
bool Conductor::together_is_cheaper() const {
  const std::uint64_t n = members_.size();
  const std::uint64_t k = recoveries_.size();
  const auto log_n = static_cast<std::uint64_t>(std::bit_width(n));
  return k * (2 * n + 8) > 5 * n * log_n + 2 * (n + k);
}

void Conductor::next_recovery(Outbox& out) {
  if (recoveries_.empty()) return end(true, out);
  if (together_is_cheaper()) {
    recoveries_.clear();
    return step(StepKind::kTogether, Stage::kTogether, out);
  }
  ++stamp_.step;
  stage_ = Stage::kRecover;
  out.send(recoveries_.back().low, Recover{stamp_, recoveries_.back()});
}

void Conductor::handle(ProcessorId from, const Recovered& m, Outbox& out) {
  if (stage_ != Stage::kRecover || m.stamp != stamp_ || from != recoveries_.back().low) return;
  const EdgeKey in = recoveries_.back();
  recoveries_.pop_back();
  const bool is_better = !m.heaviest || in < *m.heaviest;
  if (!m.is_in_tree && !is_better) return next_recovery(out);
  stage_ = Stage::kExchange;
  awaited_ = {in.low, in.high};
  if (m.heaviest) awaited_.insert({m.heaviest->low, m.heaviest->high});
  for (const ProcessorId id : awaited_) out.send(id, Exchange{stamp_, in, m.heaviest});
}

void Conductor::handle(ProcessorId from, const Exchanged& m, Outbox& out) {
  if (stage_ != Stage::kExchange || m.stamp != stamp_ || awaited_.erase(from) == 0) return;
  if (awaited_.empty()) next_recovery(out);
}

void Conductor::end(bool has_changed, Outbox& out) {
  stage_ = Stage::kIdle;
  if (has_changed) {
    for (const ProcessorId id : members_.ids()) out.send(id, Done{stamp_.round});
  }
}

}  // namespace phx::mst
