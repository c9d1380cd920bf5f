#include "runtime/jobs/job_traffic.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/job_items.h"

namespace phx::runtime::job_traffic_test {
namespace {

constexpr ProcessorId kSelf{1}, kOther{2}, kThird{3};
constexpr JobId kJob{7};
constexpr ApplicationId kApp{3};
constexpr TreeId kTree{kOther, TreeKind::kLatency};
constexpr VnodeId kTarget{11};

VnodeSet range(std::uint64_t first, std::uint64_t last) {
  return VnodeSet::range(VnodeId{first}, VnodeId{last});
}

/// A job of 12 vnodes: 0-5 are here, 6-11 at kOther, in whose tree this processor is a leaf.
struct Harness {
  Harness() : traffic(kSelf, start(), {}) {
    trees.put({kTree, kOther, {}, 1, 1ms});
    traffic.on_attached(around(), kApp, out);
    static_cast<void>(out.take());
  }
  static JobStart start() {
    JobStart start;
    start.job = kJob;
    start.spec.vnodes = 12;
    start.home = kSelf;
    start.processors = {kSelf, kOther};
    return start;
  }
  [[nodiscard]] Surroundings around() const {
    return {now, trees, view, members, members, kSelf, false};
  }
  /// Everything sent to processors since the last call.
  template <class M>
  std::vector<std::pair<ProcessorId, M>> sent() {
    return support::sent<M>(out.take());
  }

  Instant now{};
  ProcessorSet members{kSelf, kOther};
  View view;
  overlay::TreeStore trees;
  JobTraffic traffic;
  JobOutbox out;
};

collectives::ReductionToken token(const VnodeSet& covered, std::uint64_t number) {
  const std::int64_t value = 1;
  const Payload bytes = Payload::copy_of(std::as_bytes(std::span(&value, 1)));
  return {{kTarget, number}, {}, {{covered, bytes}}, false};
}

}  // namespace

TEST_SUITE_BEGIN("runtime/job_traffic");

TEST_CASE("[Saito08 G16 d] a vnode that gave elsewhere before it moved in is not waited for here") {
  Harness h;
  VnodeParcel parcel{VnodeId{7}, 2, {}};
  parcel.bundle.reductions[kTarget] = 5;
  h.traffic.on_message(h.around(), kOther, Migrate{kJob, {parcel}}, h.out);
  CHECK(h.sent<CollectiveMessage>().empty());  // v0-v5 have yet to contribute to number 4

  h.traffic.on_app(h.around(), AppContribute{token(range(0, 5), 4)}, h.out);
  CHECK(h.sent<CollectiveMessage>().size() == 1);
  h.traffic.on_app(h.around(), AppContribute{token(range(0, 5), 5)}, h.out);
  CHECK(h.sent<CollectiveMessage>().empty());  // to this one it contributes here
}

TEST_CASE("[Saito08 G16 d] if nobody else is here, the parent hears of it at once") {
  Harness h;
  AppReleased all{0, {}};
  for (const VnodeId vnode : range(0, 5).ids()) all.vnodes.push_back({vnode, {}});
  h.traffic.on_app(h.around(), std::move(all), h.out);
  static_cast<void>(h.out.take());
  h.traffic.on_message(h.around(), kOther, Routes{kJob, {{range(0, 5), kOther, 2}}}, h.out);
  VnodeParcel parcel{VnodeId{6}, 2, {}};
  parcel.bundle.reductions[kTarget] = 3;

  h.traffic.on_message(h.around(), kOther, Migrate{kJob, {parcel}}, h.out);

  const auto said = h.sent<CollectiveMessage>();
  REQUIRE(said.size() == 1);
  CHECK(said[0].first == kOther);
  CHECK(said[0].second.message ==
        collectives::Message{collectives::ReductionToken{{kTarget, 2}, {}, {}, true}});
}

TEST_CASE(
    "what a home gives back to report it waits for the next one, and goes to and fro with none") {
  Harness h;
  h.members.insert(kThird);
  h.traffic.on_home(h.around(), kOther, h.out);
  static_cast<void>(h.out.take());
  const Routes moved{kJob, {{range(6, 8), kThird, 2}}, /*pass_on=*/true};
  h.traffic.on_message(h.around(), kThird, moved, h.out);
  auto said = h.sent<Routes>();
  REQUIRE(said.size() == 1);
  CHECK(said[0].first == kOther);
  h.traffic.on_message(h.around(), kOther, moved, h.out);
  CHECK(h.sent<Routes>().empty());

  h.traffic.on_home(h.around(), kThird, h.out);
  said = h.sent<Routes>();
  REQUIRE(said.size() == 1);
  CHECK(said[0].first == kThird);
  VnodeSet told;
  for (const Route& route : said[0].second.routes) told = told.united(route.vnodes);
  CHECK(told == range(0, 8));  // Its own, and those.
}

TEST_CASE("when the time of a reduction is up, what is there is passed on") {
  Harness h;
  h.traffic.on_app(h.around(), AppContribute{token(range(0, 3), 0)}, h.out);
  CHECK(h.sent<CollectiveMessage>().empty());  // v4 and v5 are waited for
  const JobTimer timer{JobTimer::Kind::kReduction, kJob, {kTarget, 0}};

  h.traffic.on_timer(h.around(), timer, h.out);
  CHECK(h.sent<CollectiveMessage>().empty());  // too early
  h.now += 2s;
  h.traffic.on_timer(h.around(), timer, h.out);

  const auto passed = h.sent<CollectiveMessage>();
  REQUIRE(passed.size() == 1);
  CHECK(passed[0].first == kOther);
  CHECK(passed[0].second.message == collectives::Message{token(range(0, 3), 0)});
}

TEST_CASE("nothing is held for long if its target's process has ended: a leaver would never go") {
  Harness h;
  h.trees.put({kTree, kOther, {{kThird, {kThird}}}, 1, 1ms});
  h.members.insert(kThird);
  collectives::ReductionToken nothing{{kTarget, 4}, {}, {}, false};
  h.traffic.on_message(h.around(), kThird, CollectiveMessage{kJob, nothing}, h.out);
  const JobTimer timer{JobTimer::Kind::kReduction, kJob, nothing.id};
  const auto is_armed = [&](const JobTimer& asked) { return asked == timer; };
  h.traffic.check_invariants(is_armed, {});
  CHECK(h.traffic.waiting(h.around()).empty());  // it does not leave

  h.traffic.on_message(h.around(), kOther, Routes{kJob, {{range(6, 11), kNobody, 3}}}, h.out);
  h.now += 2s;
  h.traffic.on_timer(h.around(), timer, h.out);

  h.traffic.check_invariants([](const JobTimer&) { return false; }, {});
}

TEST_CASE("who leaves, and holds none of the vnodes, says which reductions it waits for") {
  Harness h;
  JobTraffic third(kThird, Harness::start(), {});
  h.members.insert(kThird);
  h.trees.put({kTree, kOther, {{kSelf, {kSelf}}}, 1, 1ms});
  const auto around = [&](bool leaving) {
    return Surroundings{h.now, h.trees, h.view, h.members, h.members, kSelf, leaving};
  };
  const collectives::ReductionToken nothing{{kTarget, 4}, {}, {}, false};
  third.on_message(around(false), kThird, CollectiveMessage{kJob, nothing}, h.out);

  CHECK(third.waiting(around(false)) == "");
  CHECK(third.waiting(around(true)) == "reductions that pass here, to go on: 1");
  h.now += 2s;
  third.on_timer(around(true), {JobTimer::Kind::kReduction, kJob, nothing.id}, h.out);
  CHECK(third.waiting(around(true)) == "");
}

TEST_CASE("tokens of an old line are dropped, those of a later one wait until its death is known") {
  Harness h;
  h.traffic.on_app(h.around(), AppContribute{token(range(0, 3), 0)}, h.out);
  collectives::ReductionToken rest = token(range(4, 5), 0);
  rest.line = 2;
  collectives::ReductionToken for_target = token(range(0, 0), 1);
  for_target.id.target = VnodeId{3};
  for_target.line = 2;
  h.traffic.on_message(h.around(), kOther, CollectiveMessage{kJob, rest}, h.out);
  h.traffic.on_message(h.around(), kOther, VnodeMessage{kJob, 0, for_target}, h.out);
  CHECK(h.sent<CollectiveMessage>().empty());
  CHECK(h.traffic.router().undelivered_bytes() == 0);
  CHECK_FALSE(h.traffic.is_empty());

  h.view.line = 2;
  h.traffic.on_line(h.around(), h.out);
  h.traffic.on_line(h.around(), h.out);
  const auto items = h.out.take();
  CHECK(support::handed<AppRepair>(items) == std::vector<AppRepair>{{2}});
  CHECK(support::sent<CollectiveMessage>(items).empty());
  CHECK(h.traffic.router().undelivered_bytes() > 0);  // the one for v3

  h.traffic.on_app(h.around(), AppContribute{token(range(0, 3), 0)}, h.out);  // crossed AppRepair
  CHECK(h.sent<CollectiveMessage>().empty());
  collectives::ReductionToken again = token(range(0, 3), 0);
  again.line = 2;
  h.traffic.on_app(h.around(), AppContribute{again}, h.out);
  const auto passed = h.sent<CollectiveMessage>();
  REQUIRE(passed.size() == 1);
  const auto& whole = std::get<collectives::ReductionToken>(passed[0].second.message);
  CHECK(whole.line == 2);
  CHECK(whole.parts.at(0).covered == range(0, 5));
}

TEST_CASE("limits: tokens of lines that nobody here has heard of have their place in memory") {
  Harness h;
  collectives::ReductionToken ahead = token(range(6, 6), 0);
  ahead.line = 9;
  ahead.parts[0].value = Payload(Bytes(std::size_t{1} << 20U));
  for (std::uint64_t n = 0; h.traffic.limit_reached().empty(); ++n) {
    REQUIRE(n < 10'000);
    ahead.id.number = n;
    h.traffic.on_message(h.around(), kOther, CollectiveMessage{kJob, ahead}, h.out);
  }
  CHECK(h.traffic.limit_reached().find(" MiB wait at p1 ") != std::string::npos);
}

TEST_CASE("a vnode that comes from an older line gives again here, so it is waited for") {
  Harness h;
  h.view.line = 1;
  h.traffic.on_line(h.around(), h.out);
  VnodeParcel parcel{VnodeId{7}, 2, {}};
  parcel.bundle.reductions[kTarget] = 5;
  parcel.bundle.to_targets[kTarget] = {4, 5, 0, {{{}, {}}}};
  h.traffic.on_message(h.around(), kOther, Migrate{kJob, {parcel}}, h.out);
  static_cast<void>(h.out.take());
  collectives::ReductionToken own = token(range(0, 5), 4);
  own.line = 1;
  h.traffic.on_app(h.around(), AppContribute{own}, h.out);
  CHECK(h.sent<CollectiveMessage>().empty());

  collectives::ReductionToken moved = token(range(7, 7), 4);
  moved.line = 1;
  h.traffic.on_app(h.around(), AppContribute{moved}, h.out);
  CHECK(h.sent<CollectiveMessage>().size() == 1);
}

TEST_CASE("limits: a vnode that is too large to move ends the job with a sentence") {
  Harness h;
  Message message;
  message.payload = Payload(Bytes(std::size_t{1} << 20U));
  AppReleased released{0, {{VnodeId{3}, {}}, {VnodeId{4}, {}}}};
  released.vnodes[1].second.mailbox.assign(70'000, message);
  CHECK(h.traffic.limit_reached().empty());

  h.traffic.on_app(h.around(), std::move(released), h.out);

  CHECK(h.traffic.limit_reached().find("v4 cannot move: its state and messages take 70000 MiB") ==
        0);
  CHECK(h.traffic.router().held() == range(0, 5));  // nothing was taken away
}

TEST_CASE("vnodes that get a broadcast by its tree are counted, and those that no tree leads to") {
  Harness h;
  collectives::TreeCopy copy;
  copy.tree = kTree;
  copy.hops_left = 3;
  copy.vnodes = range(3, 7);  // 3-5 are here; to 6-7, at its root, no edge leads down
  copy.piece.root = kTarget;
  h.traffic.on_message(h.around(), kOther, CollectiveMessage{kJob, copy}, h.out);
  CHECK(h.traffic.counters().along_trees == 3);
  CHECK(h.traffic.counters().past_trees == 2);

  AppBroadcast direct;
  direct.is_direct = true;
  direct.to = range(8, 11);
  h.traffic.on_app(h.around(), direct, h.out);
  copy.piece.purpose = collectives::Purpose::kQuestion;  // brings nothing to a program
  h.traffic.on_message(h.around(), kOther, CollectiveMessage{kJob, copy}, h.out);
  CHECK(h.traffic.counters().along_trees == 3);
  CHECK(h.traffic.counters().past_trees == 6);
}

TEST_CASE("what is for vnodes that the job does not have is counted, and the rest is served") {
  Harness h;
  collectives::TreeCopy copy;
  copy.tree = kTree;
  copy.vnodes = range(5, 5).united(range(12, 20));
  h.traffic.on_message(h.around(), kOther, CollectiveMessage{kJob, copy}, h.out);
  CHECK(h.traffic.counters().dropped == 1);
  CHECK(h.traffic.router().undelivered_bytes() > 0);

  collectives::FallbackCopy fallback;
  fallback.mine = {{range(12, 12), 1}};
  h.traffic.on_message(h.around(), kOther, CollectiveMessage{kJob, fallback}, h.out);
  CHECK(h.traffic.counters().dropped == 2);

  collectives::ReductionToken strange = token(range(0, 5), 0);
  strange.id.target = VnodeId{12};
  h.traffic.on_message(h.around(), kOther, CollectiveMessage{kJob, strange}, h.out);
  CHECK(h.traffic.counters().dropped == 3);
  h.traffic.on_message(h.around(), kOther, VnodeMessage{kJob, 0, strange}, h.out);
  CHECK(h.traffic.counters().dropped == 4);

  copy.vnodes = range(5, 5);
  h.traffic.on_message(h.around(), kOther, CollectiveMessage{kJob, copy}, h.out);
  CHECK(h.traffic.counters().dropped == 4);
}

TEST_CASE(
    "assuming vnodes that the job does not have is refused with the reason, the rest goes on") {
  Harness h;
  h.traffic.on_app(h.around(), AppAssume{range(11, 14)}, h.out);

  const auto items = h.out.take();
  const auto refusals = support::handed<AppRefused>(items);
  const auto pulls = support::sent<Pull>(items);
  CHECK(refusals == std::vector<AppRefused>{{range(12, 14), "the job has 12 vnodes"}});
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0].second.exactly == range(11, 11));
}

TEST_SUITE_END();

}  // namespace phx::runtime::job_traffic_test
