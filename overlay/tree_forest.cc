#include "overlay/tree_forest.h"

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"
#include "overlay/base/overloaded.h"

namespace phx::overlay {
namespace {

using Kind = TreeForest::Timer::Kind;

/// The first sequence number of a root's tree. Lower ones mean "any life".
constexpr std::uint64_t kFirstSeq = 1;

Kind kind_of(LatencyTree::Timer timer) {
  switch (timer) {
    case LatencyTree::Timer::kAttach:
      return Kind::kAttach;
    case LatencyTree::Timer::kUpdate:
      return Kind::kUpdate;
    case LatencyTree::Timer::kUpdateSet:
      return Kind::kUpdateSet;
    case LatencyTree::Timer::kRelabel:
      break;
  }
  return Kind::kRelabel;
}

LatencyTree::Timer tree_timer(Kind kind) {
  switch (kind) {
    case Kind::kAttach:
      return LatencyTree::Timer::kAttach;
    case Kind::kUpdate:
      return LatencyTree::Timer::kUpdate;
    case Kind::kUpdateSet:
      return LatencyTree::Timer::kUpdateSet;
    default:
      return LatencyTree::Timer::kRelabel;
  }
}

Kind kind_of(Prober::Timer timer) {
  return timer == Prober::Timer::kRound ? Kind::kProbeRound : Kind::kProbeLost;
}

}  // namespace

TreeForest::TreeForest(ProcessorId self, const TreeForestOptions& options, std::uint64_t seed)
    : self_(self),
      options_(options),
      rng_(Rng(seed).fork("trees")),
      live_{self},
      prober_(self, options.prober, Rng(seed).fork("prober")) {}

void TreeForest::on_members(Instant now, const ProcessorSet& live, Outbox& out) {
  if (leaving_ || live == live_) return;
  const ProcessorSet newcomers = live.minus(live_);
  live_ = live;
  live_.insert(self_);
  links_.keep_only(live_);
  std::erase_if(floors_, [&](const auto& f) { return !live_.contains(f.first.root); });
  for (auto at = trees_.begin(); at != trees_.end();) {
    if (live_.contains(at->first.root)) {
      LatencyTree::Outbox effects;
      at->second.on_members(horizon(now), effects);
      pump(now, at->first, effects, out);
      ++at;
    } else {
      at = drop(at, out);
    }
  }
  for (const ProcessorId newcomer : newcomers.ids()) {
    if (newcomer != self_) welcome(newcomer, out);
    const auto heard = early_.find(TreeId{newcomer, TreeKind::kLatency});
    if (heard == early_.end()) continue;
    const TreeOpen open = heard->second;
    early_.erase(heard);
    handle(now, newcomer, open, out);
  }
  Prober::Outbox effects;
  prober_.on_members(now, live_, live_.size() > 1, effects);
  pump(now, effects, out);
}

void TreeForest::on_timer(Instant now, const Timer& timer, Outbox& out) {
  if (leaving_) return;
  if (timer.kind == Kind::kProbeRound || timer.kind == Kind::kProbeLost) {
    Prober::Outbox effects;
    prober_.on_timer(now,
                     timer.kind == Kind::kProbeRound ? Prober::Timer::kRound : Prober::Timer::kLost,
                     links_, effects);
    pump(now, effects, out);
    return;
  }
  const auto at = trees_.find(timer.tree);
  if (at == trees_.end()) return;
  if (timer.kind == Kind::kIdle) {
    const auto used = used_.find(timer.tree);
    if (used == used_.end()) return;
    if (now >= used->second + options_.idle) {
      close(timer.tree, out);
    } else {
      out.arm(timer, used->second + options_.idle);
    }
    return;
  }
  LatencyTree::Outbox effects;
  at->second.on_timer(horizon(now), tree_timer(timer.kind), effects);
  pump(now, timer.tree, effects, out);
}

void TreeForest::use(Instant now, TreeId id, Outbox& out) {
  if (leaving_ || id.root != self_ || id.kind != TreeKind::kLatency) return;
  if (trees_.count(id) != 0) {
    used_[id] = now;
    return;
  }
  const auto floor = floors_.find(id);
  if (create(id, floor == floors_.end() ? kFirstSeq : floor->second) == nullptr) return;
  used_[id] = now;
  out.arm(Timer{Kind::kIdle, kNobody, id}, now + options_.idle);
  const TreeOpen open = announcement(id);
  for (const ProcessorId member : live_.ids()) {
    if (member != self_) out.send(member, open);
  }
  out.report(TreeChanged{id});
}

void TreeForest::leave(Instant, Outbox& out) {
  if (leaving_) return;
  leaving_ = true;
  for (auto at = trees_.begin(); at != trees_.end();) {
    if (at->second.is_root()) {
      const TreeId id = at->first;
      ++at;
      close(id, out);
      continue;
    }
    LatencyTree::Outbox effects;
    at->second.leave(effects);
    for (const auto& item : effects.items()) {
      if (const auto* send = std::get_if<LatencyTree::Outbox::Send>(&item)) {
        out.send(send->to, send->message);
      }
    }
    at = drop(at, out);
  }
  Prober::Outbox effects;
  prober_.stop(effects);
  for (const auto& item : effects.items()) {
    if (const auto* arm = std::get_if<Prober::Outbox::Arm>(&item)) {
      out.disarm(Timer{kind_of(arm->timer), kNobody, {}});
    }
  }
  early_.clear();
}

const TreeView* TreeForest::view(TreeId id) const {
  const auto at = trees_.find(id);
  return at == trees_.end() ? nullptr : &at->second.view();
}

void TreeForest::check_invariants() const {
  PHX_CHECK(live_.contains(self_) && links_.size() <= live_.size());
  PHX_CHECK(places_.size() <= trees_.size());
  PHX_CHECK(trees_.size() <= options_.trees_max && early_.size() <= options_.trees_max);
  PHX_CHECK(!leaving_ || (trees_.empty() && prober_.is_idle()));
  for (const auto& [id, tree] : trees_) {
    PHX_CHECK(live_.contains(id.root));
    PHX_CHECK(tree.is_root() == (used_.count(id) != 0));
    tree.check_invariants();
  }
}

// --- From the parts to the owner ---

void TreeForest::pump(Instant now, Prober::Outbox& from, Outbox& out) {
  for (auto& item : from.take()) {
    std::visit(Overloaded{[&](Prober::Outbox::Send& send) {
                            // The last ping of a measurement also asks what the peer has to offer.
                            if (links_.samples(send.to) + 1 >= LinkStats::kEnough) {
                              send.message.roots = roots_to_ask(now);
                            }
                            out.send(send.to, std::move(send.message));
                          },
                          [&](const Prober::Outbox::Arm& arm) {
                            const Timer timer{kind_of(arm.timer), kNobody, {}};
                            arm.at ? out.arm(timer, *arm.at) : out.disarm(timer);
                          },
                          [&](const Prober::Report& report) {
                            if (const auto* probed = std::get_if<Prober::Probed>(&report)) {
                              on_probed(now, *probed, out);
                            } else {
                              on_round_over(now, out);
                            }
                          }},
               item);
  }
}

void TreeForest::pump(Instant now, TreeId id, LatencyTree::Outbox& from, Outbox& out) {
  bool gone = false;
  Prober::Outbox suggested;
  for (auto& item : from.take()) {
    std::visit(
        Overloaded{
            [&](LatencyTree::Outbox::Send& send) { out.send(send.to, std::move(send.message)); },
            [&](const LatencyTree::Outbox::Arm& arm) {
              const Timer timer{kind_of(arm.timer), kNobody, id};
              arm.at ? out.arm(timer, *arm.at) : out.disarm(timer);
            },
            [&](const LatencyTree::Report& report) {
              if (const auto* worth = std::get_if<LatencyTree::WorthProbing>(&report)) {
                places_[id].since = now;  // This tree is asked about, then.
                prober_.suggest(now, worth->peer, suggested);
              } else if (std::holds_alternative<LatencyTree::Gone>(report)) {
                gone = true;
              } else {
                out.report(TreeChanged{id});
              }
            }},
        item);
  }
  if (gone) {
    drop(trees_.find(id), out);
  } else {
    note_place(now, id);
  }
  pump(now, suggested, out);
}

void TreeForest::on_round_over(Instant now, Outbox& out) {
  for (auto& [id, tree] : trees_) {
    LatencyTree::Outbox effects;
    tree.on_round_over(horizon(now), effects);
    pump(now, id, effects, out);
  }
}

// --- Life of a tree ---

LatencyTree* TreeForest::find(TreeId id) {
  const auto at = trees_.find(id);
  return at == trees_.end() ? nullptr : &at->second;
}

/// Null: there are too many.
LatencyTree* TreeForest::create(TreeId id, std::uint64_t seq) {
  if (trees_.size() >= options_.trees_max) return nullptr;
  // Attachments are numbered through all lives of a tree, so that late messages do not match.
  const std::uint64_t attachments = ++lives_ << 32U;
  Rng rng(rng_.next());
  const auto made =
      trees_.emplace(id, LatencyTree(self_, id, options_.latency, seq, attachments, rng));
  return &made.first->second;
}

/// The nearest root whose tree is known here is the one to inherit from [Saito08 G17].
TreeOpen TreeForest::announcement(TreeId id) const {
  TreeOpen open{id, kNobody, Duration{0}, trees_.at(id).label().seq};
  std::optional<Duration> least;
  for (const auto& [other, tree] : trees_) {
    if (other == id || !tree.is_connected()) continue;
    const Duration far = links_.round_trip(other.root).value_or(tree.view().distance_to_root);
    if (least && *least <= far) continue;
    least = far;
    open.nearest = other.root;
    open.distance = far;
  }
  return open;
}

/// What a new member must know of the own trees: that they are open, or that what others may still
/// tell of them is out of date.
void TreeForest::welcome(ProcessorId newcomer, Outbox& out) const {
  const TreeId own{self_, TreeKind::kLatency};
  const auto tree = trees_.find(own);
  const auto floor = floors_.find(own);
  if (tree != trees_.end()) {
    out.send(newcomer, TreeOpen{own, kNobody, Duration{0}, tree->second.label().seq});
  } else if (floor != floors_.end()) {
    out.send(newcomer, TreeClose{own, floor->second - 1});
  }
}

void TreeForest::close(TreeId id, Outbox& out) {
  const auto at = trees_.find(id);
  const std::uint64_t seq = at->second.label().seq;
  floors_[id] = seq + 1;
  for (const ProcessorId member : live_.ids()) {
    if (member != self_) out.send(member, TreeClose{id, seq});
  }
  out.disarm(Timer{Kind::kIdle, kNobody, id});
  used_.erase(id);
  drop(at, out);
}

TreeForest::Trees::iterator TreeForest::drop(Trees::iterator at, Outbox& out) {
  const TreeId id = at->first;
  if (!at->second.is_settled()) {
    for (const Kind kind : {Kind::kAttach, Kind::kUpdate, Kind::kUpdateSet, Kind::kRelabel}) {
      out.disarm(Timer{kind, kNobody, id});
    }
  }
  out.report(TreeChanged{id});
  places_.erase(id);
  return trees_.erase(at);
}

}  // namespace phx::overlay
