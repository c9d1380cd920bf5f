#include "collectives/broadcast.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "tests/collectives/values.h"

namespace phx::collectives::broadcast_test {
namespace {

constexpr ProcessorId kSelf{1};

BroadcastPiece piece() {
  BroadcastPiece piece;
  piece.root = VnodeId{0};
  piece.payload = Payload::copy_of("hello");
  return piece;
}

/// Processor i holds vnodes 10 i .. 10 i + 9, at epoch 1.
std::vector<OwnerGroup> owners(std::uint32_t first, std::uint32_t last) {
  std::vector<OwnerGroup> groups;
  for (std::uint32_t p = first; p <= last; ++p) {
    groups.push_back({ProcessorId{p}, 1, vnodes(10 * p, 10 * p + 9)});
  }
  return groups;
}

TreeView tree(std::vector<TreeChild> children) {
  TreeView view;
  view.id.root = kSelf;
  view.children = std::move(children);
  return view;
}

using Child = BroadcastPlan::Child;

}  // namespace

TEST_SUITE_BEGIN("collectives/broadcast");

TEST_CASE("[Saito08 H1, H2] own vnodes are delivered, the others go to the child above them") {
  const TreeView view =
      tree({{ProcessorId{2}, processors(2, 3)}, {ProcessorId{4}, processors(4, 4)}});

  const BroadcastPlan plan =
      split_tree_copy(kSelf, vnodes(10, 49), vnodes(10, 19), owners(2, 4), &view, 9);

  CHECK(plan.deliver == vnodes(10, 19));
  CHECK(plan.children ==
        std::vector<Child>{{ProcessorId{2}, vnodes(20, 39)}, {ProcessorId{4}, vnodes(40, 49)}});
  CHECK(plan.rest.empty());
  CHECK(plan.unknown.empty());
}

TEST_CASE("[Saito08 H3] what is below no child is left for the way outside the tree") {
  const TreeView view = tree({{ProcessorId{2}, processors(2, 2)}});

  const BroadcastPlan plan =
      split_tree_copy(kSelf, vnodes(20, 39), VnodeSet{}, owners(2, 3), &view, 9);

  CHECK(plan.children == std::vector<Child>{{ProcessorId{2}, vnodes(20, 29)}});
  CHECK(plan.rest == owners(3, 3));
}

TEST_CASE("only the vnodes asked for are served, though more are held here or below") {
  const TreeView view = tree({{ProcessorId{2}, processors(2, 2)}});

  const BroadcastPlan plan =
      split_tree_copy(kSelf, vnodes(15, 24), vnodes(10, 19), owners(2, 2), &view, 9);

  CHECK(plan.deliver == vnodes(15, 19));
  CHECK(plan.children == std::vector<Child>{{ProcessorId{2}, vnodes(20, 24)}});
}

TEST_CASE("[Saito08 G9] where the sets of two children overlap, the first one is served") {
  const TreeView view =
      tree({{ProcessorId{3}, processors(3, 4)}, {ProcessorId{2}, processors(2, 4)}});

  const BroadcastPlan plan =
      split_tree_copy(kSelf, vnodes(20, 49), VnodeSet{}, owners(2, 4), &view, 9);

  CHECK(plan.children ==
        std::vector<Child>{{ProcessorId{3}, vnodes(30, 49)}, {ProcessorId{2}, vnodes(20, 29)}});
}

TEST_CASE("children are served in the order in which the tree has them") {
  const TreeView view = tree({{ProcessorId{2}, processors(2, 2)},
                              {ProcessorId{3}, processors(3, 5)},
                              {ProcessorId{6}, processors(6, 6)}});

  const BroadcastPlan plan =
      split_tree_copy(kSelf, vnodes(20, 69), VnodeSet{}, owners(2, 6), &view, 9);

  REQUIRE(plan.children.size() == 3);
  CHECK(plan.children[0].id == ProcessorId{2});
  CHECK(plan.children[1].id == ProcessorId{3});
  CHECK(plan.children[2].id == ProcessorId{6});
}

TEST_CASE("[Saito08 G10] without hops left, and without a tree, nothing goes to children") {
  const TreeView view = tree({{ProcessorId{2}, processors(2, 3)}});

  CHECK(split_tree_copy(kSelf, vnodes(20, 39), {}, owners(2, 3), &view, 0).rest == owners(2, 3));
  CHECK(split_tree_copy(kSelf, vnodes(20, 39), {}, owners(2, 3), nullptr, 9).rest == owners(2, 3));
}

TEST_CASE("a vnode on its way here waits here, even if a child claims to have us below it") {
  const TreeView view = tree({{ProcessorId{2}, processors(1, 2)}, {kSelf, processors(1, 9)}});

  const BroadcastPlan plan =
      split_tree_copy(kSelf, vnodes(10, 39), VnodeSet{}, owners(1, 3), &view, 9);

  CHECK(plan.children == std::vector<Child>{{ProcessorId{2}, vnodes(20, 29)}});
  REQUIRE(plan.rest.size() == 2);
  CHECK(plan.rest[0].owner == kSelf);
  CHECK(plan.rest[1].owner == ProcessorId{3});
}

TEST_CASE("vnodes outside of the job's space are named and go nowhere") {
  const BroadcastPlan plan =
      split_tree_copy(kSelf, vnodes(10, 99), vnodes(10, 19), owners(2, 3), nullptr, 9);

  CHECK(plan.unknown == vnodes(40, 99));
}

TEST_CASE("[Saito08 G11] the owners are halved between the first of each half") {
  const FallbackPlan plan = split_fallback(kSelf, owners(2, 6), piece());

  REQUIRE(plan.sends.size() == 2);
  CHECK(plan.sends[0].to == ProcessorId{2});
  CHECK(plan.sends[0].copy.mine == std::vector<Tokens>{{vnodes(20, 29), 1}});
  REQUIRE(plan.sends[0].copy.onward.size() == 2);
  CHECK(plan.sends[0].copy.onward[1].owner == ProcessorId{4});
  CHECK(plan.sends[1].to == ProcessorId{5});
  CHECK(plan.sends[1].copy.onward.size() == 1);
  CHECK(plan.sends[1].copy.piece == piece());
}

TEST_CASE("vnodes of one owner at several epochs travel together, each with its epoch") {
  const FallbackPlan plan = split_fallback(
      kSelf, {{ProcessorId{2}, 1, vnodes(0, 4)}, {ProcessorId{2}, 7, vnodes(8, 9)}}, piece());

  REQUIRE(plan.sends.size() == 1);
  CHECK(plan.sends[0].copy.mine == std::vector<Tokens>{{vnodes(0, 4), 1}, {vnodes(8, 9), 7}});
  CHECK(plan.sends[0].copy.onward.empty());
}

TEST_CASE("groups come in any order, and those of one owner and epoch are joined") {
  const FallbackPlan plan = split_fallback(kSelf,
                                           {{ProcessorId{3}, 2, vnodes(0, 4)},
                                            {ProcessorId{2}, 1, vnodes(20, 21)},
                                            {ProcessorId{3}, 1, vnodes(10, 14)},
                                            {ProcessorId{3}, 2, vnodes(5, 9)}},
                                           piece());

  REQUIRE(plan.sends.size() == 2);
  CHECK(plan.sends[0].to == ProcessorId{2});
  CHECK(plan.sends[1].to == ProcessorId{3});
  CHECK(plan.sends[1].copy.mine == std::vector<Tokens>{{vnodes(10, 14), 1}, {vnodes(0, 9), 2}});
}

TEST_CASE("nobody is sent nothing") {
  CHECK(split_fallback(kSelf, {}, piece()) == FallbackPlan{});
}

TEST_CASE("[Saito08 G11] thousands of owners get one copy each, in about log2 of them steps") {
  constexpr std::uint32_t kOwners = 5000;
  std::map<ProcessorId, std::uint32_t> steps;
  std::deque<FallbackPlan::Send> under_way;
  for (auto& send : split_fallback(kSelf, owners(2, kOwners + 1), piece()).sends) {
    steps[send.to] = 1;
    under_way.push_back(std::move(send));
  }

  VnodeSet served;
  std::uint32_t copies = 0;
  while (!under_way.empty()) {
    const FallbackPlan::Send received = std::move(under_way.front());
    under_way.pop_front();
    ++copies;
    for (const Tokens& tokens : received.copy.mine) served = served.united(tokens.vnodes);
    FallbackPlan plan =
        split_fallback(received.to, groups_of(received.copy.onward), received.copy.piece);
    for (auto& send : plan.sends) {
      REQUIRE(steps.try_emplace(send.to, steps[received.to] + 1).second);
      under_way.push_back(std::move(send));
    }
  }

  CHECK(copies == kOwners);
  CHECK(served == vnodes(20, 10 * (kOwners + 1) + 9));
  const auto last = std::max_element(
      steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  CHECK(last->second <= 13);  // 2^12 < 5000 < 2^13
}

TEST_CASE("an onward list from a peer is sorted, and a vnode named twice counts once") {
  const std::vector<FallbackCopy::Onward> onward{
      {ProcessorId{5}, {{vnodes(0, 9), 2}, {vnodes(5, 19), 1}}},
      {ProcessorId{3}, {{vnodes(8, 20), 4}}},
      {ProcessorId{5}, {{vnodes(30, 31), 2}}}};

  CHECK(groups_of(onward) ==
        std::vector<OwnerGroup>{{ProcessorId{3}, 4, vnodes(20, 20)},
                                {ProcessorId{5}, 1, vnodes(10, 19)},
                                {ProcessorId{5}, 2, vnodes(0, 9).united(vnodes(30, 31))}});
}

TEST_SUITE_END();

}  // namespace phx::collectives::broadcast_test
