// What other processors say to the forest, and what the prober brings.

#include <algorithm>
#include <utility>

#include "overlay/base/overloaded.h"
#include "overlay/tree_forest.h"

namespace phx::overlay {

void TreeForest::on_message(Instant now, ProcessorId from, const Message& message, Outbox& out) {
  if (from == self_) return;
  std::visit(Overloaded{[&](const Probe& m) { handle(now, from, m, out); },
                        [&](const ProbeReply& m) { handle(now, from, m, out); },
                        [&](const TreeOpen& m) { handle(now, from, m, out); },
                        [&](const TreeClose& m) { handle(now, from, m, out); },
                        [&](const Attach& m) { handle(now, from, m, out); },
                        [&](const AttachReply& m) { handle(now, from, m, out); },
                        [&](const Detach& m) { to_tree(now, from, m.tree, m, out); },
                        [&](const Bye& m) { to_tree(now, from, m.tree, m, out); },
                        [&](const Update& m) { to_tree(now, from, m.advert.tree, m, out); },
                        [&](const UpdateSet& m) { to_tree(now, from, m.tree, m, out); },
                        [&](const Relabel& m) { to_tree(now, from, m.tree, m, out); },
                        [&](const Fetch& m) { handle_bulk(now, from, m, out); },
                        [&](const Load& m) { handle_bulk(now, from, m, out); },
                        [](const auto&) {}},  // of surveys
             message);
}

void TreeForest::handle(Instant, ProcessorId from, const Probe& m, Outbox& out) {
  ProbeReply reply{m.seq, {}, recommended_to(from)};
  for (const auto& [id, tree] : trees_) {
    if (reply.adverts.size() == kAdaptiveKinds.size() * options_.roots_max) break;
    if (tree.is_connected() && m.roots.contains(id.root)) reply.adverts.push_back(tree.advert());
  }
  out.send(from, std::move(reply));
}

void TreeForest::handle_bulk(Instant now, ProcessorId from, const auto& m, Outbox& out) {
  if (leaving_) return;
  Downloads::Outbox effects;
  downloads_.on_message(now, from, m, effects);
  pump(now, effects, out);
}

void TreeForest::note_place(Instant now, TreeId id) {
  const AdaptiveTree* tree = find(id);
  if (tree == nullptr) return;
  const auto [place, is_new] = places_.try_emplace(id, Place{tree->parent(), now});
  if (is_new || place->second.parent == tree->parent()) return;
  place->second = {tree->parent(), now};
}

/// All of a few trees; of many those where this processor has not found its place yet, and some of
/// the others in turn: what a probe costs does not grow with the number of trees.
ProcessorSet TreeForest::roots_to_ask(Instant now) {
  constexpr std::size_t kInTurn = 8;
  ProcessorSet roots;
  for (const auto& [id, place] : places_) {
    if (roots.size() + kInTurn >= options_.roots_max) break;
    if (id.root != self_ && now < place.since + options_.young) roots.insert(id.root);
  }
  auto at = trees_.upper_bound(asked_last_);
  for (std::size_t left = std::min(kInTurn, trees_.size()); left > 0; --left, ++at) {
    if (at == trees_.end()) at = trees_.begin();
    asked_last_ = at->first;
    if (at->first.root != self_) roots.insert(at->first.root);
  }
  return roots;
}

/// The asker's siblings, and our nearest: they are near to the asker if we are.
std::vector<ProcessorId> TreeForest::recommended_to(ProcessorId asker) {
  if (leaving_) return {};
  ProcessorSet siblings;
  for (const auto& [id, tree] : trees_) {
    if (!tree.has_child(asker)) continue;
    for (const TreeChild& child : tree.view().children) siblings.insert(child.id);
  }
  std::vector<ProcessorId> chosen = siblings.ids();
  while (chosen.size() > options_.prober.candidates) {
    chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(rng_.below(chosen.size())));
  }
  for (const ProcessorId near : links_.nearest(options_.prober.nearest)) {
    if (!siblings.contains(near)) chosen.push_back(near);
  }
  std::erase(chosen, asker);
  return chosen;
}

void TreeForest::handle(Instant now, ProcessorId from, const ProbeReply& m, Outbox& out) {
  if (!live_.contains(from)) return;
  Prober::Outbox effects;
  prober_.on_reply(now, from, m, links_, effects);
  pump(now, effects, out);
}

/// A new tree: hang below the parent in the tree that it is inherited from [Saito08 G17].
void TreeForest::handle(Instant now, ProcessorId from, const TreeOpen& m, Outbox& out) {
  if (leaving_ || m.tree.root != from || !is_adaptive(m.tree)) return;
  if (!live_.contains(from)) {
    if (early_.size() < options_.trees_max || early_.count(m.tree) != 0) early_[m.tree] = m;
    return;
  }
  AdaptiveTree* tree = find(m.tree);
  if (tree == nullptr) tree = create(m.tree, m.seq);
  if (tree == nullptr) return;
  AdaptiveTree::Outbox effects;
  if (m.tree.kind == TreeKind::kBandwidth) {
    rounds_left_ = options_.rounds;
    tree->expect(horizon(now), m.seq, effects);  // Until the round of probes is over.
  } else {
    ProcessorId proposed = m.tree.root;
    const AdaptiveTree* model = find(TreeId{m.nearest, TreeKind::kLatency});
    if (m.nearest != self_ && model != nullptr) proposed = model->parent().value_or(proposed);
    tree->join(horizon(now), m.seq, proposed, effects);
  }
  pump(now, m.tree, effects, out);
  Prober::Outbox measure;
  prober_.request(now, measure);
  pump(now, measure, out);
}

void TreeForest::handle(Instant, ProcessorId from, const TreeClose& m, Outbox& out) {
  if (leaving_ || m.tree.root != from || !is_adaptive(m.tree)) return;
  early_.erase(m.tree);
  if (!live_.contains(from)) return;
  std::uint64_t& floor = floors_[m.tree];
  floor = std::max(floor, m.seq + 1);
  const auto at = trees_.find(m.tree);
  if (at != trees_.end() && at->second.label().seq <= m.seq) drop(at, out);
}

void TreeForest::handle(Instant now, ProcessorId from, const Attach& m, Outbox& out) {
  const auto floor = floors_.find(m.tree);
  const std::uint64_t least = floor == floors_.end() ? 0 : floor->second;
  if (trees_.count(m.tree) == 0 && may_expect(m.tree) && m.own.seq >= least) {
    // The asker has heard of the tree before us: it waits here until we have a place [Saito08 G17].
    if (AdaptiveTree* tree = create(m.tree, least); tree != nullptr) {
      AdaptiveTree::Outbox effects;
      tree->expect(horizon(now), least, effects);
      pump(now, m.tree, effects, out);
    }
  }
  if (trees_.count(m.tree) != 0) {
    to_tree(now, from, m.tree, m, out);
    return;
  }
  AttachReply no{m.attachment, false, {}, {}};
  no.advert.tree = m.tree;
  no.advert.label.seq = least;
  out.send(from, std::move(no));
}

bool TreeForest::may_expect(TreeId id) const {
  return !leaving_ && id.root != self_ && is_adaptive(id) && live_.contains(id.root);
}

void TreeForest::handle(Instant now, ProcessorId from, const AttachReply& m, Outbox& out) {
  if (trees_.count(m.advert.tree) != 0) {
    to_tree(now, from, m.advert.tree, m, out);
  } else if (m.accepted) {
    out.send(from, Detach{m.advert.tree, m.attachment});  // dropped the tree meanwhile
  }
}

template <class M>
void TreeForest::to_tree(Instant now, ProcessorId from, TreeId id, const M& m, Outbox& out) {
  AdaptiveTree* tree = find(id);
  if (tree == nullptr) return;  // closed meanwhile
  AdaptiveTree::Outbox effects;
  tree->on_message(horizon(now), from, m, effects);
  pump(now, id, effects, out);
}

void TreeForest::on_probed(Instant now, const Prober::Probed& probed, Outbox& out) {
  for (const TreeAdvert& advert : probed.adverts) {
    const TreeId id = advert.tree;
    if (!may_expect(id)) continue;
    const auto floor = floors_.find(id);
    const bool is_old = floor != floors_.end() && advert.label.seq < floor->second;
    AdaptiveTree* tree = find(id);
    AdaptiveTree::Outbox effects;
    if (tree == nullptr && !is_old && advert.connected) {
      tree = create(id, floor == floors_.end() ? 0 : floor->second);
      if (tree != nullptr && id.kind == TreeKind::kBandwidth) {
        tree->expect(horizon(now), 0, effects);
      } else if (tree != nullptr) {
        tree->join(horizon(now), 0, probed.peer, effects);
      }
    } else if (tree != nullptr && !is_old) {
      tree->on_candidate(horizon(now), probed.peer, advert, effects);
    }
    pump(now, id, effects, out);
  }
  Prober::Outbox effects;
  const bool counts = links_.is_near(probed.peer) ||
                      std::any_of(trees_.begin(), trees_.end(),
                                  [&](const auto& t) { return t.second.parent() == probed.peer; });
  for (const ProcessorId id : probed.recommended) {
    if (counts && !links_.round_trip(id)) prober_.suggest(now, id, effects);
  }
  pump(now, effects, out);
}

}  // namespace phx::overlay
