// One processor's part of one bandwidth tree: messages in, messages and view out.

#include <doctest/doctest.h>

#include <vector>

#include "overlay/adaptive_tree.h"
#include "overlay/tree_rules.h"
#include "tests/support/tree_bench.h"

namespace phx::overlay::bandwidth_tree_test {
namespace {

const ProcessorId kRoot{1};
const ProcessorId kWide{2};
const ProcessorId kOther{3};
const ProcessorId kSelf{10};
const ProcessorId kChild{20};
const TreeId kTree{kRoot, TreeKind::kBandwidth};
constexpr std::uint64_t kMegabyte = 1'000'000;

/// What a processor says to which `rate` bytes per second come, at `seq`.
TreeAdvert place(std::uint64_t rate, std::uint32_t children = 0, std::uint64_t seq = 1) {
  const Duration time = mebibyte_time(rate);
  return TreeAdvert{.tree = kTree,
                    .connected = true,
                    .distance = 1ms,
                    .label = {seq, time},
                    .children = children,
                    .mebibyte_time = time};
}

struct Bench : support::TreeBench {
  explicit Bench(ProcessorId self = kSelf, std::uint64_t seed = 1)
      : TreeBench(self, kTree, bandwidth_tree_options(), Instant{10s}, seed) {}

  void measure(ProcessorId peer, std::uint64_t rate, Duration round_trip = 200us) {
    for (int i = 0; i < 3; ++i) links.add(peer, round_trip);
    rates.set(peer, rate, rate, now);
    tree.on_rate(horizon(), peer, out);
  }
  /// Whom it wants to be measured.
  std::vector<ProcessorId> wanted() {
    std::vector<ProcessorId> found;
    for (const auto& item : written()) {
      const auto* report = std::get_if<AdaptiveTree::Report>(&item);
      const auto* worth =
          report == nullptr ? nullptr : std::get_if<AdaptiveTree::WorthProbing>(report);
      if (worth != nullptr && worth->by_download) found.push_back(worth->peer);
    }
    return found;
  }
  /// The one Attach that is in the air.
  Attach asked(ProcessorId of) {
    const auto attaches = sent<Attach>();
    REQUIRE(attaches.size() == 1);
    REQUIRE(attaches[0].first == of);
    return attaches[0].second;
  }
  void accept(ProcessorId by, const TreeAdvert& advert) { REQUIRE(answer(true, advert) == by); }
  void refuse(ProcessorId by, const TreeAdvert& advert, std::vector<ProcessorId> redirect = {}) {
    REQUIRE(answer(false, advert, std::move(redirect)) == by);
  }
  /// Below `parent`, to which `rate` come and which has so many children, this one among them.
  void hang_below(ProcessorId parent, std::uint64_t rate, std::uint32_t children = 1) {
    measure(parent, 12 * kMegabyte);
    join(parent);
    accept(parent, place(rate, children));
    REQUIRE(tree.parent() == parent);
  }
};

double rate_of(const AdaptiveTree& tree) {
  return 1048576 * 1e3 / static_cast<double>(tree.advert().mebibyte_time.count());
}

TEST_CASE("[Saito08 G3] the root gets any rate, others none before they are connected") {
  CHECK(Bench(kRoot).tree.advert().mebibyte_time == Duration{});
  CHECK(Bench().tree.advert().mebibyte_time == kForever);
  CHECK_FALSE(Bench().tree.advert().connected);
}

TEST_CASE(
    "[Saito08 D] its rate is that of its parent, or the parent's interface among its children") {
  Bench bench;
  bench.hang_below(kWide, 10 * kMegabyte);
  CHECK(rate_of(bench.tree) == doctest::Approx(10).epsilon(0.002));

  bench.receive(kWide, Update{place(10 * kMegabyte, 3)});

  CHECK(rate_of(bench.tree) == doctest::Approx(4).epsilon(0.002));
}

TEST_CASE("a parent that was not measured is measured, and counts as very slow until then") {
  Bench bench;
  bench.tree.join(bench.horizon(), 1, kWide, bench.out);

  bench.accept(kWide, place(10 * kMegabyte, 1));

  CHECK(bench.wanted() == std::vector<ProcessorId>{kWide});
  CHECK(rate_of(bench.tree) < 0.01);
  bench.measure(kWide, 8 * kMegabyte);
  CHECK(rate_of(bench.tree) == doctest::Approx(8).epsilon(0.002));
}

TEST_CASE("[Saito08 D, G7] a wider parent is asked with the number of children that was seen") {
  Bench bench;
  bench.hang_below(kWide, 4 * kMegabyte);
  bench.measure(kOther, 12 * kMegabyte);

  bench.probed(kOther, place(10 * kMegabyte, 1));

  const Attach attach = bench.asked(kOther);
  CHECK(attach.children_seen == 1);
  CHECK(attach.own == bench.tree.label());
}

TEST_CASE("[Saito08 G19] no move to one that is as wide, nor to one that would share too much") {
  Bench bench;
  bench.hang_below(kWide, 10 * kMegabyte);
  bench.measure(kOther, 12 * kMegabyte);

  bench.probed(kOther, place(10 * kMegabyte + kMegabyte / 2));
  bench.probed(kOther, place(12 * kMegabyte, 1));

  CHECK(bench.sent<Attach>().empty());
}

TEST_CASE("a candidate is downloaded from only if it may be better") {
  Bench bench;
  bench.hang_below(kWide, 10 * kMegabyte);
  for (int i = 0; i < 3; ++i) bench.links.add(kOther, 200us);

  bench.probed(kOther, place(10 * kMegabyte, 0));
  CHECK(bench.wanted().empty());
  bench.receive(kWide, Update{place(10 * kMegabyte, 2)});
  bench.probed(kOther, place(10 * kMegabyte, 0));

  CHECK(bench.wanted() == std::vector<ProcessorId>{kOther});
  CHECK(bench.sent<Attach>().empty());
}

TEST_CASE("a parent of another site has to be four times as wide: ways between sites are shared") {
  Bench bench;
  bench.hang_below(kWide, 2 * kMegabyte);
  bench.measure(kOther, 12 * kMegabyte, 20ms);

  bench.probed(kOther, place(6 * kMegabyte));
  CHECK(bench.sent<Attach>().empty());
  bench.probed(kOther, place(12 * kMegabyte));

  CHECK(bench.sent<Attach>().size() == 1);
}

TEST_CASE("[Saito08 G7] of two that saw the same number of children the second one is refused") {
  Bench bench(kRoot);
  const Label last{1, kForever};
  bench.receive(kChild, Attach{kTree, 1, 0, last, {kChild}, false});
  bench.receive(kOther, Attach{kTree, 1, 0, last, {kOther}, false});

  const auto replies = bench.sent<AttachReply>();

  REQUIRE(replies.size() == 2);
  CHECK(replies[0].second.accepted);
  CHECK_FALSE(replies[1].second.accepted);
  CHECK(replies[1].second.redirect == std::vector<ProcessorId>{kChild});
  CHECK(replies[1].second.advert.children == 1);
}

TEST_CASE("those who come first soon after each other form a line, each behind the one before") {
  Bench bench(kRoot);
  const Label last{1, kForever};
  std::vector<ProcessorId> sent_to;
  for (std::uint32_t i = 20; i < 24; ++i) {
    const ProcessorId id{i};
    bench.receive(id, Attach{kTree, 1, 1, last, {id}, false});
  }
  // One of another site begins a line of its own.
  bench.receive(ProcessorId{30}, Attach{kTree, 1, 1, last, {ProcessorId{30}}, true});

  const auto replies = bench.sent<AttachReply>();

  REQUIRE(replies.size() == 5);
  CHECK(replies[0].second.accepted);
  for (std::uint32_t i = 1; i < 4; ++i) {
    CHECK(replies[i].second.redirect == std::vector<ProcessorId>{ProcessorId{19 + i}});
  }
  CHECK(replies[4].second.accepted);
}

TEST_CASE("who comes first when the line is at rest is let in beside it") {
  Bench bench(kRoot);
  bench.receive(kChild, Attach{kTree, 1, 1, {1, kForever}, {kChild}, false});
  bench.now += 2s;

  bench.receive(kOther, Attach{kTree, 1, 1, {1, kForever}, {kOther}, false});

  CHECK(bench.sent<AttachReply>().back().second.accepted);
}

TEST_CASE("who shares its parent looks for the end of a line, step by step") {
  Bench bench;
  bench.hang_below(kWide, 12 * kMegabyte, 2);
  bench.measure(kOther, 12 * kMegabyte);
  bench.measure(ProcessorId{30}, 12 * kMegabyte);

  bench.fire(AdaptiveTree::Timer::kLineUp, 1s);
  bench.refuse(kWide, place(12 * kMegabyte, 2), {kOther});
  bench.refuse(kOther, place(12 * kMegabyte, 1), {ProcessorId{30}, kSelf});
  bench.accept(ProcessorId{30}, place(11 * kMegabyte, 1));

  CHECK(bench.tree.parent() == ProcessorId{30});
  CHECK(bench.sent<Detach>().size() == 1);
}

TEST_CASE("a place in a line that is slower, or farther, is given back") {
  for (const bool is_far : {false, true}) {
    Bench bench;
    bench.hang_below(kWide, 12 * kMegabyte, 2);
    bench.measure(kOther, 12 * kMegabyte, is_far ? 20ms : 200us);

    bench.fire(AdaptiveTree::Timer::kLineUp, 1s);
    bench.refuse(kWide, place(12 * kMegabyte, 2), {kOther});
    bench.accept(kOther, place(is_far ? 11 * kMegabyte : kMegabyte, 1));

    CHECK(bench.tree.parent() == kWide);
    const auto detached = bench.sent<Detach>();
    REQUIRE(detached.size() == 1);
    CHECK(detached[0].first == kOther);
  }
}

TEST_CASE("lining up is tried a bounded number of times, until the parent changes") {
  Bench bench;
  bench.hang_below(kWide, 12 * kMegabyte, 2);
  std::size_t tries = 0;
  for (int i = 0; i < 100; ++i) {
    bench.fire(AdaptiveTree::Timer::kLineUp, 10s);
    const auto attaches = bench.sent<Attach>();
    tries += attaches.size();
    for (const auto& [to, attach] : attaches) {
      bench.receive(to, AttachReply{attach.attachment, false, place(12 * kMegabyte, 2), {}});
    }
  }
  CHECK(tries == bandwidth_tree_options().line_ups);
  CHECK(bench.tree.is_settled());
}

/// Starves for kOther, whose label is no smaller; of two coins one makes it hold back.
Bench starved() {
  for (std::uint64_t seed = 1;; ++seed) {
    Bench bench(kSelf, seed);
    bench.hang_below(kWide, 12 * kMegabyte);
    bench.receive(kWide, Update{place(12 * kMegabyte, 4)});
    bench.measure(kOther, 12 * kMegabyte);
    bench.probed(kOther, place(10 * kMegabyte));
    const auto asked = bench.sent<Relabel>();
    if (asked.empty()) continue;
    CHECK(asked.size() == 1);
    CHECK(asked[0].first == kRoot);
    CHECK(bench.sent<Attach>().empty());
    return bench;
  }
}

TEST_CASE(
    "[Saito08 G5 R5] who starves asks the root, and takes the new number by the wanted parent") {
  Bench bench = starved();

  bench.receive(kWide, Update{place(12 * kMegabyte, 4, 2)});
  CHECK(bench.tree.label().seq == 1);  // held back
  CHECK(bench.sent<Attach>().empty());
  bench.fire(AdaptiveTree::Timer::kRelabel, 50ms);
  bench.accept(kOther, place(10 * kMegabyte, 1, 2));

  CHECK(bench.tree.parent() == kOther);
  CHECK(bench.tree.label().seq == 2);
}

TEST_CASE("a number that was held back for nothing is let through") {
  Bench bench = starved();
  bench.receive(kWide, Update{place(12 * kMegabyte, 4, 2)});
  bench.fire(AdaptiveTree::Timer::kRelabel, 50ms);

  bench.refuse(kOther, place(10 * kMegabyte, 0, 1));

  CHECK(bench.tree.parent() == kWide);
  CHECK(bench.tree.label().seq == 2);
}

TEST_CASE("the parent is lost while a number is held back: it is looked for as ever") {
  Bench bench = starved();
  bench.receive(kWide, Update{place(12 * kMegabyte, 4, 2)});

  bench.live.erase(kWide);
  bench.tree.on_members(bench.horizon(), bench.out);
  bench.tree.check_invariants();
  bench.accept(kRoot, place(1000 * kMegabyte, 1, 2));

  CHECK(bench.tree.parent() == kRoot);
  CHECK(bench.tree.label().seq == 2);
}

TEST_CASE("who is below is no candidate: it can never have the new number first") {
  Bench bench;
  bench.hang_below(kWide, 4 * kMegabyte);
  bench.receive(kChild, Attach{kTree, 1, 1, {1, kForever}, {kChild}, false});
  bench.measure(kChild, 12 * kMegabyte);

  for (int i = 0; i < 10; ++i) bench.probed(kChild, place(12 * kMegabyte));

  CHECK(bench.sent<Attach>().empty());
  CHECK(bench.sent<Relabel>().empty());
}

TEST_CASE("who is slow itself sends its children to its parent, and takes none any more") {
  for (const bool is_slow : {true, false}) {
    CAPTURE(is_slow);
    Bench bench;
    bench.hang_below(kWide, 10 * kMegabyte);
    bench.measure(kWide, kMegabyte);  // much less than the parent itself gets
    for (int i = 0; i < 3; ++i) bench.links.add(kChild, 200us);
    bench.receive(kChild, Attach{kTree, 1, 1, {1, kForever}, {kChild}, false});
    CHECK(bench.sent<AttachReply>().back().second.accepted);
    CHECK(bench.wanted() == std::vector<ProcessorId>{kChild});

    bench.measure(kChild, is_slow ? kMegabyte : 12 * kMegabyte);

    const auto goodbyes = bench.sent<Bye>();
    REQUIRE(goodbyes.size() == (is_slow ? 1 : 0));
    if (is_slow) CHECK(goodbyes[0].second.grandparent == kWide);
    bench.now += 5s;
    bench.receive(kOther, Attach{kTree, 1, 1, {1, kForever}, {kOther}, false});
    CHECK(bench.sent<AttachReply>().back().second.accepted == !is_slow);
  }
}

TEST_CASE("the children that a slow parent is compared with are named once each") {
  const ProcessorId second{21};
  Bench bench;
  bench.hang_below(kWide, 10 * kMegabyte);
  bench.measure(kWide, kMegabyte);
  for (const ProcessorId child : {kChild, second}) {
    for (int i = 0; i < 3; ++i) bench.links.add(child, 200us);
    bench.receive(child, Attach{kTree, 1, 1, {1, kForever}, {child}, false});
    bench.now += 2s;  // no line
  }

  for (int i = 0; i < 10; ++i) bench.receive(kWide, Update{place(10 * kMegabyte)});

  CHECK(bench.wanted() == std::vector<ProcessorId>{kChild, second});
}

TEST_CASE("whose parent is slow asks the one above it") {
  Bench bench;
  bench.measure(kOther, 12 * kMegabyte);
  bench.measure(kWide, 12 * kMegabyte);
  bench.tree.join(bench.horizon(), 1, kWide, bench.out);
  TreeAdvert slow = place(10 * kMegabyte, 1);
  slow.parent = kRoot;
  bench.accept(kWide, slow);

  bench.measure(kWide, kMegabyte);
  bench.fire(AdaptiveTree::Timer::kLineUp, 1s);
  bench.accept(kRoot, place(20 * kMegabyte, 2));

  CHECK(bench.tree.parent() == kRoot);
}

TEST_CASE("a child that has left is served for a while, but is no child any more") {
  Bench bench(kRoot);
  bench.receive(kChild, Attach{kTree, 1, 1, {1, kForever}, {kChild}, false});
  bench.receive(kChild, Detach{kTree, 1});
  CHECK(bench.tree.view().children.size() == 1);
  CHECK(bench.tree.advert().children == 0);
  CHECK_FALSE(bench.tree.has_child(kChild));

  bench.fire(AdaptiveTree::Timer::kLinger, 500ms);
  CHECK(bench.tree.view().children.size() == 1);
  bench.fire(AdaptiveTree::Timer::kLinger, 500ms);

  CHECK(bench.tree.view().children.empty());
}

TEST_CASE(
    "one that lingers is served last of those with as many below them, which others take over") {
  Bench bench(kRoot);
  const ProcessorId moved{21};
  bench.receive(kOther, Attach{kTree, 1, 1, {1, kForever}, {kOther}, false});
  bench.now += 2s;  // no line
  bench.receive(kChild, Attach{kTree, 1, 1, {1, kForever}, {kChild, moved}, false});
  bench.receive(kChild, Detach{kTree, 1});
  REQUIRE(bench.tree.view().children.size() == 2);
  CHECK(bench.tree.view().children[0].id == kChild);  // It has more below it.

  bench.receive(kOther, UpdateSet{kTree, 1, 1, {moved, kChild}, {}});

  CHECK(bench.tree.view().children[0].id == kOther);
  CHECK(bench.tree.view().children[1] == TreeChild{kChild, {}});
}

TEST_CASE("who comes back while it lingers is a child again, for good") {
  Bench bench(kRoot);
  bench.receive(kChild, Attach{kTree, 1, 1, {1, kForever}, {kChild}, false});
  bench.receive(kChild, Detach{kTree, 1});
  bench.receive(kChild, Attach{kTree, 2, 1, {1, kForever}, {kChild}, false});
  bench.fire(AdaptiveTree::Timer::kLinger, 5s);
  CHECK(bench.tree.view().children.size() == 1);
  CHECK(bench.tree.has_child(kChild));
}

TEST_CASE("stale, repeated and unbelievable messages change nothing") {
  Bench bench;
  bench.hang_below(kWide, 10 * kMegabyte);
  const TreeAdvert before = bench.tree.advert();

  bench.receive(kOther, Update{place(12 * kMegabyte)});
  bench.receive(kOther, AttachReply{7, false, place(12 * kMegabyte), {kChild}});
  bench.receive(kOther, Bye{kTree, kChild, place(12 * kMegabyte)});
  bench.receive(kWide, UpdateSet{kTree, 1, 1, {kChild}, {}});
  bench.receive(kWide, Detach{kTree, 99});
  TreeAdvert wrong = place(10 * kMegabyte, 1, 5);
  wrong.label.feasible = kForever;
  bench.receive(kWide, Update{wrong});
  for (const auto timer : {AdaptiveTree::Timer::kAttach, AdaptiveTree::Timer::kUpdate,
                           AdaptiveTree::Timer::kRelabel, AdaptiveTree::Timer::kLineUp}) {
    bench.fire(timer, 1ms);
  }

  CHECK(bench.tree.advert() == before);
  CHECK(bench.sent<Attach>().empty());
}

}  // namespace
}  // namespace phx::overlay::bandwidth_tree_test
