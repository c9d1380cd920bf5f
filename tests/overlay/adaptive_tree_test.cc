// One processor's part of one tree: messages in, messages and view out.

#include "overlay/adaptive_tree.h"

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "tests/support/tree_bench.h"

namespace phx::overlay::adaptive_tree_test {
namespace {

const ProcessorId kRoot{1};
const ProcessorId kNear{2};
const ProcessorId kFar{3};
const ProcessorId kSelf{10};
const ProcessorId kChild{20};
const TreeId kTree{kRoot, TreeKind::kLatency};

/// What a processor at `distance` says, at seq 1.
TreeAdvert place(Duration distance, std::uint32_t children = 0) {
  return TreeAdvert{.tree = kTree,
                    .connected = true,
                    .distance = distance,
                    .label = {1, distance},
                    .children = children};
}

struct Bench : support::TreeBench {
  explicit Bench(ProcessorId self = kSelf)
      : TreeBench(self, kTree, AdaptiveTreeOptions{}, Instant{1s}) {}

  void measure(ProcessorId peer, Duration round_trip) {
    for (int i = 0; i < 3; ++i) links.add(peer, round_trip);
  }
  void members(ProcessorSet set) {
    live = std::move(set);
    tree.on_members(horizon(), out);
    tree.check_invariants();
  }
  void accept(const TreeAdvert& advert) { answer(true, advert); }
  void refuse(const TreeAdvert& advert, std::vector<ProcessorId> redirect = {}) {
    answer(false, advert, std::move(redirect));
  }
  /// Below `parent`, which is at `distance`; the edge is measured.
  void hang_below(ProcessorId parent, Duration distance, Duration edge) {
    measure(parent, edge);
    join(parent);
    accept(place(distance));
    REQUIRE(tree.parent() == parent);
  }
};

TEST_CASE("[Saito08 G3] the root is connected at distance 0, others are not connected at first") {
  CHECK(Bench(kRoot).tree.advert().connected);
  CHECK(Bench(kRoot).tree.advert().distance == Duration{0});
  CHECK_FALSE(Bench().tree.advert().connected);
  CHECK(Bench().tree.view().distance_to_root == kForever);
}

TEST_CASE("[Saito08 C] the distance is the parent's plus the round trip to it") {
  Bench bench;

  bench.hang_below(kNear, 20ms, 1ms);

  CHECK(bench.tree.view().parent == kNear);
  CHECK(bench.tree.view().distance_to_root >= 21ms);
  CHECK(bench.tree.view().distance_to_root < 21ms + 2us);
}

TEST_CASE("[Saito08 L0] without a parent any connected processor is adopted") {
  Bench bench;
  bench.tree.expect(bench.horizon(), 0, bench.out);
  bench.measure(kFar, 50ms);

  bench.probed(kFar, place(200ms));

  bench.accept(place(200ms));
  CHECK(bench.tree.parent() == kFar);
}

TEST_CASE("[Saito08 L1] a nearer processor that is nearer to the root becomes the parent") {
  Bench bench;
  bench.hang_below(kFar, 10ms, 20ms);
  bench.measure(kNear, 1ms);

  bench.probed(kNear, place(25ms));

  bench.accept(place(25ms));
  CHECK(bench.tree.parent() == kNear);
  const auto detached = bench.sent<Detach>();
  REQUIRE(detached.size() == 1);
  CHECK(detached[0].first == kFar);
}

TEST_CASE("[Saito08 L1] no move to a farther one, nor to one that is farther from the root") {
  Bench bench;
  bench.hang_below(kFar, 10ms, 20ms);
  bench.sent<Attach>();
  bench.measure(kNear, 25ms);
  bench.measure(ProcessorId{4}, 1ms);

  bench.probed(kNear, place(9ms));
  bench.probed(ProcessorId{4}, place(50ms));

  CHECK(bench.sent<Attach>().empty());
}

TEST_CASE(
    "for a much shorter edge the way to the root may get longer, by a quarter of the old edge") {
  Bench bench;
  bench.hang_below(kFar, 10ms, 20ms);
  bench.measure(kNear, 1ms);
  TreeAdvert deeper = place(50ms);
  deeper.label.feasible = 5ms;  // was nearer once, so that the label is no hindrance

  bench.probed(kNear, deeper);
  CHECK(bench.sent<Attach>().empty());
  deeper.distance = 33ms;
  bench.probed(kNear, deeper);

  CHECK(bench.sent<Attach>().at(0).first == kNear);
}

TEST_CASE("[Saito08 G19] a round trip that is shorter by less than a tenth is no reason") {
  Bench bench;
  bench.hang_below(kFar, 10ms, 20ms);
  bench.measure(kNear, 19ms);

  bench.probed(kNear, place(9ms));

  CHECK(bench.sent<Attach>().empty());
}

TEST_CASE("two long hops are replaced by one that is not longer") {
  Bench bench;
  bench.hang_below(kFar, 20ms, 20ms);
  bench.measure(kNear, 21ms);

  bench.probed(kNear, place(1ms));

  bench.accept(place(1ms));
  CHECK(bench.tree.parent() == kNear);
}

TEST_CASE("[Saito08 G5 R2] a wanted move against the labels is refused, and the root asked once") {
  Bench bench;
  bench.hang_below(kFar, 1ms, 1ms);
  TreeAdvert worse = place(1ms);
  worse.distance = 80ms;
  bench.receive(kFar, Update{worse});  // the distance grows, the label does not
  bench.measure(kNear, 100us);

  bench.probed(kNear, place(30ms));
  bench.probed(kNear, place(30ms));

  CHECK(bench.sent<Attach>().empty());
  const auto asked = bench.sent<Relabel>();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].first == kRoot);
}

TEST_CASE("[Saito08 G5 R1] a larger sequence number replaces the label, a smaller one is ignored") {
  Bench bench;
  bench.hang_below(kFar, 1ms, 1ms);
  TreeAdvert news = place(50ms);
  news.label.seq = 2;

  bench.receive(kFar, Update{news});
  CHECK(bench.tree.label().seq == 2);
  CHECK(bench.tree.label().feasible >= 51ms);

  bench.receive(kFar, Update{place(1ms)});
  CHECK(bench.tree.view().distance_to_root >= 51ms);
}

TEST_CASE("a parent of an earlier life of the tree is refused by who knows of the later one") {
  Bench bench;
  bench.tree.join(bench.horizon(), 5, kNear, bench.out);

  bench.accept(place(20ms));  // of seq 1

  CHECK(bench.tree.parent() == std::nullopt);
  CHECK(bench.sent<Detach>().at(0).first == kNear);
}

TEST_CASE("[Saito08 G5 R1] an announcement heard again, or an older one, does not raise a label") {
  for (const std::uint64_t seq : {0U, 1U}) {
    CAPTURE(seq);
    Bench bench;
    bench.hang_below(kNear, 20ms, 1ms);
    const Label before = bench.tree.label();
    bench.receive(kNear, Bye{kTree, kFar, place(10ms)});

    bench.tree.join(bench.horizon(), seq, kFar, bench.out);

    CHECK(bench.tree.label() == before);
  }
}

TEST_CASE(
    "[Saito08 G5 R5] the root raises the number at most once per second, and forgets nobody") {
  Bench bench(kRoot);
  bench.receive(kChild, Attach{kTree, 1, 0, {1, kForever}, {kChild}});

  bench.receive(kChild, Relabel{kTree});
  bench.receive(kChild, Relabel{kTree});
  CHECK(bench.sent<Update>().size() == 1);
  CHECK(bench.tree.label().seq == 2);

  bench.fire(AdaptiveTree::Timer::kRelabel);  // stale
  CHECK(bench.tree.label().seq == 2);
  bench.now += 1s;
  bench.fire(AdaptiveTree::Timer::kRelabel);
  CHECK(bench.tree.label().seq == 3);
}

TEST_CASE("[Saito08 G7] labels are compared at accept time, by both sides") {
  Bench bench(kRoot);
  bench.receive(kChild, Attach{kTree, 1, 0, {1, Duration{0}}, {kChild}});
  CHECK_FALSE(bench.sent<AttachReply>().at(0).second.accepted);

  Bench asker;
  asker.hang_below(kFar, 10ms, 20ms);
  asker.measure(kNear, 1ms);
  asker.probed(kNear, place(9ms));
  asker.receive(kFar, Update{place(1ms)});
  TreeAdvert stale = place(40ms);
  asker.accept(stale);
  CHECK(asker.tree.parent() == kFar);
  CHECK(asker.sent<Detach>().at(0).first == kNear);
}

TEST_CASE("[Saito08 G6] with too many children a first attachment is redirected, a last is not") {
  Bench bench(kRoot);
  const AdaptiveTreeOptions options;
  for (std::uint32_t i = 0; i < options.fanout; ++i) {
    bench.receive(ProcessorId{11 + i}, Attach{kTree, 1, options.fanout - 1, {1, kForever}, {}});
  }
  CHECK(bench.sent<AttachReply>().size() == options.fanout);

  bench.receive(ProcessorId{40}, Attach{kTree, 1, options.fanout - 1, {1, kForever}, {}});
  const auto refused = bench.sent<AttachReply>();
  CHECK_FALSE(refused.at(0).second.accepted);
  CHECK(refused.at(0).second.redirect.size() == options.fanout);

  constexpr auto kAny = std::numeric_limits<std::uint32_t>::max();
  bench.receive(ProcessorId{40}, Attach{kTree, 2, kAny, {1, kForever}, {}});
  CHECK(bench.sent<AttachReply>().at(0).second.accepted);
}

TEST_CASE("[Saito08 G6] an orphan asks its grandparent, then where it is sent, then the root") {
  Bench bench;
  bench.hang_below(kNear, 20ms, 1ms);

  bench.receive(kNear, Bye{kTree, kFar, place(10ms)});
  CHECK_FALSE(bench.tree.view().parent);
  auto asked = bench.sent<Attach>();
  CHECK(asked.at(0).first == kFar);

  bench.receive(kFar, AttachReply{asked[0].second.attachment, false, place(10ms, 16), {kChild}});
  asked = bench.sent<Attach>();
  CHECK(asked.at(0).first == kChild);

  bench.receive(kChild, AttachReply{asked[0].second.attachment, false, place(30ms), {}});
  CHECK(bench.sent<Attach>().at(0).first == kRoot);
}

TEST_CASE("a parent that dies without a word is replaced by the grandparent it had told of") {
  Bench bench;
  TreeAdvert advert = place(20ms);
  advert.parent = kFar;
  bench.measure(kNear, 1ms);
  bench.join(kNear);
  bench.accept(advert);

  ProcessorSet rest = bench.live;
  rest.erase(kNear);
  bench.members(rest);

  CHECK(bench.sent<Attach>().at(0).first == kFar);
}

TEST_CASE("an answer that does not come is waited for so long, then the root is asked") {
  Bench bench;
  bench.join(kNear);
  CHECK(bench.sent<Attach>().at(0).first == kNear);

  bench.fire(AdaptiveTree::Timer::kAttach);  // early: nothing
  CHECK(bench.sent<Attach>().empty());
  bench.now += AdaptiveTreeOptions{}.attach_timeout;
  bench.fire(AdaptiveTree::Timer::kAttach);

  CHECK(bench.sent<Detach>().at(0).first == kNear);
  CHECK(bench.sent<Attach>().at(0).first == kRoot);
}

TEST_CASE("when even the root refuses, it is asked again after a pause") {
  Bench bench;
  bench.join(kRoot);
  bench.refuse(place(Duration{0}));
  bench.refuse(place(Duration{0}));
  CHECK(bench.sent<Attach>().empty());

  bench.now += AdaptiveTreeOptions{}.retry_delay;
  bench.fire(AdaptiveTree::Timer::kAttach);

  CHECK(bench.sent<Attach>().at(0).first == kRoot);
}

TEST_CASE("[Saito08 G17] who asks before there is a connection is answered when there is one") {
  Bench bench;
  bench.join(kNear);
  bench.receive(kChild, Attach{kTree, 7, 15, {1, kForever}, {kChild, ProcessorId{21}}});
  CHECK(bench.sent<AttachReply>().empty());

  bench.accept(place(20ms));

  const auto replies = bench.sent<AttachReply>();
  REQUIRE(replies.size() == 1);
  CHECK(replies[0].second.accepted);
  CHECK(replies[0].second.attachment == 7);
  CHECK(bench.tree.view().children.at(0).below == ProcessorSet{kChild, ProcessorId{21}});
}

TEST_CASE("[Saito08 G8] the parent is told who is below, once per delay and as a difference") {
  Bench bench;
  bench.hang_below(kNear, 20ms, 1ms);
  bench.receive(kChild, Attach{kTree, 1, 15, {1, kForever}, {kChild}});
  bench.receive(ProcessorId{21}, Attach{kTree, 1, 15, {1, kForever}, {ProcessorId{21}}});
  CHECK(bench.sent<UpdateSet>().empty());

  bench.now += AdaptiveTreeOptions{}.set_delay;
  bench.fire(AdaptiveTree::Timer::kUpdateSet);
  auto told = bench.sent<UpdateSet>();
  REQUIRE(told.size() == 1);
  CHECK(told[0].second.added == ProcessorSet{kChild, ProcessorId{21}});
  CHECK(told[0].second.version == 1);

  bench.receive(kChild, Detach{kTree, 1});
  bench.now += AdaptiveTreeOptions{}.set_delay;
  bench.fire(AdaptiveTree::Timer::kUpdateSet);
  told = bench.sent<UpdateSet>();
  CHECK(told.at(0).second.removed == ProcessorSet{kChild});
  CHECK(told.at(0).second.version == 2);
  CHECK(bench.tree.is_settled());
}

TEST_CASE("[Saito08 G4] children are told of changes above a tenth, all within the delay at once") {
  Bench bench;
  bench.hang_below(kNear, 20ms, 1ms);
  bench.receive(kChild, Attach{kTree, 1, 15, {1, kForever}, {kChild}});
  bench.now += 1s;
  bench.fire(AdaptiveTree::Timer::kUpdate);
  bench.sent<Update>();

  bench.receive(kNear, Update{place(20500us)});
  CHECK(bench.tree.is_settled() == false);  // only the set is still to be told
  bench.fire(AdaptiveTree::Timer::kUpdateSet);
  CHECK(bench.tree.is_settled());

  TreeAdvert away = place(20500us);
  away.connected = false;
  bench.receive(kNear, Update{away});
  bench.receive(kNear, Update{place(19ms)});
  bench.receive(kNear, Update{place(10ms)});
  CHECK(bench.sent<Update>().empty());
  bench.now += AdaptiveTreeOptions{}.update_delay;
  bench.fire(AdaptiveTree::Timer::kUpdate);
  const auto told = bench.sent<Update>();
  REQUIRE(told.size() == 1);
  CHECK(told[0].second.advert.distance < 12ms);
}

TEST_CASE("below a parent that is cut off, one is cut off, and says so") {
  Bench bench;
  bench.hang_below(kNear, 20ms, 1ms);
  TreeAdvert away = place(20ms);
  away.connected = false;

  bench.receive(kNear, Update{away});

  CHECK(bench.tree.parent() == kNear);
  CHECK_FALSE(bench.tree.view().parent);
  CHECK(bench.tree.view().distance_to_root == kForever);
  CHECK_FALSE(bench.tree.advert().connected);
}

TEST_CASE("an edge that was never measured counts double until the round is over") {
  Bench bench;
  bench.join(kNear);
  bench.now += 10ms;
  bench.accept(place(20ms));
  CHECK(bench.tree.view().distance_to_root >= 40ms);

  bench.measure(kNear, 9ms);
  bench.tree.on_round_over(bench.horizon(), bench.out);

  CHECK(bench.tree.view().distance_to_root < 30ms);
}

TEST_CASE("below a crowded parent some move below siblings, if the way stays short") {
  Bench bench;
  bench.measure(kNear, 100us);
  bench.measure(ProcessorId{4}, 100us);
  bench.measure(ProcessorId{5}, 20ms);
  bench.join(kNear);
  bench.accept(place(1ms, 200));

  bench.probed(ProcessorId{5}, place(1050us));
  CHECK(bench.sent<Attach>().empty());
  for (int i = 0; i < 20; ++i) bench.probed(ProcessorId{4}, place(1050us, 16));
  CHECK(bench.sent<Attach>().empty());  // it has as many as it should
  for (int i = 0; i < 20 && bench.tree.is_settled(); ++i) {
    bench.probed(ProcessorId{4}, place(1050us));
  }

  CHECK(bench.sent<Attach>().at(0).first == ProcessorId{4});
}

TEST_CASE("a near processor that may not be the parent points to the one above it") {
  Bench bench;
  bench.hang_below(kFar, Duration{0}, 20ms);
  bench.out = {};
  bench.measure(kNear, 1ms);
  TreeAdvert deeper = place(60ms);
  deeper.parent = kChild;

  bench.probed(kNear, deeper);

  const auto items = bench.out.take();
  REQUIRE(items.size() == 1);
  const auto& report = std::get<AdaptiveTree::Report>(items[0]);
  CHECK(std::get<AdaptiveTree::WorthProbing>(report).peer == kChild);
}

TEST_CASE("a leaver hands its children to its parent and detaches") {
  Bench bench;
  bench.hang_below(kNear, 20ms, 1ms);
  bench.receive(kChild, Attach{kTree, 1, 15, {1, kForever}, {kChild}});

  bench.tree.leave(bench.out);

  const auto byes = bench.sent<Bye>();
  REQUIRE(byes.size() == 1);
  CHECK(byes[0].first == kChild);
  CHECK(byes[0].second.grandparent == kNear);
  CHECK(bench.sent<Detach>().at(0).first == kNear);
}

TEST_CASE("what no correct processor says is not believed") {
  Bench bench;
  bench.hang_below(kNear, 20ms, 1ms);
  bench.out = {};
  const TreeView before = bench.tree.view();
  TreeAdvert negative = place(20ms);
  negative.distance = -1ms;
  TreeAdvert endless = place(20ms);
  endless.distance = kForever;
  TreeAdvert unordered = place(20ms);
  unordered.label.feasible = 30ms;
  TreeAdvert above = place(90ms);

  for (const TreeAdvert& advert : {negative, endless, unordered, above}) {
    bench.receive(kNear, Update{advert});
    bench.probed(kFar, advert);
    bench.receive(kFar, AttachReply{101, true, advert, {}});
  }

  CHECK(bench.tree.view() == before);
}

TEST_CASE("strangers change nothing") {
  Bench bench;
  bench.hang_below(kNear, 20ms, 1ms);
  bench.out = {};
  const TreeView before = bench.tree.view();

  bench.receive(kFar, Update{place(1ms)});
  bench.receive(kFar, Bye{kTree, kRoot, {}});
  bench.receive(kFar, Detach{kTree, 1});
  bench.receive(kFar, UpdateSet{kTree, 1, 1, {kChild}, {}});
  bench.receive(kFar, Relabel{kTree});

  CHECK(bench.out.empty());
  CHECK(bench.tree.view() == before);
}

}  // namespace
}  // namespace phx::overlay::adaptive_tree_test
