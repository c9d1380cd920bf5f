#include "overlay/tree_forest.h"

#include <algorithm>
#include <array>
#include <utility>

#include "overlay/base/check.h"
#include "overlay/base/overloaded.h"

namespace phx::overlay {
namespace {

using Kind = TreeForest::Timer::Kind;

/// The first sequence number of a root's tree. Lower ones mean "any life".
constexpr std::uint64_t kFirstSeq = 1;

/// Of the timers of a tree, in the order of AdaptiveTree::Timer.
constexpr std::array kTreeKinds = {Kind::kAttach,  Kind::kUpdate, Kind::kUpdateSet,
                                   Kind::kRelabel, Kind::kLineUp, Kind::kLinger};
/// And in the order of Downloads::Timer.
constexpr std::array kDownloadKinds = {Kind::kPatience, Kind::kTurn, Kind::kQuiet};

Kind kind_of(AdaptiveTree::Timer timer) {
  return kTreeKinds[static_cast<std::size_t>(timer)];
}
Kind kind_of(Downloads::Timer timer) {
  return kDownloadKinds[static_cast<std::size_t>(timer)];
}
Kind kind_of(Prober::Timer timer) {
  return timer == Prober::Timer::kRound ? Kind::kProbeRound : Kind::kProbeLost;
}

template <class OfTimer>
std::optional<OfTimer> timer_of(const auto& kinds, Kind kind) {
  const auto at = std::find(kinds.begin(), kinds.end(), kind);
  if (at == kinds.end()) return std::nullopt;
  return static_cast<OfTimer>(at - kinds.begin());
}

}  // namespace

TreeForest::TreeForest(ProcessorId self, const TreeForestOptions& options, std::uint64_t seed)
    : self_(self),
      options_(options),
      rng_(Rng(seed).fork("trees")),
      live_{self},
      prober_(self, options.prober, Rng(seed).fork("prober")),
      downloads_(options.downloads) {}

void TreeForest::on_members(Instant now, const ProcessorSet& live, Outbox& out) {
  if (leaving_ || live == live_) return;
  const ProcessorSet newcomers = live.minus(live_);
  live_ = live;
  live_.insert(self_);
  links_.keep_only(live_);
  std::erase_if(floors_, [&](const auto& f) { return !live_.contains(f.first.root); });
  Downloads::Outbox measured;
  downloads_.on_members(now, live_, measured);
  rounds_left_ = options_.rounds;
  pump(now, measured, out);
  for (auto at = trees_.begin(); at != trees_.end();) {
    if (live_.contains(at->first.root)) {
      AdaptiveTree::Outbox effects;
      at->second.on_members(horizon(now), effects);
      pump(now, at->first, effects, out);
      ++at;
    } else {
      at = drop(at, out);
    }
  }
  for (const ProcessorId newcomer : newcomers.ids()) {
    if (newcomer != self_) welcome(newcomer, out);
    for (const TreeKind kind : kAdaptiveKinds) {
      const auto heard = early_.extract(TreeId{newcomer, kind});
      if (heard) handle(now, newcomer, heard.mapped(), out);
    }
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
  if (const auto of = timer_of<Downloads::Timer>(kDownloadKinds, timer.kind)) {
    Downloads::Outbox effects;
    downloads_.on_timer(now, *of, effects);
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
  AdaptiveTree::Outbox effects;
  const auto of = timer_of<AdaptiveTree::Timer>(kTreeKinds, timer.kind);
  if (of) at->second.on_timer(horizon(now), *of, effects);
  pump(now, timer.tree, effects, out);
}

void TreeForest::use(Instant now, TreeId id, Outbox& out) {
  if (leaving_ || id.root != self_ || !is_adaptive(id)) return;
  // What is not connected to the one for long messages is reached along the other.
  if (id.kind == TreeKind::kBandwidth) use(now, {self_, TreeKind::kLatency}, out);
  if (trees_.count(id) != 0) {
    used_[id] = now;
    return;
  }
  const auto floor = floors_.find(id);
  if (create(id, floor == floors_.end() ? kFirstSeq : floor->second) == nullptr) return;
  used_[id] = now;
  out.arm(Timer{Kind::kIdle, id}, now + options_.idle);
  const TreeOpen open = announcement(id);
  for (const ProcessorId member : live_.ids()) {
    if (member != self_) out.send(member, open);
  }
  out.report(TreeChanged{id});
}

void TreeForest::leave(Instant now, Outbox& out) {
  if (leaving_) return;
  leaving_ = true;
  for (auto at = trees_.begin(); at != trees_.end();) {
    if (at->second.is_root()) {
      const TreeId id = at->first;
      ++at;
      close(id, out);
      continue;
    }
    AdaptiveTree::Outbox effects;
    at->second.leave(effects);
    for (const auto& item : effects.items()) {
      if (const auto* send = std::get_if<AdaptiveTree::Outbox::Send>(&item)) {
        out.send(send->to, send->message);
      }
    }
    at = drop(at, out);
  }
  Prober::Outbox effects;
  prober_.stop(effects);
  for (const auto& item : effects.items()) {
    if (const auto* arm = std::get_if<Prober::Outbox::Arm>(&item)) {
      out.disarm(Timer{kind_of(arm->timer), {}});
    }
  }
  early_.clear();
  if (!downloads_.is_idle()) {
    Downloads::Outbox last;
    downloads_.stop(last);
    pump(now, last, out);
  }
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
                            const Timer timer{kind_of(arm.timer), {}};
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

void TreeForest::pump(Instant now, TreeId id, AdaptiveTree::Outbox& from, Outbox& out) {
  bool gone = false;
  for (auto& item : from.take()) {
    std::visit(
        Overloaded{
            [&](AdaptiveTree::Outbox::Send& send) { out.send(send.to, std::move(send.message)); },
            [&](const AdaptiveTree::Outbox::Arm& arm) {
              const Timer timer{kind_of(arm.timer), id};
              arm.at ? out.arm(timer, *arm.at) : out.disarm(timer);
            },
            [&](const AdaptiveTree::Report& report) {
              if (const auto* worth = std::get_if<AdaptiveTree::WorthProbing>(&report)) {
                on_worth(now, id, *worth, out);
              } else if (std::holds_alternative<AdaptiveTree::Gone>(report)) {
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
}

void TreeForest::on_worth(Instant now, TreeId id, const AdaptiveTree::WorthProbing& worth,
                          Outbox& out) {
  places_[id].since = now;  // This tree is asked about, then.
  if (worth.by_download) {
    Downloads::Outbox measured;
    const bool is_parent = trees_.at(id).parent() == worth.peer;
    const Duration far = links_.estimate(worth.peer).value_or(Duration{});
    downloads_.request(now, worth.peer, far, is_parent, measured);
    pump(now, measured, out);
  } else {
    Prober::Outbox suggested;
    prober_.suggest(now, worth.peer, suggested);
    pump(now, suggested, out);
  }
}

void TreeForest::pump(Instant now, Downloads::Outbox& from, Outbox& out) {
  for (auto& item : from.take()) {
    std::visit(Overloaded{[&](Downloads::Outbox::Send& send) {
                            out.send(send.to, std::move(send.message));
                          },
                          [&](const Downloads::Outbox::Arm& arm) {
                            const Timer timer{kind_of(arm.timer), {}};
                            arm.at ? out.arm(timer, *arm.at) : out.disarm(timer);
                          },
                          [&](const Downloads::Report& report) {
                            if (const auto* measured = std::get_if<Downloads::Measured>(&report)) {
                              on_measured(now, measured->peer, out);
                            } else {
                              on_failed(now, std::get<Downloads::Failed>(report).peer, out);
                            }
                          }},
               item);
  }
}

/// A parent is measured again later: nothing can be weighed against one that is not known.
void TreeForest::on_failed(Instant now, ProcessorId peer, Outbox& out) {
  for (const auto& [id, tree] : trees_) {
    if (id.kind != TreeKind::kBandwidth || tree.parent() != peer) continue;
    if (!downloads_.rates().rate(peer)) on_worth(now, id, {peer, true}, out);
    return;
  }
}

/// Who is no parent was measured because it may become one: it is asked once more for its place.
void TreeForest::on_measured(Instant now, ProcessorId peer, Outbox& out) {
  bool is_parent = false;
  for (auto& [id, tree] : trees_) {
    if (id.kind != TreeKind::kBandwidth) continue;
    is_parent = is_parent || tree.parent() == peer;
    AdaptiveTree::Outbox effects;
    tree.on_rate(horizon(now), peer, effects);
    pump(now, id, effects, out);
  }
  Prober::Outbox measured;
  if (!is_parent) prober_.suggest(now, peer, measured);
  if (is_parent && rounds_left_ > 0) {
    --rounds_left_;  // Only now candidates can be weighed.
    prober_.request(now, measured);
  }
  pump(now, measured, out);
}

/// A bandwidth tree begins where the latency tree has brought this processor near to others.
void TreeForest::join_widest(Instant now, TreeId id, Outbox& out) {
  const AdaptiveTree* model = find({id.root, TreeKind::kLatency});
  AdaptiveTree* tree = find(id);
  if (model == nullptr || !model->is_connected() || tree->parent()) return;
  const ProcessorId proposed = model->parent().value_or(id.root);
  // Some time later somebody nearer may be known; those near to it have a line of their own.
  const bool is_late = now >= places_[id].since + options_.settle;
  if (!links_.is_beside(proposed) && !(is_late && links_.round_trip(proposed))) return;
  AdaptiveTree::Outbox effects;
  tree->join(horizon(now), 0, proposed, effects);
  pump(now, id, effects, out);
}

void TreeForest::on_round_over(Instant now, Outbox& out) {
  for (auto& [id, tree] : trees_) {
    AdaptiveTree::Outbox effects;
    tree.on_round_over(horizon(now), effects);
    pump(now, id, effects, out);
    if (id.kind == TreeKind::kBandwidth && !tree.is_root()) join_widest(now, id, out);
  }
}

// --- Life of a tree ---

AdaptiveTree* TreeForest::find(TreeId id) {
  const auto at = trees_.find(id);
  return at == trees_.end() ? nullptr : &at->second;
}

/// Null: there are too many.
AdaptiveTree* TreeForest::create(TreeId id, std::uint64_t seq) {
  if (trees_.size() >= options_.trees_max) return nullptr;
  // Attachments are numbered through all lives of a tree, so that late messages do not match.
  const std::uint64_t attachments = ++lives_ << 32U;
  Rng rng(rng_.next());
  const AdaptiveTreeOptions& options =
      id.kind == TreeKind::kBandwidth ? options_.bandwidth : options_.latency;
  const auto made = trees_.emplace(id, AdaptiveTree(self_, id, options, seq, attachments, rng));
  return &made.first->second;
}

/// The nearest root whose tree is known here is the one to inherit from [Saito08 G17].
TreeOpen TreeForest::announcement(TreeId id) const {
  TreeOpen open{id, kNobody, Duration{0}, trees_.at(id).label().seq};
  std::optional<Duration> least;
  if (id.kind == TreeKind::kBandwidth) return open;  // Begins where the latency tree is.
  for (const auto& [other, tree] : trees_) {
    if (other == id || other.kind != id.kind || !tree.is_connected()) continue;
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
  for (const TreeKind kind : kAdaptiveKinds) {
    const TreeId own{self_, kind};
    const auto tree = trees_.find(own);
    const auto floor = floors_.find(own);
    if (tree != trees_.end()) {
      out.send(newcomer, TreeOpen{own, kNobody, Duration{0}, tree->second.label().seq});
    } else if (floor != floors_.end()) {
      out.send(newcomer, TreeClose{own, floor->second - 1});
    }
  }
}

void TreeForest::close(TreeId id, Outbox& out) {
  const auto at = trees_.find(id);
  const std::uint64_t seq = at->second.label().seq;
  floors_[id] = seq + 1;
  for (const ProcessorId member : live_.ids()) {
    if (member != self_) out.send(member, TreeClose{id, seq});
  }
  out.disarm(Timer{Kind::kIdle, id});
  used_.erase(id);
  drop(at, out);
}

TreeForest::Trees::iterator TreeForest::drop(Trees::iterator at, Outbox& out) {
  const TreeId id = at->first;
  if (!at->second.is_settled()) {
    for (const Kind kind : kTreeKinds) {
      out.disarm(Timer{kind, id});
    }
  }
  out.report(TreeChanged{id});
  places_.erase(id);
  return trees_.erase(at);
}

}  // namespace phx::overlay
