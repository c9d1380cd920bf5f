// All trees of one processor: what opens, feeds and retires them.

#include "overlay/tree_forest.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace phx::overlay::tree_forest_test {
namespace {

const ProcessorId kSelf{1};
const ProcessorId kPeer{2};
const ProcessorId kStranger{99};
const ProcessorSet kLive = ProcessorSet::range(ProcessorId{1}, ProcessorId{5});

TreeId tree_of(ProcessorId root) {
  return {root, TreeKind::kLatency};
}

struct Bench {
  explicit Bench(const TreeForestOptions& options = {}) : forest(kSelf, options, 1) {
    members(kLive);
    out = {};
  }

  void members(const ProcessorSet& live) {
    forest.on_members(now, live, out);
    forest.check_invariants();
  }
  void receive(ProcessorId from, const Message& m) {
    forest.on_message(now, from, m, out);
    forest.check_invariants();
  }
  void fire(TreeForest::Timer::Kind kind, TreeId tree = {}) {
    forest.on_timer(now, {kind, tree}, out);
    forest.check_invariants();
  }
  template <class M>
  std::vector<std::pair<ProcessorId, M>> sent() {
    std::vector<std::pair<ProcessorId, M>> found;
    for (const auto& item : out.take()) {
      const auto* send = std::get_if<TreeForest::Outbox::Send>(&item);
      if (send != nullptr && std::holds_alternative<M>(send->message)) {
        found.push_back({send->to, std::get<M>(send->message)});
      }
    }
    return found;
  }

  Instant now{1s};
  TreeForest forest;
  TreeForest::Outbox out;
};

TEST_CASE("a root announces its tree at the first use, to everybody and once") {
  Bench bench;
  CHECK(bench.forest.view(tree_of(kSelf)) == nullptr);

  bench.forest.use(bench.now, tree_of(kSelf), bench.out);
  bench.forest.use(bench.now, tree_of(kSelf), bench.out);

  const auto opened = bench.sent<TreeOpen>();
  REQUIRE(opened.size() == 4);
  CHECK(opened[0].second.nearest == kNobody);
  REQUIRE(bench.forest.view(tree_of(kSelf)) != nullptr);
  CHECK(bench.forest.view(tree_of(kSelf))->distance_to_root == Duration{0});
}

TEST_CASE("a bandwidth tree is opened together with the latency tree that it grows from") {
  Bench bench;
  bench.members({kSelf, kPeer});
  bench.forest.use(bench.now, {kSelf, TreeKind::kBandwidth}, bench.out);

  const auto opened = bench.sent<TreeOpen>();

  REQUIRE(opened.size() == 2);
  CHECK(opened[0].second.tree == tree_of(kSelf));
  CHECK(opened[1].second.tree == TreeId{kSelf, TreeKind::kBandwidth});
  CHECK(bench.forest.size() == 2);
}

TEST_CASE("elsewhere, and for other kinds of trees, use does nothing") {
  Bench bench;
  bench.forest.use(bench.now, tree_of(kPeer), bench.out);
  bench.forest.use(bench.now, {kPeer, TreeKind::kBandwidth}, bench.out);
  bench.forest.use(bench.now, {kSelf, TreeKind::kPlanned}, bench.out);
  CHECK(bench.out.empty());
  CHECK(bench.forest.size() == 0);
}

TEST_CASE("[Saito08 G17] a new tree is inherited from a known one") {
  Bench bench;
  bench.receive(kPeer, TreeOpen{tree_of(kPeer), kNobody, {}, 1});
  const auto asked = bench.sent<Attach>();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].first == kPeer);
  const TreeAdvert root{tree_of(kPeer), true, Duration{0}, {1, Duration{0}}, 1, {}};
  bench.receive(kPeer, AttachReply{asked[0].second.attachment, true, root, {}});
  bench.out = {};

  bench.receive(ProcessorId{3}, TreeOpen{tree_of(ProcessorId{3}), kPeer, 1ms, 1});
  CHECK(bench.sent<Attach>().at(0).first == kPeer);  // its parent in the tree of kPeer

  bench.forest.use(bench.now, tree_of(kSelf), bench.out);
  CHECK(bench.sent<TreeOpen>().at(0).second.nearest == kPeer);
}

TEST_CASE("[Saito08 G17] the nearest itself hangs below the new root") {
  Bench bench;
  bench.forest.use(bench.now, tree_of(kSelf), bench.out);
  bench.out = {};

  bench.receive(kPeer, TreeOpen{tree_of(kPeer), kSelf, 1ms, 1});

  CHECK(bench.sent<Attach>().at(0).first == kPeer);
}

TEST_CASE("a tree that others know already is waited for, but not for ever") {
  Bench bench;
  bench.receive(ProcessorId{3}, Attach{tree_of(kPeer), 1, 15, {1, kForever}, {ProcessorId{3}}});
  CHECK(bench.sent<AttachReply>().empty());

  bench.now += AdaptiveTreeOptions{}.attach_timeout;
  bench.fire(TreeForest::Timer::Kind::kAttach, tree_of(kPeer));
  const auto asked = bench.sent<Attach>();
  CHECK(asked.at(0).first == kPeer);

  AttachReply no{asked[0].second.attachment, false, {}, {}};
  no.advert.tree = tree_of(kPeer);
  bench.receive(kPeer, no);
  CHECK(bench.forest.size() == 0);
}

TEST_CASE("[Saito08 G22] a tree out of use is closed, and used again it goes on counting its seq") {
  Bench bench;
  const TreeId own = tree_of(kSelf);
  bench.forest.use(bench.now, own, bench.out);
  const std::uint64_t first = bench.sent<TreeOpen>().at(0).second.seq;
  bench.now += 59s;
  bench.forest.use(bench.now, own, bench.out);
  bench.now += 1s;
  bench.fire(TreeForest::Timer::Kind::kIdle, own);
  CHECK(bench.forest.size() == 1);

  bench.now += 59s;
  bench.fire(TreeForest::Timer::Kind::kIdle, own);
  const auto closed = bench.sent<TreeClose>();
  CHECK(closed.size() == 4);
  CHECK(bench.forest.view(own) == nullptr);

  bench.forest.use(bench.now, own, bench.out);
  CHECK(bench.sent<TreeOpen>().at(0).second.seq > closed[0].second.seq);
  CHECK(closed[0].second.seq >= first);
}

TEST_CASE("old news of a closed tree does not bring it back") {
  Bench bench;
  bench.receive(kPeer, TreeOpen{tree_of(kPeer), kNobody, {}, 1});
  bench.receive(kPeer, TreeClose{tree_of(kPeer), 4});
  CHECK(bench.forest.size() == 0);
  bench.out = {};

  bench.receive(ProcessorId{3}, Attach{tree_of(kPeer), 1, 15, {4, 1ms}, {ProcessorId{3}}});
  CHECK_FALSE(bench.sent<AttachReply>().at(0).second.accepted);
  CHECK(bench.forest.size() == 0);

  bench.receive(kPeer, TreeOpen{tree_of(kPeer), kNobody, {}, 5});
  CHECK(bench.forest.size() == 1);
}

TEST_CASE("who is accepted in a tree that it dropped meanwhile detaches, who is refused does not") {
  Bench bench;
  AttachReply reply{7, true, {}, {}};
  reply.advert.tree = tree_of(kPeer);

  bench.receive(ProcessorId{3}, reply);
  const auto detached = bench.sent<Detach>();
  REQUIRE(detached.size() == 1);
  CHECK(detached[0].first == ProcessorId{3});
  CHECK(detached[0].second == Detach{tree_of(kPeer), 7});

  reply.accepted = false;
  bench.receive(ProcessorId{3}, reply);
  CHECK(bench.out.empty());
}

TEST_CASE(
    "what a probed peer says of the next life of a closed tree is news, of an earlier one not") {
  Bench bench;
  bench.receive(kPeer, TreeOpen{tree_of(kPeer), kNobody, {}, 1});
  bench.receive(kPeer, TreeClose{tree_of(kPeer), 4});
  const auto sizes_after = [&](std::uint64_t seq) {
    bench.members(kLive.united({ProcessorId{static_cast<std::uint32_t>(10 + seq)}}));
    bench.out = {};
    bench.now += 2s;
    bench.fire(TreeForest::Timer::Kind::kProbeRound);
    const TreeAdvert advert{tree_of(kPeer), true, 1ms, {seq, 1ms}, 0, kPeer};
    for (auto probes = bench.sent<Probe>(); !probes.empty(); probes = bench.sent<Probe>()) {
      bench.now += 1ms;
      bench.receive(probes[0].first, ProbeReply{probes[0].second.seq, {advert}, {}});
    }
    return bench.forest.size();
  };

  CHECK(sizes_after(4) == 0);
  CHECK(sizes_after(5) == 1);
}

TEST_CASE("a newcomer is told of the own tree, or that it is closed") {
  Bench bench;
  bench.forest.use(bench.now, tree_of(kSelf), bench.out);
  bench.out = {};
  ProcessorSet more = kLive;
  more.insert(ProcessorId{6});
  bench.members(more);
  CHECK(bench.sent<TreeOpen>().at(0).first == ProcessorId{6});

  bench.now += 60s;
  bench.fire(TreeForest::Timer::Kind::kIdle, tree_of(kSelf));
  bench.out = {};
  more.insert(ProcessorId{7});
  bench.members(more);
  CHECK(bench.sent<TreeClose>().at(0).first == ProcessorId{7});
}

TEST_CASE("an announcement from a root not met yet is kept until it is") {
  Bench bench;
  bench.receive(kStranger, TreeOpen{tree_of(kStranger), kNobody, {}, 1});
  CHECK(bench.out.empty());

  ProcessorSet more = kLive;
  more.insert(kStranger);
  bench.members(more);

  CHECK(bench.sent<Attach>().at(0).first == kStranger);
}

TEST_CASE("a stranger is refused, so that it asks again") {
  Bench bench;
  bench.forest.use(bench.now, tree_of(kSelf), bench.out);
  bench.out = {};

  bench.receive(kStranger, Attach{tree_of(kSelf), 1, 15, {1, kForever}, {kStranger}});

  const auto replies = bench.sent<AttachReply>();
  REQUIRE(replies.size() == 1);
  CHECK_FALSE(replies[0].second.accepted);
  CHECK(replies[0].second.advert.connected);
}

TEST_CASE("a root that leaves the membership takes its tree with it") {
  Bench bench;
  bench.receive(kPeer, TreeOpen{tree_of(kPeer), kNobody, {}, 1});
  bench.out = {};
  ProcessorSet rest = kLive;
  rest.erase(kPeer);

  bench.members(rest);

  CHECK(bench.forest.view(tree_of(kPeer)) == nullptr);
  const auto items = bench.out.take();
  CHECK(std::any_of(items.begin(), items.end(), [](const auto& item) {
    const auto* changed = std::get_if<TreeForest::TreeChanged>(&item);
    return changed != nullptr && changed->tree == tree_of(kPeer);
  }));
}

TEST_CASE("no more trees than the limit are taken part in") {
  TreeForestOptions options;
  options.trees_max = 2;
  Bench bench(options);
  for (std::uint32_t root = 2; root <= 5; ++root) {
    bench.receive(ProcessorId{root}, TreeOpen{tree_of(ProcessorId{root}), kNobody, {}, 1});
  }
  CHECK(bench.forest.size() == 2);
  bench.out = {};

  bench.forest.use(bench.now, tree_of(kSelf), bench.out);
  CHECK(bench.out.empty());
  bench.receive(ProcessorId{3}, Attach{tree_of(ProcessorId{5}), 1, 15, {1, kForever}, {}});
  CHECK_FALSE(bench.sent<AttachReply>().at(0).second.accepted);
  for (std::uint32_t root = 100; root <= 105; ++root) {
    bench.receive(ProcessorId{root}, TreeOpen{tree_of(ProcessorId{root}), kNobody, {}, 1});
  }
}

TEST_CASE("a parent in a bandwidth tree that could not be measured is measured again, later") {
  using Kind = TreeForest::Timer::Kind;
  const TreeId wide{kPeer, TreeKind::kBandwidth};
  Bench bench;
  bench.receive(kPeer, TreeOpen{wide, kNobody, {}, 1});
  bench.now += 3s;
  bench.fire(Kind::kAttach, wide);
  const auto asked = bench.sent<Attach>();
  REQUIRE(asked.size() == 1);
  const TreeAdvert root{wide, true, Duration{0}, {1, Duration{0}}, 1, {}};
  bench.receive(kPeer, AttachReply{asked[0].second.attachment, true, root, {}});
  CHECK(bench.sent<Fetch>().size() == 1);

  bench.now += 2s;
  bench.fire(Kind::kPatience);
  const auto enough = bench.sent<Fetch>();
  REQUIRE(enough.size() == 1);
  CHECK(enough[0].second.bytes == 0);
  bench.now += 1s;
  bench.fire(Kind::kQuiet);

  const auto again = bench.sent<Fetch>();
  REQUIRE(again.size() == 1);
  CHECK(again[0].first == kPeer);
  CHECK(again[0].second.bytes > 0);
}

TEST_CASE("a root has one tree of each kind: others are neither taken part in nor remembered") {
  Bench bench;
  const TreeId further{kPeer, TreeKind::kLatency, 1};
  bench.receive(kPeer, TreeOpen{further, kNobody, {}, 1});
  bench.receive(kPeer, TreeClose{further, 8});
  bench.receive(ProcessorId{3}, Attach{further, 1, 15, {9, kForever}, {ProcessorId{3}}});

  CHECK(bench.forest.size() == 0);
  const auto replies = bench.sent<AttachReply>();
  REQUIRE(replies.size() == 1);
  CHECK_FALSE(replies[0].second.accepted);
  CHECK(replies[0].second.advert.label.seq == 0);
}

TEST_CASE("who leaves closes its trees, answers probes with nothing and refuses children") {
  Bench bench;
  bench.forest.use(bench.now, tree_of(kSelf), bench.out);
  bench.out = {};

  bench.forest.leave(bench.now, bench.out);
  CHECK(bench.sent<TreeClose>().size() == 4);
  CHECK(bench.forest.size() == 0);

  bench.receive(kPeer, Probe{5, {}});
  CHECK(bench.sent<ProbeReply>().at(0).second == ProbeReply{5, {}, {}});
  bench.receive(kPeer, Attach{tree_of(kSelf), 1, 15, {1, kForever}, {kPeer}});
  CHECK_FALSE(bench.sent<AttachReply>().at(0).second.accepted);
  bench.receive(kPeer, Attach{tree_of(kPeer), 1, 15, {1, kForever}, {kPeer}});
  CHECK_FALSE(bench.sent<AttachReply>().at(0).second.accepted);
  bench.receive(kPeer, TreeOpen{tree_of(kPeer), kNobody, {}, 1});
  bench.forest.use(bench.now, tree_of(kSelf), bench.out);
  bench.members({kSelf, kPeer});
  CHECK(bench.out.empty());
}

/// Of both kinds.
std::vector<TreeId> trees_of(const std::vector<ProcessorId>& roots) {
  std::vector<TreeId> trees;
  for (const ProcessorId root : roots) {
    trees.push_back({root, TreeKind::kLatency});
    trees.push_back({root, TreeKind::kBandwidth});
  }
  return trees;
}

TEST_CASE("who asks about as many roots as it may is told of both trees of each") {
  TreeForestOptions options;
  options.roots_max = 2;
  Bench bench(options);
  for (const TreeId tree : trees_of({kPeer, ProcessorId{3}, ProcessorId{4}})) {
    bench.receive(tree.root, TreeOpen{tree, kNobody, {}, 1});
    bench.now += 3s;
    if (tree.kind == TreeKind::kBandwidth) bench.fire(TreeForest::Timer::Kind::kAttach, tree);
    const auto asked = bench.sent<Attach>();
    REQUIRE(asked.size() == 1);
    const TreeAdvert root{tree, true, Duration{0}, {1, Duration{0}}, 1, {}};
    bench.receive(tree.root, AttachReply{asked[0].second.attachment, true, root, {}});
    bench.out = {};
  }

  bench.receive(ProcessorId{5}, Probe{1, {ProcessorId{3}, ProcessorId{4}}});
  CHECK(bench.sent<ProbeReply>().at(0).second.adverts.size() == 4);
  bench.receive(ProcessorId{5}, Probe{2, kLive});  // more than anybody asks about
  CHECK(bench.sent<ProbeReply>().at(0).second.adverts.size() == 4);
}

TEST_CASE("every message and every timer is harmless in every state") {
  std::vector<Message> messages{Fetch{1, 1000}, Fetch{2, 0}, Load{1, Payload(Bytes(1000))}};
  for (const TreeId tree : trees_of({kSelf, kPeer, kStranger})) {
    TreeAdvert advert{tree_of(kPeer), true, 1ms, {3, 1ms}, 2, ProcessorId{4}, 2ms};
    TreeAdvert own{tree_of(kSelf), true, 1ms, {3, 1ms}, 2, ProcessorId{4}, 2ms};
    advert.tree.kind = own.tree.kind = tree.kind;
    messages.insert(messages.end(),
                    {Probe{1, {}}, ProbeReply{1, {advert, own}, {kStranger}},
                     TreeOpen{tree, kPeer, 1ms, 3}, TreeClose{tree, ~std::uint64_t{0}},
                     Attach{tree, 1, 0, {3, 5ms}, {kPeer}}, AttachReply{1, true, advert, {kSelf}},
                     AttachReply{1, true, own, {}}, Detach{tree, 1}, Bye{tree, kSelf, advert},
                     Update{advert}, Update{own}, UpdateSet{tree, 1, 1, {kSelf}, {kPeer}},
                     Relabel{tree}, TreeOpen{{tree.root, TreeKind::kPlanned}, kPeer, 1ms, 3}});
  }
  Rng rng(1);
  using Kind = TreeForest::Timer::Kind;
  const std::vector<Kind> kinds{Kind::kProbeRound, Kind::kProbeLost, Kind::kAttach, Kind::kUpdate,
                                Kind::kUpdateSet,  Kind::kRelabel,   Kind::kIdle,   Kind::kLineUp,
                                Kind::kLinger,     Kind::kPatience,  Kind::kTurn,   Kind::kQuiet};
  Bench bench;
  for (int i = 0; i < 20000; ++i) {
    bench.now += Duration{static_cast<Duration::rep>(rng.below(200'000'000))};
    const ProcessorId from{static_cast<std::uint32_t>(2 + rng.below(4))};
    const ProcessorId root{static_cast<std::uint32_t>(1 + rng.below(3))};
    switch (rng.below(8)) {
      case 0:
        bench.fire(kinds[static_cast<std::size_t>(rng.below(kinds.size()))], tree_of(root));
        break;
      case 1:
        bench.forest.use(bench.now,
                         {kSelf, rng.chance(0.5) ? TreeKind::kLatency : TreeKind::kBandwidth},
                         bench.out);
        break;
      default:
        bench.receive(rng.chance(0.1) ? kStranger : from,
                      messages[static_cast<std::size_t>(rng.below(messages.size()))]);
        break;
    }
    bench.out = {};
  }
}

}  // namespace
}  // namespace phx::overlay::tree_forest_test
