#include "collectives/reduction.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/collectives/values.h"

namespace phx::collectives::reduction_test {
namespace {

using Box = Reduction::Outbox;
using Anomaly = Reduction::Anomaly;
using Items = std::vector<Box::Item>;

constexpr ProcessorId kSelf{5};
constexpr ProcessorId kParent{1};
constexpr ProcessorId kLeft{6};
constexpr ProcessorId kRight{7};
constexpr ReductionId kId{VnodeId{0}, 0};
constexpr Instant kStart{};

/// kSelf holds v50-v51 and has two children with v60-v61 and v70-v71 below them. kParent owns v0,
/// the target.
struct Harness {
  explicit Harness(const ReductionOptions& options = {.wait_min = 200ms})
      : reduction(kSelf, options) {
    tree.id.root = kParent;
    tree.parent = kParent;
    tree.children = {{kLeft, processors(6, 6)}, {kRight, processors(7, 7)}};
    tree.distance_to_root = 10ms;
  }

  [[nodiscard]] Reduction::Situation situation() const {
    const auto below = [this](std::size_t child) {
      ++asked;
      return child_vnodes.at(child);
    };
    return {own, target_owner, has_tree ? &tree : nullptr, below, leaving};
  }
  Items token(std::optional<ProcessorId> from, ReductionToken token) {
    Box out;
    reduction.on_token(now, from, std::move(token), situation(), out);
    reduction.check_invariants();
    return out.take();
  }
  Items local(const ReductionToken& t) { return token(std::nullopt, t); }
  Items situation_changed() {
    Box out;
    reduction.on_situation(now, kId, situation(), out);
    for (const VnodeId target : reduction.targets_lately(now)) {
      reduction.on_situation(now, target, target_owner, has_tree ? &tree : nullptr, out);
    }
    reduction.check_invariants();
    return out.take();
  }
  Items timer() {
    Box out;
    reduction.on_timer(now, kId, situation(), out);
    reduction.check_invariants();
    return out.take();
  }

  VnodeSet own = vnodes(50, 51);
  std::optional<ProcessorId> target_owner = kParent;
  TreeView tree;
  bool has_tree = true;
  std::vector<VnodeSet> child_vnodes{vnodes(60, 61), vnodes(70, 71)};
  bool leaving = false;
  mutable int asked = 0;  ///< So often for what is below a child.
  Instant now = kStart;
  Reduction reduction;
};

ReductionToken complete(ReductionToken token) {
  token.complete = true;
  return token;
}

/// What somebody sends who has nothing to pass on.
ReductionToken nothing(std::uint64_t number = kId.number) {
  return {{kId.target, number}, {}, {}, true};
}

ReductionToken everything() {
  return complete(sum_token(vnodes(50, 51).united(vnodes(60, 61)).united(vnodes(70, 71)), 6));
}

Items armed(Instant at) {
  return {Box::Arm{kId, at}};
}
Items sent(const ReductionToken& token) {
  return {Box::Arm{kId, std::nullopt}, Box::Send{kParent, token}};
}
Items to_target(const ReductionToken& token) {
  return {Reduction::Report{Reduction::ToTarget{token}}};
}

}  // namespace

TEST_SUITE_BEGIN("collectives/reduction");

TEST_CASE("[Saito08 E2] it waits for its own vnodes and all children, then passes the sum on") {
  Harness h;

  CHECK(h.local(sum_token(vnodes(50, 51), 1)) == armed(kStart + 200ms));
  CHECK(h.token(kLeft, complete(sum_token(vnodes(60, 61), 2))).empty());
  CHECK(h.reduction.held() == std::vector<ReductionId>{kId});
  CHECK(h.token(kRight, complete(sum_token(vnodes(70, 71), 3))) == sent(everything()));

  CHECK(h.reduction.held().empty());
}

TEST_CASE("[Saito08 E2] own vnodes may contribute one by one, and after the children") {
  Harness h;
  h.token(kLeft, complete(sum_token(vnodes(60, 61), 2)));
  h.token(kRight, complete(sum_token(vnodes(70, 71), 3)));
  CHECK(h.local(sum_token(vnodes(51, 51), 0)).empty());

  CHECK(h.local(sum_token(vnodes(50, 50), 1)) == sent(everything()));
}

TEST_CASE("a leaf passes its contribution on at once, without a timer") {
  Harness h;
  h.tree.children.clear();
  h.child_vnodes.clear();

  CHECK(h.local(sum_token(vnodes(50, 51), 1)) ==
        Items{Box::Send{kParent, complete(sum_token(vnodes(50, 51), 1))}});
}

TEST_CASE("[Saito08 G16 e] a processor without vnodes takes part, and waits from the first token") {
  Harness h;
  h.own = {};
  h.now = kStart + 7s;

  CHECK(h.token(kLeft, complete(sum_token(vnodes(60, 61), 2))) == armed(kStart + 7200ms));

  h.tree.children.clear();
  h.child_vnodes.clear();
  CHECK(h.token(kLeft, sum_token(vnodes(60, 61), 2, 1)).size() == 1);
}

TEST_CASE("a child without vnodes below it is not waited for") {
  Harness h;
  h.child_vnodes[1] = {};
  h.local(sum_token(vnodes(50, 51), 1));

  CHECK(h.token(kLeft, sum_token(vnodes(60, 61), 2)).size() == 2);
}

TEST_CASE("a child is not waited for once its vnodes came by another way") {
  Harness h;
  h.local(sum_token(vnodes(50, 51), 1));
  h.token(kLeft, sum_token(vnodes(60, 61).united(vnodes(70, 71)), 5));

  CHECK(h.reduction.held().empty());
}

TEST_CASE("a child that passed on less than is below it is not waited for any more") {
  Harness h;
  h.local(sum_token(vnodes(50, 51), 1));
  h.token(kLeft, sum_token(vnodes(60, 60), 2));  // timed out there: v61 will go to the target

  CHECK(h.token(kRight, sum_token(vnodes(70, 71), 3)).size() == 2);
}

TEST_CASE("[Saito08 E2] at the time-out it passes on what there is, not marked complete") {
  Harness h;
  h.local(sum_token(vnodes(50, 51), 1));
  h.token(kLeft, complete(sum_token(vnodes(60, 61), 2)));

  h.now = kStart + 199ms;
  CHECK(h.timer() == armed(kStart + 200ms));  // too early: asked to come again
  h.now = kStart + 200ms;
  CHECK(h.timer() ==
        Items{Box::Send{kParent, sum_token(vnodes(50, 51).united(vnodes(60, 61)), 3)}});
  CHECK(h.timer().empty());
}

TEST_CASE("[Saito08 E2] what comes after the time-out goes on at once, to the target") {
  Harness h;
  h.local(sum_token(vnodes(50, 51), 1));
  h.now = kStart + 200ms;
  h.timer();

  CHECK(h.token(kLeft, complete(sum_token(vnodes(60, 61), 2))) ==
        to_target(sum_token(vnodes(60, 61), 2)));
  CHECK(h.token(kRight, sum_token(vnodes(70, 71), 3)) == to_target(sum_token(vnodes(70, 71), 3)));
  CHECK(h.reduction.held().empty());
}

TEST_CASE("[Saito08 E2, G16 d] the wait grows with the distance to the root, up to a limit") {
  const auto deadline = [](Duration distance) {
    Harness h;
    h.tree.distance_to_root = distance;
    return h.local(sum_token(vnodes(50, 51), 1));
  };
  CHECK(deadline(50ms) == armed(kStart + 200ms));
  CHECK(deadline(100ms) == armed(kStart + 400ms));
  CHECK(deadline(24h * 10000) == armed(kStart + 2s));
  CHECK(deadline(kForever) == armed(kStart + 200ms));  // not connected: distance unknown
}

TEST_CASE(
    "[Saito08 G16 d] callers that come late are waited for longer the next time, for a while") {
  Harness h;
  h.local(sum_token(vnodes(50, 51), 1));
  h.now += 200ms;
  h.timer();
  h.now += 200ms;
  h.token(kLeft, sum_token(vnodes(60, 61), 2));
  CHECK(h.reduction.skew() == 400ms);

  ReductionToken next = sum_token(vnodes(50, 51), 1, 1);
  CHECK(h.local(next) == Items{Box::Arm{next.id, h.now + 500ms}});
  h.token(kLeft, sum_token(vnodes(60, 61), 2, 1));
  h.token(kRight, sum_token(vnodes(70, 71), 3, 1));
  CHECK(h.reduction.skew() == 350ms);
}

TEST_CASE("[Saito08 G16 a] the owner of the target gives the sum to the target") {
  Harness h;
  h.target_owner = kSelf;
  h.tree.parent.reset();
  h.local(sum_token(vnodes(50, 51), 1));
  h.token(kLeft, sum_token(vnodes(60, 61), 2));

  CHECK(h.token(kRight, sum_token(vnodes(70, 71), 3)) ==
        Items{Box::Arm{kId, std::nullopt}, Reduction::Report{Reduction::ToTarget{everything()}}});
}

TEST_CASE("costs: a token asks what is below one child, and not what is below all") {
  constexpr std::uint32_t kChildren = 16;
  Harness h;
  h.own = {};
  h.tree.children.clear();
  h.child_vnodes.clear();
  for (std::uint32_t i = 0; i < kChildren; ++i) {
    h.tree.children.push_back({ProcessorId{100 + i}, processors(100 + i, 100 + i)});
    h.child_vnodes.push_back(vnodes(60 + i, 60 + i));
  }
  for (std::uint32_t i = 0; i < kChildren; ++i) {
    h.token(ProcessorId{100 + i}, sum_token(vnodes(60 + i, 60 + i), 1));
  }

  CHECK(h.reduction.held().empty());
  CHECK(h.asked < static_cast<int>(kChildren));
}

TEST_CASE("the owner of the target keeps the sum, though its tree still names a parent") {
  Harness h;
  h.target_owner = kSelf;
  h.child_vnodes = {{}, {}};

  CHECK(h.local(sum_token(vnodes(50, 51), 1)) == to_target(complete(sum_token(vnodes(50, 51), 1))));
}

TEST_CASE("[Saito08 G16 a] without tree or parent the sum goes to the target point-to-point") {
  Harness h;
  h.child_vnodes = {{}, {}};
  h.tree.parent.reset();
  const auto token = [](std::uint64_t number) {
    return complete(sum_token(vnodes(50, 51), 1, number));
  };
  CHECK(h.local(token(0)) == to_target(token(0)));

  h.has_tree = false;
  h.target_owner.reset();
  CHECK(h.local(token(1)) == to_target(token(1)));

  h.has_tree = true;
  h.tree.parent = kSelf;  // a tree may be wrong in every way
  CHECK(h.local(token(2)) == to_target(token(2)));
}

TEST_CASE("a change of tree or ownership ends a wait that has become pointless") {
  Harness h;
  h.local(sum_token(vnodes(50, 50), 1));
  h.token(kLeft, sum_token(vnodes(60, 61), 2));
  CHECK(h.situation_changed().empty());

  h.own = vnodes(50, 50);  // v51 moved away
  CHECK(h.situation_changed().empty());
  h.tree.children.pop_back();  // the other child left
  h.child_vnodes.pop_back();
  CHECK(h.situation_changed() ==
        sent(complete(sum_token(vnodes(50, 50).united(vnodes(60, 61)), 3))));
  CHECK(h.situation_changed().empty());
}

TEST_CASE("a processor that leaves passes on what it holds, and at once what still comes") {
  Harness h;
  h.local(sum_token(vnodes(50, 51), 1));
  h.leaving = true;

  CHECK(h.situation_changed() == sent(sum_token(vnodes(50, 51), 1)));
  CHECK(h.token(kLeft, sum_token(vnodes(60, 61), 2, 1)) ==
        Items{Box::Send{kParent, sum_token(vnodes(60, 61), 2, 1)}});
}

TEST_CASE("reductions of different numbers and targets do not mix") {
  Harness h;
  ReductionToken other = sum_token(vnodes(60, 61), 2);
  other.id.target = VnodeId{9};
  h.local(sum_token(vnodes(50, 51), 1));
  h.token(kLeft, sum_token(vnodes(60, 61), 2, 1));
  h.token(kLeft, other);

  CHECK(h.reduction.held().size() == 3);
}

TEST_CASE("[Saito08 G16 b] contributions that overlap are never combined: both go on, apart") {
  Harness h;
  h.local(sum_token(vnodes(50, 51), 1));

  const Items out = h.token(kLeft, complete(sum_token(vnodes(51, 61), 2)));

  CHECK(out == Items{Reduction::Report{Anomaly{Anomaly::Kind::kOverlap, kId, vnodes(51, 61)}},
                     Reduction::Report{Reduction::ToTarget{sum_token(vnodes(51, 61), 2)}}});
  CHECK(h.reduction.anomalies() == 1);
  CHECK(h.reduction.held().size() == 1);
}

TEST_CASE("a first token that overlaps itself goes on and leaves nothing behind") {
  Harness h;
  h.tree.children.clear();
  h.child_vnodes.clear();
  h.own = {};
  ReductionToken token = sum_token(vnodes(60, 61), 2);
  token.parts.push_back(token.parts.front());

  const Items out = h.token(kLeft, token);

  CHECK(out == Items{Reduction::Report{Anomaly{Anomaly::Kind::kOverlap, kId, vnodes(60, 61)}},
                     Reduction::Report{Reduction::ToTarget{token}},
                     Box::Send{kParent, nothing()}});  // it need not wait
  CHECK(h.reduction.held().empty());
}

TEST_CASE("a child that says that it has nothing is not waited for") {
  Harness h;
  h.local(sum_token(vnodes(50, 51), 1));
  CHECK(h.token(kLeft, nothing()).empty());

  CHECK(h.token(kRight, sum_token(vnodes(70, 71), 3)) ==
        sent(complete(sum_token(vnodes(50, 51).united(vnodes(70, 71)), 4))));
}

TEST_CASE("that nothing will come may be said before anything comes, and of any operation") {
  Harness h;
  ReductionToken none = nothing();
  none.kind = {ReduceOp::kMax, ReduceType::kFloat, true};  // the sender does not know better
  h.token(kLeft, none);
  h.token(kRight, none);

  CHECK(h.local(sum_token(vnodes(50, 51), 1)) == sent(complete(sum_token(vnodes(50, 51), 1))));
}

TEST_CASE("the time runs from the first contribution, not from the first that had none") {
  Harness h;
  CHECK(h.token(kLeft, nothing()) == armed(kStart + 200ms));
  h.now += 150ms;
  CHECK(h.local(sum_token(vnodes(50, 51), 1)).empty());
  h.now = kStart + 200ms;
  CHECK(h.timer() == armed(kStart + 350ms));
  h.token(kRight, sum_token(vnodes(70, 71), 3));

  CHECK(h.reduction.skew() == 50ms);
}

TEST_CASE("a processor below which nobody has anything says so to its parent, once") {
  Harness h;
  h.own = {};
  CHECK(h.token(kLeft, nothing()) == armed(kStart + 200ms));

  CHECK(h.token(kRight, nothing()) == sent(nothing()));

  CHECK(h.token(kRight, nothing()).empty());
  CHECK(h.reduction.held().empty());
  CHECK(h.reduction.skew() == Duration::zero());
}

TEST_CASE("a wait that a child began by saying nothing ends as early as the contributions say") {
  Harness h;
  h.tree.distance_to_root = 400ms;
  REQUIRE(h.token(kLeft, nothing()) == armed(kStart + 1600ms));
  h.tree.distance_to_root = 10ms;
  h.now += 100ms;

  CHECK(h.local(sum_token(vnodes(50, 51), 6)) == armed(h.now + 200ms));
}

TEST_CASE("nothing is said to nobody: at the root an empty token ends") {
  Harness h;
  h.own = {};
  h.target_owner = kSelf;
  h.tree.parent.reset();
  h.token(kLeft, nothing());

  CHECK(h.token(kRight, nothing()) == Items{Box::Arm{kId, std::nullopt}});
}

TEST_CASE("[Saito08 G16 d] a new parent is told what it need not wait for, once") {
  Harness h;
  h.tree.children.clear();
  h.child_vnodes.clear();
  h.local(sum_token(vnodes(50, 51), 1, 4));
  h.local(sum_token(vnodes(50, 51), 1, 5));
  CHECK(h.reduction.targets_lately(h.now) == std::vector<VnodeId>{kId.target});
  CHECK(h.situation_changed().empty());  // the parent is the same

  h.tree.parent = kRight;

  CHECK(h.situation_changed() ==
        Items{Box::Send{kRight, nothing(4)}, Box::Send{kRight, nothing(5)}});
  CHECK(h.situation_changed().empty());
}

TEST_CASE("a new parent is told before it gets the next token, whoever notices it first") {
  Harness h;
  h.tree.children.clear();
  h.child_vnodes.clear();
  h.local(sum_token(vnodes(50, 51), 1, 4));
  h.tree.parent = kRight;

  CHECK(h.local(sum_token(vnodes(50, 51), 1, 5)) ==
        Items{Box::Send{kRight, nothing(4)},
              Box::Send{kRight, complete(sum_token(vnodes(50, 51), 1, 5))}});
}

TEST_CASE("a parent found after something went to the target is told of it") {
  Harness h;
  h.tree.children.clear();
  h.child_vnodes.clear();
  h.tree.parent.reset();
  h.local(sum_token(vnodes(50, 51), 1));
  CHECK(h.situation_changed().empty());

  h.tree.parent = kParent;

  CHECK(h.situation_changed() == Items{Box::Send{kParent, nothing()}});
}

TEST_CASE("of what was passed on long ago, or beyond the limit, a new parent is not told") {
  Harness h({.answers_max = 2});
  h.tree.children.clear();
  h.child_vnodes.clear();
  for (const std::uint64_t number : {4U, 5U, 6U}) h.local(sum_token(vnodes(50, 51), 1, number));
  h.tree.parent = kRight;
  CHECK(h.situation_changed() ==
        Items{Box::Send{kRight, nothing(5)}, Box::Send{kRight, nothing(6)}});

  h.now += 2s;
  h.tree.parent = kLeft;
  CHECK(h.situation_changed().size() == 2);
  h.now += 1ms;
  CHECK(h.reduction.targets_lately(h.now).empty());
  h.tree.parent = kRight;
  CHECK(h.local(sum_token(vnodes(50, 51), 1, 7)).size() == 1);  // itself, and no answers
}

TEST_CASE("[Saito08 G16 d] vnodes that contributed before they moved here are not waited for") {
  Harness h;
  h.reduction.on_arrived(VnodeId{51}, {{kId.target, kId.number + 1}});
  h.token(kLeft, sum_token(vnodes(60, 61), 2));
  h.token(kRight, sum_token(vnodes(70, 71), 3));

  const auto rest = vnodes(50, 50).united(vnodes(60, 61)).united(vnodes(70, 71));
  CHECK(h.local(sum_token(vnodes(50, 50), 1)) == sent(complete(sum_token(rest, 6))));
  h.local(sum_token(vnodes(50, 50), 1, 1));
  CHECK(h.reduction.held().size() == 1);  // to this one v51 contributes here
}

TEST_CASE("if only such vnodes are below, the parent is told that nothing will come") {
  Harness h;
  h.tree.children.clear();
  h.child_vnodes.clear();
  for (const VnodeId vnode : h.own.ids()) {
    h.reduction.on_arrived(vnode, {{kId.target, kId.number + 1}});
  }

  CHECK(h.local(nothing()) == Items{Box::Send{kParent, nothing()}});
}

TEST_CASE("under a new line everything begins anew, and what is left of the old one is dropped") {
  Harness h;
  h.token(kLeft, sum_token(vnodes(60, 61), 2, 0));
  h.local(sum_token(vnodes(50, 51), 2, 1));
  REQUIRE(h.reduction.held().size() == 2);
  Box out;
  h.reduction.on_line(3, out);
  h.reduction.on_line(2, out);

  CHECK(h.reduction.line() == 3);
  CHECK(h.reduction.held().empty());
  CHECK(h.reduction.held_bytes() == 0);
  CHECK(out.take() == Items{Box::Arm{kId, std::nullopt}, Box::Arm{{kId.target, 1}, std::nullopt}});
  CHECK(h.token(kLeft, sum_token(vnodes(60, 61), 2, 0)).empty());
  CHECK(h.reduction.held().empty());

  const auto of_line = [](ReductionToken token) {
    token.line = 3;
    return token;
  };
  h.token(kLeft, of_line(sum_token(vnodes(60, 61), 2, 0)));
  h.token(kRight, of_line(sum_token(vnodes(70, 71), 2, 0)));
  const Items passed = h.local(of_line(sum_token(vnodes(50, 51), 2, 0)));
  REQUIRE(!passed.empty());
  CHECK(passed.back() == Items::value_type{Box::Send{kParent, of_line(complete(everything()))}});
}

TEST_CASE("a reduction that was passed on under an old line is held again under the next") {
  Harness h;
  h.child_vnodes = {{}, {}};
  h.local(sum_token(vnodes(50, 51), 2, 0));
  CHECK(h.reduction.held().empty());
  Box out;
  h.reduction.on_line(1, out);
  ReductionToken half = sum_token(vnodes(50, 50), 1, 0);
  half.line = 1;

  h.local(half);

  CHECK(h.reduction.held().size() == 1);
}

TEST_CASE("a contribution to another operation under the same number goes on apart") {
  Harness h;
  h.local(sum_token(vnodes(50, 51), 1));
  ReductionToken other = sum_token(vnodes(60, 61), 2);
  other.kind.op = ReduceOp::kMax;

  CHECK(h.token(kLeft, other) ==
        Items{Reduction::Report{Anomaly{Anomaly::Kind::kOtherKind, kId, vnodes(60, 61)}},
              Reduction::Report{Reduction::ToTarget{other}}});
}

TEST_CASE("a value of the wrong size is reported and travels beside the sum") {
  Harness h;
  h.local(sum_token(vnodes(50, 51), 1));
  ReductionToken odd = sum_token(vnodes(60, 61), 2);
  odd.parts[0].value = Payload::copy_of("abc");
  CHECK(h.token(kLeft, odd) ==
        Items{Reduction::Report{Anomaly{Anomaly::Kind::kUnfitValue, kId, vnodes(60, 61)}}});

  ReductionToken all = complete(sum_token(vnodes(50, 51).united(vnodes(70, 71)), 4));
  all.parts.push_back(odd.parts[0]);
  CHECK(h.token(kRight, sum_token(vnodes(70, 71), 3)) == sent(all));
}

TEST_CASE("user-defined operators are bundled in vnode order, never combined") {
  Harness h;
  const auto user = [](std::uint64_t vnode, std::string_view text) {
    ReductionToken token;
    token.id = kId;
    token.kind = {ReduceOp::kUser, ReduceType::kBytes, true};
    token.parts.push_back({vnodes(vnode, vnode), Payload::copy_of(text)});
    return token;
  };
  h.own = vnodes(50, 50);
  h.child_vnodes = {vnodes(60, 60), vnodes(70, 70)};
  h.token(kRight, user(70, "c"));
  h.token(kLeft, user(60, "b"));

  ReductionToken bundle = complete(user(50, "a"));
  bundle.parts.push_back(user(60, "b").parts[0]);
  bundle.parts.push_back(user(70, "c").parts[0]);
  CHECK(h.local(user(50, "a")) == sent(bundle));
}

TEST_CASE("limits: too many or too large reductions are passed on at once, and stay exact") {
  Harness few({.held_max = 1});
  few.local(sum_token(vnodes(50, 50), 1));
  CHECK(few.local(sum_token(vnodes(50, 50), 1, 1)) ==
        Items{Box::Send{kParent, sum_token(vnodes(50, 50), 1, 1)}});

  Harness small({.held_bytes_max = 8});
  small.local(sum_token(vnodes(50, 50), 1));
  CHECK(small.local(sum_token(vnodes(51, 51), 1)).empty());  // combined: no larger than before
  CHECK(small.local(sum_token(vnodes(50, 50), 1, 1)).size() == 1);
}

TEST_CASE("limits: a reduction that was forgotten is held and passed on as a new one") {
  Harness h({.wait_min = 200ms, .targets_max = 1});
  h.tree.children.clear();
  h.child_vnodes.clear();
  ReductionToken other = sum_token(vnodes(50, 51), 1);
  other.id.target = VnodeId{9};
  h.local(sum_token(vnodes(50, 51), 1));
  h.local(other);

  CHECK(h.token(kLeft, sum_token(vnodes(60, 61), 2)) == armed(kStart + 200ms));
  h.now += 200ms;
  CHECK(h.timer() == Items{Box::Send{kParent, sum_token(vnodes(60, 61), 2)}});
}

TEST_SUITE_END();

}  // namespace phx::collectives::reduction_test
