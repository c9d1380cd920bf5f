#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <utility>
#include <variant>

#include "collectives/broadcast.h"
#include "overlay/base/overloaded.h"
#include "overlay/base/rng.h"
#include "tests/collectives/values.h"
#include "tests/support/seeds.h"

namespace phx::collectives::broadcast_churn_test {
namespace {

/// A vnode on its way to the processor that will own it at `epoch`.
struct Move {
  VnodeId vnode;
  Epoch epoch = 0;
};
using Carried = std::variant<TreeCopy, FallbackCopy, Move>;

/// What a processor has heard of a vnode's owner; always truthful, often old.
struct Heard {
  ProcessorId owner;
  Epoch epoch = 0;
  friend bool operator<(const Heard& a, const Heard& b) { return a.epoch < b.epoch; }
};

struct Options {
  std::uint32_t processors = 12;
  std::uint64_t vnodes = 40;
  std::uint64_t seed = 0;
};

/// Processors that run the functions under test over reliable FIFO channels, in random order. Trees
/// are random and wrong in every way. The rule for vnodes on their way [Saito08 G12] is that of the
/// vnode map, in its shortest form: learn what a copy says, then ask what is known.
class Network {
 public:
  explicit Network(const Options& options)
      : options_(options), rng_(options.seed), places_(options.processors) {
    for (std::uint64_t v = 0; v < options.vnodes; ++v) {
      const ProcessorId owner = any_processor();
      place(owner).own.insert(VnodeId{v});
      for (Place& p : places_) p.heard[VnodeId{v}] = Heard{owner, 1};
    }
  }

  /// Random children with random, overlapping and cyclic ideas of what is below them.
  void scramble_tree(ProcessorId at) {
    TreeView& tree = place(at).tree;
    tree.children.clear();
    for (std::uint64_t n = 1 + rng_.below(4); n > 0; --n) {
      TreeChild child{any_processor(), {}};
      for (std::uint64_t k = rng_.below(2 * options_.processors); k > 0; --k) {
        child.below.insert(any_processor());
      }
      tree.children.push_back(std::move(child));
    }
  }
  void scramble_trees() {
    for (std::uint32_t p = 1; p <= options_.processors; ++p) scramble_tree(ProcessorId{p});
  }

  void broadcast(ProcessorId from, std::uint32_t hops) {
    TreeCopy copy;
    copy.hops_left = hops;
    copy.vnodes = vnodes(0, options_.vnodes - 1);
    receive(from, copy);
  }

  /// Gives a random vnode that is not on its way to a random processor.
  void move_one() {
    const VnodeId vnode{rng_.below(options_.vnodes)};
    const ProcessorId to = any_processor();
    for (std::uint32_t p = 1; p <= options_.processors; ++p) {
      const ProcessorId from{p};
      if (to == from || !place(from).own.contains(vnode)) continue;
      place(from).own.erase(vnode);
      Heard& heard = place(from).heard[vnode];
      heard = Heard{to, heard.epoch + 1};
      send(from, to, Move{vnode, heard.epoch});
    }
  }
  /// One processor tells another one, by magic, what it has heard of a random vnode.
  void gossip() {
    const VnodeId vnode{rng_.below(options_.vnodes)};
    learn(any_processor(), vnode, place(any_processor()).heard[vnode]);
  }
  /// One message, of a random channel. False: there is none.
  bool step() {
    if (channels_.empty()) return false;
    auto at = channels_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.below(channels_.size())));
    const ProcessorId to = at->first.second;
    const Carried message = std::move(at->second.front());
    at->second.pop_front();
    if (at->second.empty()) channels_.erase(at);
    std::visit([&](const auto& m) { receive(to, m); }, message);
    return true;
  }

  /// Every token is in exactly one place: served, on its way, or parked for a vnode to arrive.
  void check_tokens() const {
    VnodeSet all;
    std::uint64_t count = 0;
    const auto add = [&](const VnodeSet& set) {
      all = all.united(set);
      count += set.size();
    };
    add(served_);
    for (const Place& p : places_) add(p.parked);
    for (const auto& [ends, queue] : channels_) {
      for (const Carried& message : queue) {
        if (const auto* copy = std::get_if<TreeCopy>(&message)) add(copy->vnodes);
        if (const auto* copy = std::get_if<FallbackCopy>(&message)) {
          for (const Tokens& tokens : copy->mine) add(tokens.vnodes);
          for (const OwnerGroup& group : groups_of(copy->onward)) add(group.vnodes);
        }
      }
    }
    REQUIRE(all == vnodes(0, options_.vnodes - 1));
    REQUIRE(count == options_.vnodes);
  }

  [[nodiscard]] const VnodeSet& served() const { return served_; }
  [[nodiscard]] std::uint64_t tree_copies() const { return tree_copies_; }
  [[nodiscard]] std::uint64_t fallback_copies() const { return fallback_copies_; }
  TreeView& tree(ProcessorId p) { return place(p).tree; }
  Rng& rng() { return rng_; }

 private:
  struct Place {
    VnodeSet own;
    VnodeSet parked;  ///< To be served here once they have come.
    std::map<VnodeId, Heard> heard;
    TreeView tree;
  };

  Place& place(ProcessorId p) { return places_[p.value - 1]; }
  ProcessorId any_processor() {
    return ProcessorId{static_cast<std::uint32_t>(1 + rng_.below(options_.processors))};
  }
  void learn(ProcessorId at, VnodeId vnode, const Heard& told) {
    Heard& heard = place(at).heard[vnode];
    heard = std::max(heard, told);
  }
  void learn(ProcessorId at, ProcessorId owner, const Tokens& tokens) {
    for (const VnodeId vnode : tokens.vnodes.ids()) learn(at, vnode, Heard{owner, tokens.epoch});
  }
  std::vector<OwnerGroup> groups(ProcessorId at, const VnodeSet& wanted) {
    std::map<std::pair<ProcessorId, Epoch>, VnodeSet> grouped;
    for (const VnodeId vnode : wanted.ids()) {
      const Heard& heard = place(at).heard[vnode];
      grouped[{heard.owner, heard.epoch}].insert(vnode);
    }
    std::vector<OwnerGroup> result;
    for (auto& [key, set] : grouped) result.push_back({key.first, key.second, std::move(set)});
    return result;
  }
  void send(ProcessorId from, ProcessorId to, Carried message) {
    REQUIRE(from != to);
    if (std::holds_alternative<TreeCopy>(message)) ++tree_copies_;
    if (std::holds_alternative<FallbackCopy>(message)) ++fallback_copies_;
    channels_[{from, to}].push_back(std::move(message));
  }
  void serve(const VnodeSet& vnodes) {
    REQUIRE(served_.common(vnodes).empty());
    served_ = served_.united(vnodes);
  }
  /// Outside the tree: serves what is owned, parks what is coming, sends the rest on.
  void leave_tree(ProcessorId at, const VnodeSet& set) {
    Place& here = place(at);
    serve(set.common(here.own));
    std::vector<OwnerGroup> elsewhere = groups(at, set.minus(here.own));
    std::erase_if(elsewhere, [&](const OwnerGroup& group) {
      if (group.owner == at) here.parked = here.parked.united(group.vnodes);
      return group.owner == at;
    });
    FallbackPlan plan = split_fallback(at, std::move(elsewhere), BroadcastPiece{});
    for (FallbackPlan::Send& s : plan.sends) send(at, s.to, std::move(s.copy));
  }
  void receive(ProcessorId at, const TreeCopy& copy) {
    Place& here = place(at);
    const BroadcastPlan plan =
        split_tree_copy(at, copy.vnodes, here.own, groups(at, copy.vnodes.minus(here.own)),
                        &here.tree, copy.hops_left);
    serve(plan.deliver);
    for (const BroadcastPlan::Child& child : plan.children) {
      TreeCopy next = copy;
      next.hops_left = copy.hops_left - 1;
      next.vnodes = child.vnodes;
      send(at, child.id, std::move(next));
    }
    VnodeSet rest;
    for (const OwnerGroup& group : plan.rest) rest = rest.united(group.vnodes);
    leave_tree(at, rest);
  }
  void receive(ProcessorId at, const FallbackCopy& copy) {
    VnodeSet all;
    for (const Tokens& tokens : copy.mine) {
      learn(at, at, tokens);
      all = all.united(tokens.vnodes);
    }
    for (const OwnerGroup& group : groups_of(copy.onward)) {
      learn(at, group.owner, Tokens{group.vnodes, group.epoch});
      all = all.united(group.vnodes);
    }
    leave_tree(at, all);
  }
  void receive(ProcessorId at, const Move& move) {
    learn(at, move.vnode, Heard{at, move.epoch});
    Place& here = place(at);
    here.own.insert(move.vnode);
    const VnodeSet waiting = here.parked.common({move.vnode});
    here.parked = here.parked.minus(waiting);
    serve(waiting);
  }

  Options options_;
  Rng rng_;
  std::vector<Place> places_;  ///< Of processors 1, 2, ...
  std::map<std::pair<ProcessorId, ProcessorId>, std::deque<Carried>> channels_;  ///< None empty.
  VnodeSet served_;
  std::uint64_t tree_copies_ = 0;
  std::uint64_t fallback_copies_ = 0;
};

}  // namespace

TEST_SUITE_BEGIN("collectives/broadcast churn");

TEST_CASE("[Saito08 G9] arbitrary trees that change while vnodes move: each vnode is served once") {
  std::uint64_t tree_copies = 0;
  std::uint64_t fallback_copies = 0;
  constexpr std::uint64_t kSeeds = support::seeds(2000);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    Network network({.seed = seed});
    network.scramble_trees();
    for (int i = 0; i < 10; ++i) network.move_one();

    network.broadcast(ProcessorId{1}, 12);
    std::uint64_t steps = 0;
    while (network.step()) {
      network.check_tokens();
      if (steps < 100 && network.rng().chance(0.3)) network.move_one();
      if (network.rng().chance(0.2)) network.gossip();
      if (network.rng().chance(0.2)) network.scramble_trees();
      REQUIRE(++steps < 5000);
    }

    REQUIRE(network.served() == vnodes(0, 39));
    tree_copies += network.tree_copies();
    fallback_copies += network.fallback_copies();
  }
  CHECK(tree_copies > 5 * kSeeds);  // both ways were really taken
  CHECK(fallback_copies > 5 * kSeeds);
}

TEST_CASE("[Saito08 G10] frozen trees that send copies round in circles end at the hop budget") {
  for (std::uint32_t hops = 0; hops < 30; ++hops) {
    CAPTURE(hops);
    Network network({.processors = 3, .vnodes = 30});
    network.tree(ProcessorId{1}).children = {{ProcessorId{2}, processors(3, 3)}};
    network.tree(ProcessorId{2}).children = {{ProcessorId{1}, processors(3, 3)}};

    network.broadcast(ProcessorId{1}, hops);
    while (network.step()) network.check_tokens();

    CHECK(network.served() == vnodes(0, 29));
    CHECK(network.tree_copies() == hops);
    CHECK(network.fallback_copies() <= 2);
  }
}

TEST_CASE("[Saito08 E1] stable and right trees need one copy per processor and no detour") {
  constexpr std::uint32_t kProcessors = 31;
  Network network({.processors = kProcessors, .vnodes = 1000});
  for (std::uint32_t p = kProcessors; p >= 1; --p) {  // a binary heap: children of p are 2p, 2p+1
    std::vector<TreeChild>& children = network.tree(ProcessorId{p}).children;
    for (std::uint32_t c = 2 * p; c <= 2 * p + 1 && c <= kProcessors; ++c) {
      TreeChild child{ProcessorId{c}, ProcessorSet{ProcessorId{c}}};
      for (const TreeChild& below : network.tree(ProcessorId{c}).children) {
        child.below = child.below.united(below.below);
      }
      children.push_back(std::move(child));
    }
  }

  network.broadcast(ProcessorId{1}, kProcessors);
  while (network.step()) network.check_tokens();

  CHECK(network.served() == vnodes(0, 999));
  CHECK(network.tree_copies() == kProcessors - 1);
  CHECK(network.fallback_copies() == 0);
}

TEST_CASE("[Saito08 G11] without any tree a broadcast costs one copy per owner") {
  Network network({.processors = 31, .vnodes = 1000});

  network.broadcast(ProcessorId{1}, 31);
  while (network.step()) network.check_tokens();

  CHECK(network.served() == vnodes(0, 999));
  CHECK(network.fallback_copies() == 30);
}

TEST_SUITE_END();

}  // namespace phx::collectives::broadcast_churn_test
