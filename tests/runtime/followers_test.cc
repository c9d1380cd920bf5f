#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/endpoint/cast_outflows.h"
#include "runtime/endpoint/chase.h"
#include "runtime/vnodes/dropped_casts.h"
#include "tests/support/seeds.h"

namespace phx::runtime::followers_test {
namespace {

constexpr VnodeId v0{0};
constexpr std::uint64_t kWeight = 1'000;  // of each piece
constexpr InflowOptions kInflows{.unasked_bytes = 4 * kWeight, .cast_slack_bytes = 40 * kWeight};

VnodeSet vnodes(std::uint64_t first, std::uint64_t last) {
  return VnodeSet::range(VnodeId{first}, VnodeId{last});
}

/// A root and ten receivers, of which each takes what comes to it and has a window of 16 pieces.
struct Stream {
  static constexpr std::uint64_t kVnodes = 10;
  static constexpr std::uint64_t kWindow = 16;

  Stream() { casts.set_total(kVnodes); }
  ~Stream() { casts.check_invariants(); }

  void push(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      casts.push({v0, 0, 0, {}, false, Payload(Bytes(kWeight - kPieceOverhead))}, out);
    }
  }
  /// What has left reaches its receivers; those who take answer.
  void deliver() {
    for (const ToDaemon& one : std::exchange(out, {})) {
      const auto& copy = std::get<AppBroadcast>(one);
      if (collectives::is_question(copy.piece.purpose)) continue;
      (copy.is_direct ? direct : tree) += 1;
      for (const VnodeId id : copy.to.ids()) {
        pieces[id.value] += 1;
        have[id.value].insert(copy.piece.number);
      }
    }
    for (std::uint64_t v = 0; v < kVnodes; ++v) {
      if (!stopped.contains(v)) answer(v);
    }
  }
  void answer(std::uint64_t v) {
    std::uint64_t& next = received[v];
    while (have[v].contains(next)) ++next;
    casts.on_credit({v0, vnodes(v, v), next, (next + kWindow) * kWeight, {}}, out);
  }
  void run(std::size_t rounds, Duration each = 1ms) {
    for (std::size_t i = 0; i < rounds; ++i) {
      casts.on_time(now += each, out);
      deliver();
    }
  }
  [[nodiscard]] VnodeSet behind() const { return casts.out_of_step(v0); }

  CastOutflows casts{kInflows};
  CastOutflows::Copies out;
  Instant now;
  std::set<std::uint64_t> stopped;
  std::map<std::uint64_t, std::set<std::uint64_t>> have;
  std::map<std::uint64_t, std::uint64_t> received;
  std::map<std::uint64_t, std::uint64_t> pieces;  ///< That came, more than once if they did.
  std::size_t tree = 0;
  std::size_t direct = 0;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/followers");

TEST_CASE("many that fall behind together come back together, with one copy of each piece") {
  Stream stream;
  stream.stopped = {6, 7, 8, 9};
  stream.push(100);
  stream.run(30);
  REQUIRE(stream.behind() == vnodes(6, 9));
  REQUIRE(stream.received[0] == 100);
  stream.tree = stream.direct = 0;

  stream.stopped.clear();
  stream.run(60);

  CHECK(stream.behind().empty());
  for (std::uint64_t v = 0; v < Stream::kVnodes; ++v) CHECK(stream.received[v] == 100);
  CHECK(stream.direct == 0);
  CHECK(stream.tree <= 100);
  // What was lost, or only late, when they were put out of step came again: once.
  for (std::uint64_t v = 6; v < 10; ++v) CHECK(stream.pieces[v] <= 100 + 40 + Stream::kWindow);
}

TEST_CASE("whoever does not take holds up none of those that fell behind with it") {
  Stream stream;
  stream.stopped = {6, 7, 8, 9};
  stream.push(200);
  stream.run(30);
  REQUIRE(stream.behind() == vnodes(6, 9));

  stream.stopped = {6, 7, 8};  // three of four
  stream.run(100);

  CHECK(stream.received[9] == 200);
  CHECK(stream.behind() == vnodes(6, 8));
  stream.stopped.clear();
  stream.run(100);
  for (std::uint64_t v = 0; v < Stream::kVnodes; ++v) CHECK(stream.received[v] == 200);
}

TEST_CASE("little that is missing comes as one copy for all that are at the same position") {
  CastOutflows casts(kInflows);
  casts.set_total(10);
  CastOutflows::Copies out;
  const Payload payload(Bytes(kWeight - kPieceOverhead));
  for (int i = 0; i < 4; ++i) casts.push({v0, 0, 0, {}, false, payload}, out);
  out.clear();

  casts.on_credit({v0, vnodes(2, 3), 0, 0, 1}, out);
  casts.on_credit({v0, vnodes(4, 9), 4, 0, {}}, out);
  CHECK(out.size() == 3);  // pieces 1, 2, 3
  for (const ToDaemon& copy : out) {
    CHECK(!std::get<AppBroadcast>(copy).is_direct);
    CHECK(std::get<AppBroadcast>(copy).to == vnodes(2, 3));
  }
  CHECK(casts.out_of_step(v0).empty());  // all has left for them again
  casts.check_invariants();
}

TEST_CASE(
    "what is lost along the tree again and again comes directly, and then along it once more") {
  Stream stream;
  stream.push(12);
  stream.run(3);
  REQUIRE(stream.received[0] == 12);
  stream.push(4);
  stream.out.clear();  // lost by v2 to v9
  stream.casts.on_credit({v0, vnodes(0, 1), 16, 0, {}}, stream.out);
  const CastCredit lost{v0, vnodes(2, 9), 0, 0, 12, 16};
  std::size_t tries = 0;
  for (; stream.direct == 0 && tries < 10; ++tries) {
    stream.casts.on_credit(lost, stream.out);
    for (const ToDaemon& one : std::exchange(stream.out, {})) {
      stream.direct += std::get<AppBroadcast>(one).is_direct ? 1U : 0U;
    }
  }
  CHECK(tries == 4);
  CHECK(stream.direct == 4);  // one copy of each piece

  stream.casts.on_credit({v0, vnodes(0, 9), 16, 100 * kWeight, {}}, stream.out);
  stream.push(4);
  stream.out.clear();
  stream.casts.on_credit({v0, vnodes(0, 9), 0, 0, 16, 20}, stream.out);
  REQUIRE(stream.out.size() == 4);
  CHECK(!std::get<AppBroadcast>(stream.out.front()).is_direct);
}

TEST_CASE("what left before the trees changed comes once more, for those out of step alone") {
  Stream stream;
  stream.stopped = {8, 9};
  stream.push(60);
  stream.run(20);
  REQUIRE(stream.behind() == vnodes(8, 9));
  const auto before = stream.pieces;

  stream.casts.on_redrawn(stream.out);
  stream.run(1);

  // They have said nothing, so they have credit for what goes unasked.
  for (std::uint64_t v = 0; v < 8; ++v) CHECK(stream.pieces.at(v) == before.at(v));
  for (std::uint64_t v = 8; v < 10; ++v) CHECK(stream.pieces.at(v) == before.at(v) + 4);
  stream.casts.on_redrawn(stream.out);
  stream.run(1);
  for (std::uint64_t v = 8; v < 10; ++v) CHECK(stream.pieces.at(v) == before.at(v) + 8);
}

TEST_CASE("what is said to be dropped, and has come on another way, does not come again") {
  Stream stream;
  stream.push(20);
  stream.run(5);
  REQUIRE(stream.received[3] == 20);
  stream.push(4);
  stream.out.clear();

  stream.casts.on_credit({v0, vnodes(2, 4), 0, 0, 3, 9}, stream.out);
  CHECK(stream.out.empty());
  CHECK(stream.behind().empty());

  stream.casts.on_credit({v0, vnodes(2, 4), 0, 0, 3, 22}, stream.out);
  CHECK(stream.out.size() == 4);  // from what they have on
}

TEST_CASE("a stream waits for those that are as fast, at an eighth of their pace, and goes on") {
  constexpr std::uint64_t kStep = 1'000;
  Chase chase(kStep);
  Instant now;
  std::uint64_t ahead = 50'000;
  std::uint64_t behind = 0;
  chase.on_progress(now, ahead, behind);
  CHECK(!chase.is_on());
  chase.on_progress(now += 100ms, ahead += kStep, behind += kStep / 4);
  REQUIRE(chase.is_on());
  CHECK(!chase.allows(ahead + 1));

  std::uint64_t given = 0;
  while (behind < ahead) {
    REQUIRE(chase.is_on());
    behind += 100;
    chase.on_progress(now += 5ms, ahead, behind);
    for (; chase.allows(ahead) && behind < ahead; ++ahead) ++given;
  }
  CHECK(given <= behind / 8 + kStep);
  CHECK(given >= behind / 8 - kStep);
  chase.on_progress(now, ahead, {});
  CHECK(!chase.is_on());
}

TEST_CASE("a stream waits for nobody who is slow, and for others that stay slow in few trials") {
  constexpr std::uint64_t kStep = 1'000;
  // In a hundredth of a second the stream has 100, whether it waits or not; these have:
  for (const std::uint64_t theirs : {1U, 15U, 24U}) {
    CAPTURE(theirs);
    Chase chase(kStep);
    Instant now;
    std::uint64_t ahead = 0;
    std::uint64_t behind = 0;
    std::size_t trials = 0;
    Duration waited{};
    while (now < Instant{} + 100s) {
      const bool was_on = chase.is_on();
      chase.on_progress(now += 10ms, ahead += was_on ? 0 : 100, behind += theirs);
      if (was_on) waited += 10ms;
      if (!was_on && chase.is_on()) ++trials;
    }
    // After 1, 2, 4, ... 64, 64, 64 ... steps.
    CHECK(trials <= (theirs < 20 ? 0 : 7 + (1'000 - 127) / 64));
    CHECK(waited <= trials * 120ms);
    CHECK((theirs < 20 || trials >= 7));
  }
}

TEST_CASE("a stream that has reason to hope tries at once, and once only if that was in vain") {
  constexpr std::uint64_t kStep = 1'000;
  Chase chase(kStep);
  Instant now;
  for (std::uint64_t ahead = 0; ahead <= 2 * kStep; ahead += 100) {
    chase.on_progress(now += 10ms, ahead, {});
  }
  chase.on_hope();
  chase.on_progress(now, 2 * kStep, 0);
  CHECK(chase.is_on());
  for (int i = 0; i < 20 && chase.is_on(); ++i) chase.on_progress(now += 10ms, 2 * kStep, 0);
  CHECK(!chase.is_on());
  chase.on_hope();
  chase.on_progress(now += 10ms, 2 * kStep, 0);
  CHECK(!chase.is_on());
}

TEST_CASE("a root waits for those that catch up, so that all are in step again") {
  Stream stream;
  stream.push(4'000);
  stream.stopped = {6, 7, 8, 9};
  stream.run(12);
  REQUIRE(stream.behind() == vnodes(6, 9));
  stream.stopped.clear();
  bool has_waited = false;
  std::size_t rounds = 0;
  while (!stream.behind().empty() && ++rounds < 300) {
    stream.run(1);
    has_waited = has_waited || stream.casts.is_waiting();
  }
  CHECK(has_waited);
  CHECK(stream.behind().empty());
  CHECK(stream.received[0] < 4'000);  // before the end of the stream
  CHECK(!stream.casts.is_waiting());
}

TEST_CASE("what was dropped is remembered by vnode, each with its own first and last number") {
  DroppedCasts dropped;
  const auto drop = [&](std::uint64_t number, const VnodeSet& of) {
    dropped.add({v0, number, 0, {}, false, {}}, of);
  };
  drop(700, vnodes(1, 5));
  drop(30, vnodes(3, 3));
  drop(701, vnodes(1, 7));
  const std::vector<CastCredit> told = dropped.take(vnodes(0, 9));
  const VnodeSet rest = vnodes(1, 5).minus(vnodes(3, 3));
  CHECK(told == std::vector<CastCredit>{{v0, vnodes(3, 3), 0, 0, 30, 702},
                                        {v0, rest, 0, 0, 700, 702},
                                        {v0, vnodes(6, 7), 0, 0, 701, 702}});
  CHECK(dropped.empty());
}

TEST_CASE("limits: dropped pieces of whatever numbers are few entries, and none is forgotten") {
  for (std::uint64_t seed = 0; seed < support::seeds(50); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    DroppedCasts dropped;
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> lost;  // first, last
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t number = rng.below(1'000);
      const std::uint64_t first = rng.below(40);
      const std::uint64_t last = first + rng.below(10);
      dropped.add({v0, number, 0, {}, false, {}}, vnodes(first, last));
      for (std::uint64_t v = first; v <= last; ++v) {
        const auto at = lost.try_emplace(v, number, number).first;
        at->second.first = std::min(at->second.first, number);
        at->second.second = std::max(at->second.second, number);
      }
    }
    const std::vector<CastCredit> told = dropped.take(vnodes(0, 99));
    CHECK(told.size() <= DroppedCasts::kNumbersMost);
    std::size_t vnodes_told = 0;
    for (const CastCredit& one : told) {
      vnodes_told += one.vnodes.size();
      for (const VnodeId v : one.vnodes.ids()) {
        CHECK(*one.again <= lost.at(v.value).first);
        CHECK(*one.until > lost.at(v.value).second);
      }
    }
    CHECK(vnodes_told == lost.size());
  }
}

TEST_SUITE_END();

}  // namespace phx::runtime::followers_test
