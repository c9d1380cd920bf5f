#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/endpoint/cast_inflows.h"
#include "runtime/endpoint/endpoint.h"
#include "tests/support/seeds.h"

namespace phx::runtime::casts_test {
namespace {

constexpr VnodeId v0{0};
constexpr std::size_t kPiece = 936;  // weighs 1,000
constexpr InflowOptions kInflows{.unasked_bytes = 4'000,
                                 .window_free = 0,
                                 .window_max = 64'000,
                                 .inbox_bytes = 256'000,
                                 .inbox_bytes_max = 400'000,
                                 .cast_window_max = 16'000,
                                 .cast_slack_bytes = 16'000};

Payload bytes(std::size_t size) {
  return Payload(Bytes(size));
}

VnodeSet vnodes(std::uint64_t first, std::uint64_t last) {
  return VnodeSet::range(VnodeId{first}, VnodeId{last});
}

/// Processes that hold the vnodes of a job, the first one v0, and what carries their messages: at
/// once, and to whoever holds the vnode.
struct Mesh {
  struct Process {
    Endpoint endpoint;
    std::uint64_t delivered = 0;
    bool takes = true;
    std::size_t taken = 0;
    std::size_t copies = 0;  ///< That came.
  };

  /// `each` vnodes in every process.
  Mesh(std::size_t processes, std::uint64_t each, const EndpointConfig& config) : each_(each) {
    for (std::size_t i = 0; i < processes; ++i) {
      processes_.push_back({Endpoint(config)});
      Endpoint& endpoint = processes_.back().endpoint;
      endpoint.on_message(AppAttached{JobId{1}, ProcessorId{1}, processes * each, "", 0});
      AppGrant grant;
      for (const VnodeId v : held(i).ids()) grant.parcels.push_back({v, 1, {}});
      endpoint.on_message(std::move(grant));
      pass_safe_point(i);
    }
  }
  explicit Mesh(std::size_t processes, std::uint64_t each = 1, std::uint64_t outbox = 1'000'000)
      : Mesh(processes, each,
             {.piece_bytes = kPiece, .outbox_bytes_max = outbox, .inflows = kInflows}) {}
  ~Mesh() {
    for (Process& process : processes_) process.endpoint.check_invariants();
  }

  Process& operator[](std::size_t i) { return processes_[i]; }
  Endpoint& root() { return processes_[0].endpoint; }
  [[nodiscard]] VnodeSet held(std::size_t i) const {
    return vnodes(i * each_, (i + 1) * each_ - 1);
  }
  void pass_safe_point(std::size_t i) {
    static_cast<void>(processes_[i].endpoint.begin_safe_point(processes_[i].endpoint.due()));
    processes_[i].endpoint.finish_safe_point({});
  }

  [[nodiscard]] bool cast(std::size_t size = kPiece) {
    if (!root().broadcast(v0, 0, bytes(size)).ok()) return false;
    ++casts;
    return true;
  }
  void deliver(Process& to, Delivery delivery) {
    to.endpoint.on_message(AppDeliver{++to.delivered, std::move(delivery)});
  }
  /// Carries what all have to say. False: nobody had anything.
  bool carry() {
    bool any = false;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      for (ToDaemon& output : processes_[i].endpoint.take_outputs()) {
        if (auto* m = std::get_if<AppBroadcast>(&output)) any = spread(*m) || any;
        if (auto* flow = std::get_if<AppFlow>(&output)) any = credit(*flow) || any;
      }
    }
    return any;
  }
  bool spread(const AppBroadcast& m) {
    const bool is_question = collectives::is_question(m.piece.purpose);
    (is_question ? questions : m.is_direct ? direct : tree) += 1;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      const VnodeSet here = m.to.common(held(i));
      if (here.empty() || (loses && loses(i, m))) continue;
      if (!is_question) ++processes_[i].copies;
      deliver(processes_[i], BroadcastDelivery{here, m.piece});
    }
    return true;
  }
  bool credit(const AppFlow& flow) {
    const auto* said = std::get_if<CastCredit>(&flow.message);
    if (said == nullptr) return false;
    ++credits;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      if (held(i).contains(said->root)) deliver(processes_[i], *said);
    }
    return true;
  }
  /// Whether there was something.
  bool take(std::size_t i) {
    const std::size_t before = processes_[i].taken;
    while (processes_[i].endpoint.take({})) ++processes_[i].taken;
    return processes_[i].taken > before;
  }
  /// Until nobody has anything to say, or to take.
  void settle() {
    for (bool any = true; any;) {
      any = carry();
      for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (processes_[i].takes) any = take(i) || any;
      }
    }
  }
  [[nodiscard]] bool has_all(std::size_t i) const {
    return processes_[i].taken == casts * static_cast<std::size_t>(each_);
  }

  std::function<bool(std::size_t, const AppBroadcast&)> loses;
  std::size_t casts = 0;
  std::size_t tree = 0;
  std::size_t direct = 0;
  std::size_t questions = 0;
  std::size_t credits = 0;  ///< That left their process.

 private:
  std::uint64_t each_;
  std::vector<Process> processes_;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/casts");

TEST_CASE("a short broadcast is one copy, and nobody answers") {
  Mesh mesh(8, 4);

  REQUIRE(mesh.cast(1));
  mesh.settle();

  CHECK(mesh.tree == 1);
  CHECK(mesh.direct + mesh.questions + mesh.credits == 0);
  for (std::size_t i = 0; i < 8; ++i) CHECK(mesh.has_all(i));
}

TEST_CASE("who takes gets all by the tree, at a credit per process and half of a window") {
  constexpr std::size_t kProcesses = 8;
  constexpr std::size_t kCasts = 2'000;
  Mesh mesh(kProcesses, 4);

  while (mesh.casts < kCasts) {
    if (!mesh.cast()) mesh.settle();
  }
  mesh.settle();

  for (std::size_t i = 0; i < kProcesses; ++i) CHECK(mesh.has_all(i));
  CHECK(mesh.tree == kCasts);
  CHECK(mesh.direct == 0);
  // Windows of 4 and 8 pieces on the way to 16; each half is a credit of each other process.
  CHECK(mesh.credits <= (kProcesses - 1) * (kCasts / 8 + 10));
  CHECK(mesh.root().casts().kept_bytes() <= 16'000);
}

TEST_CASE("who does not take slows nobody, and gets everything in the end") {
  Mesh mesh(4, 2);
  mesh[3].takes = false;

  for (int i = 0; i < 500; ++i) {
    REQUIRE(mesh.cast());
    mesh.settle();
  }

  for (const std::size_t i : {0U, 1U, 2U}) CHECK(mesh.has_all(i));
  CHECK(mesh.root().casts().out_of_step(v0) == mesh.held(3));
  // What had not left for it when it was put out of step waits at the root; that it had room for
  // came once more.
  CHECK(mesh[3].copies * 1'000 <= 2 * kInflows.unasked_bytes + kInflows.cast_slack_bytes + 1'000);
  CHECK(mesh[3].endpoint.inbox_bytes() <= 22'000);
  CHECK(mesh.direct == 0);

  mesh[3].takes = true;
  mesh.settle();

  CHECK(mesh.has_all(3));
  CHECK(mesh.root().casts().out_of_step(v0).empty());
  const std::size_t direct = mesh.direct;
  for (int i = 0; i < 50; ++i) {
    REQUIRE(mesh.cast());
    mesh.settle();
  }
  CHECK(mesh.direct == direct);
  CHECK(mesh.has_all(3));
}

TEST_CASE("out of step ten times, and back") {
  Mesh mesh(4);
  for (int round = 0; round < 10; ++round) {
    mesh[2].takes = false;
    for (int i = 0; i < 60; ++i) {
      REQUIRE(mesh.cast());
      mesh.settle();
    }
    CHECK(mesh.root().casts().out_of_step(v0) == mesh.held(2));
    mesh[2].takes = true;
    mesh.settle();
    CHECK(mesh.root().casts().out_of_step(v0).empty());
    CHECK(mesh.has_all(2));
  }
  CHECK(mesh.has_all(3));
}

TEST_CASE("half of the vnodes set the pace: what they do not take stays at the root") {
  Mesh mesh(5);
  for (const std::size_t i : {2U, 3U, 4U}) mesh[i].takes = false;

  for (int i = 0; i < 100; ++i) REQUIRE(mesh.cast());
  mesh.settle();

  CHECK(mesh.tree == 4);  // as much as goes unasked
  CHECK(mesh.root().casts().kept_bytes() == 100'000);
  for (const std::size_t i : {2U, 3U, 4U}) mesh[i].takes = true;
  mesh.settle();
  for (std::size_t i = 0; i < 5; ++i) CHECK(mesh.has_all(i));
}

TEST_CASE("what was lost is asked for after a death, and only that comes again") {
  Mesh mesh(6);
  mesh.loses = [](std::size_t i, const AppBroadcast& m) {
    return i >= 4 && m.piece.number == 2 && !m.is_direct;
  };
  for (int i = 0; i < 4; ++i) REQUIRE(mesh.cast());
  mesh.settle();
  CHECK(mesh[4].taken == 2);

  mesh.root().on_message(AppRepair{});
  mesh.settle();

  CHECK(mesh.questions == 1);
  CHECK(mesh.direct == 4);  // pieces 2 and 3, for each of the two that miss them
  for (std::size_t i = 0; i < 6; ++i) CHECK(mesh.has_all(i));
  mesh.root().close();
  mesh.settle();
  CHECK(mesh.root().is_settled());
}

TEST_CASE("at its limit a root asks for what it keeps now, also if that is as much as before") {
  Mesh mesh(2, 1, 1'500);
  for (std::size_t round = 1; round <= 3; ++round) {
    CAPTURE(round);
    REQUIRE(mesh.cast());
    CHECK(!mesh.cast());
    CHECK(!mesh.cast());  // asks no more
    mesh.settle();
    CHECK(mesh.questions == round);
    CHECK(mesh.root().casts().kept_bytes() == 0);
  }
}

TEST_CASE("a root asks once, and hears at once, and once more when all has come") {
  Mesh mesh(3, 2);
  mesh.loses = [](std::size_t i, const AppBroadcast& m) {
    return i == 2 && !collectives::is_question(m.piece.purpose);
  };
  REQUIRE(mesh.cast());
  mesh.carry();
  mesh.root().close();
  mesh.settle();
  CHECK(mesh.questions == 1);
  const std::size_t credits = mesh.credits;
  CHECK(mesh.root().casts().kept_bytes() == 1'000);

  mesh.loses = nullptr;
  mesh.deliver(mesh[2], BroadcastDelivery{mesh.held(2), {v0, 0, 0, {}, false, bytes(kPiece)}});
  mesh.settle();

  CHECK(mesh.questions == 1);
  CHECK(mesh.credits == credits + 1);  // for both vnodes
  CHECK(mesh.root().casts().kept_bytes() == 0);
}

// As the last vote at a safe point, which completes at a process that has left the loop already.
TEST_CASE("a root that is done asks about what it has to tell after that, too") {
  Mesh mesh(3, 2);
  mesh.root().close();
  mesh.settle();
  CHECK(mesh.questions == 0);
  REQUIRE(mesh.root().announce(v0, 0, bytes(8)).ok());
  mesh.settle();
  mesh[1].endpoint.close();
  mesh[2].endpoint.close();
  mesh.settle();
  CHECK(mesh.root().is_settled());
  CHECK(mesh.questions == 1);
}

TEST_CASE("all vnodes of a process share what waits: it counts once") {
  Mesh mesh(2, 64);
  mesh[1].takes = false;
  REQUIRE(mesh.cast());
  REQUIRE(mesh.cast(3 * kPiece));
  mesh.carry();

  CHECK(mesh[1].endpoint.inbox_bytes() == 4 * kPiece + 2 * 64 * 64);
  CHECK(mesh.take(1));
  CHECK(mesh[1].endpoint.inbox_bytes() == 0);
}

TEST_CASE(
    "a broadcast is refused at the limit, and goes on when the receivers have taken something") {
  Mesh mesh(2, 1, /*outbox=*/10'000);
  mesh[0].takes = mesh[1].takes = false;
  while (mesh.cast()) {
  }
  CHECK(mesh.casts == 10);
  const Status refused = mesh.root().broadcast(v0, 0, bytes(kPiece));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error() ==
        Error{ErrorCode::kLimit, "v0 has not taken 10 KiB of broadcasts from v0"});

  mesh[0].takes = mesh[1].takes = true;
  mesh.settle();

  CHECK(mesh.cast(50'000));  // whatever its size, when nothing else waits
  mesh.settle();
  CHECK(mesh.has_all(1));
}

TEST_CASE("a program that has ended takes nothing: the roots forget what they kept for it") {
  Mesh mesh(3);
  mesh[2].takes = false;
  for (int i = 0; i < 40; ++i) {
    REQUIRE(mesh.cast());
    mesh.settle();
  }
  CHECK(mesh.root().casts().out_of_step(v0) == mesh.held(2));

  mesh[2].endpoint.close();
  mesh.settle();

  CHECK(mesh.root().casts().out_of_step(v0).empty());
  mesh.root().close();
  mesh.settle();
  CHECK(mesh.root().is_settled());
}

TEST_CASE("the result of an allreduce comes though broadcasts of its root fill the window") {
  Mesh mesh(2);
  mesh[1].takes = false;
  for (int i = 0; i < 60; ++i) REQUIRE(mesh.cast());
  REQUIRE(mesh.root().announce(v0, 0, bytes(8)).ok());
  mesh.settle();
  const Endpoint::Selector wanted{.at = VnodeId{1}, .kind = Message::Kind::kAllreduced};

  int looks = 0;
  while (mesh[1].endpoint.count(wanted) == 0 && ++looks < 100) {
    REQUIRE(mesh[1].endpoint.want(wanted).ok());
    mesh.settle();
  }

  CHECK(looks < 50);
  CHECK(mesh[1].endpoint.take(wanted));
}

TEST_CASE("what comes ahead of a missing piece fills half of the room at most, and comes again") {
  InflowOptions small = kInflows;
  small.unasked_bytes = 40'000;
  small.inbox_bytes = 20'000;
  Mesh mesh(4, 1, {.piece_bytes = kPiece, .inflows = small});
  bool is_lost = false;
  mesh.loses = [&](std::size_t i, const AppBroadcast& m) {
    return i == 3 && m.piece.number == 0 && !std::exchange(is_lost, true);
  };
  for (int i = 0; i < 30; ++i) REQUIRE(mesh.cast());
  mesh.settle();
  CHECK(mesh[3].taken == 0);
  CHECK(mesh[3].endpoint.inbox_bytes() <= small.inbox_bytes / 2);

  mesh.deliver(mesh[0], CastCredit{v0, mesh.held(3), 0, 0, 0});  // whoever lost it says so
  mesh.settle();

  CHECK(mesh.has_all(3));
}

TEST_CASE(
    "a vnode that leaves a process which has refused a piece for it: the root hears of that") {
  InflowOptions small = kInflows;
  small.inbox_bytes = 1'500;
  Endpoint sink({.piece_bytes = kPiece, .inflows = small});
  sink.on_message(AppAttached{JobId{1}, ProcessorId{1}, 4, "", 0});
  sink.on_message(AppGrant{{{VnodeId{3}, 1, {}}}});
  static_cast<void>(sink.begin_safe_point(sink.due()));
  sink.finish_safe_point({});
  std::uint64_t seq = 0;
  for (const VnodeId root : {VnodeId{0}, VnodeId{1}, VnodeId{2}}) {  // the third one does not fit
    sink.on_message(
        AppDeliver{++seq, BroadcastDelivery{vnodes(3, 3), {root, 0, 0, {}, false, bytes(kPiece)}}});
  }
  static_cast<void>(sink.take_outputs());

  sink.on_message(AppRelease{vnodes(3, 3)});
  static_cast<void>(sink.begin_safe_point(sink.due()));
  sink.finish_safe_point({});

  std::vector<CastCredit> credits;
  for (const ToDaemon& output : sink.take_outputs()) {
    const auto* flow = std::get_if<AppFlow>(&output);
    if (flow != nullptr) credits.push_back(std::get<CastCredit>(flow->message));
  }
  REQUIRE(credits.size() == 1);
  CHECK(credits[0].root == VnodeId{2});
  CHECK(credits[0].again == 0);
}

TEST_CASE(
    "a vnode without a past comes to a process that was granted more: the root hears of that") {
  Endpoint sink({.piece_bytes = kPiece, .inflows = kInflows});
  sink.on_message(AppAttached{JobId{1}, ProcessorId{1}, 2, "", 0});
  sink.on_message(AppGrant{{{VnodeId{0}, 1, {}}}});
  static_cast<void>(sink.begin_safe_point(sink.due()));
  sink.finish_safe_point({});
  std::uint64_t seq = 0;
  const auto piece = [&](std::uint64_t number) {
    return collectives::BroadcastPiece{VnodeId{5}, number, 0, {}, 0, bytes(kPiece)};
  };
  for (std::uint64_t n = 0; n < 4; ++n) {
    sink.on_message(AppDeliver{++seq, BroadcastDelivery{vnodes(0, 0), piece(n)}});
    CHECK(sink.take({}));
  }
  static_cast<void>(sink.take_outputs());

  sink.on_message(AppGrant{{{VnodeId{1}, 1, {}}}});
  sink.on_message(AppDeliver{++seq, BroadcastDelivery{vnodes(1, 1), piece(0)}});

  bool has_heard = false;
  for (const ToDaemon& output : sink.take_outputs()) {
    const auto* flow = std::get_if<AppFlow>(&output);
    const auto* credit = flow == nullptr ? nullptr : std::get_if<CastCredit>(&flow->message);
    if (credit == nullptr || !credit->vnodes.contains(VnodeId{1})) continue;
    has_heard = credit->received == 1 && credit->limit > kInflows.unasked_bytes;
  }
  CHECK(has_heard);
}

/// A piece of `root` comes to the only vnode of a process. Whether it was let in.
struct Receiver {
  bool comes(VnodeId root, std::uint64_t waiting, bool is_last = false) {
    CastInflows::Stream& stream = streams[root];
    collectives::BroadcastPiece piece;
    piece.root = root;
    piece.number = stream.next;
    piece.payload = bytes(kPiece);
    if (!casts.admits(piece, true, {.all = waiting})) return false;
    ++stream.next;
    stream.offset += 1'000;
    stream.begun.assign(is_last ? 0 : 1, piece.payload);
    casts.on_piece(root, stream, 0);
    return true;
  }
  CastInflows casts{kInflows};
  std::map<VnodeId, CastInflows::Stream> streams;
};

TEST_CASE("beyond the room there is the root with the lowest number goes on, at every process") {
  Receiver here;
  constexpr std::uint64_t kFull = kInflows.inbox_bytes;
  CHECK(here.comes(VnodeId{2}, kFull));
  CHECK(!here.comes(VnodeId{3}, kFull));
  CHECK(here.comes(VnodeId{1}, kFull));  // before the one that has begun, which might wait for it
  CHECK(!here.comes(VnodeId{2}, kFull));
  CHECK(here.casts.take_announcements().empty());

  here.casts.reopen(kFull + 1);
  CHECK(here.casts.take_announcements().empty());  // v1 has not come to its end
  CHECK(here.comes(VnodeId{1}, kFull, true));
  here.casts.reopen(kFull + 1);
  auto told = here.casts.take_announcements();
  REQUIRE(told.contains(VnodeId{2}));
  CHECK(told.at(VnodeId{2}).again);
  CHECK(!told.contains(VnodeId{3}));
  CHECK(here.comes(VnodeId{2}, kFull, true));  // not for the program, that would take it else
  here.casts.reopen(kFull + 1);
  told = here.casts.take_announcements();
  REQUIRE(told.contains(VnodeId{3}));
  CHECK(told.at(VnodeId{3}).again);
}

TEST_CASE("what was refused for a vnode that goes holds up nobody who stays") {
  Receiver here;
  constexpr std::uint64_t kFull = kInflows.inbox_bytes;
  CHECK(here.comes(VnodeId{5}, kFull));
  CHECK(!here.comes(VnodeId{6}, kFull));
  CHECK(!here.comes(VnodeId{7}, kFull));
  CHECK(here.casts.remove(VnodeId{6}, here.streams[VnodeId{6}]));
  CHECK(!here.casts.remove(VnodeId{5}, here.streams[VnodeId{5}]));
  CHECK(here.casts.take_announcements().at(VnodeId{6}).again);  // for those who stay

  here.casts.reopen(kFull + 1);
  const auto told = here.casts.take_announcements();
  CHECK(told.size() == 1);
  CHECK(told.contains(VnodeId{7}));
}

TEST_CASE("old and repeated credit does no harm, nor does credit for what was never sent") {
  CastOutflows casts(kInflows);
  casts.set_total(4);
  CastOutflows::Copies out;
  for (int i = 0; i < 10; ++i) casts.push({v0, 0, 0, {}, false, bytes(kPiece)}, out);
  CHECK(out.size() == 4);
  casts.on_credit({v0, vnodes(0, 3), 4, 8'000, {}}, out);
  CHECK(out.size() == 8);

  casts.on_credit({v0, vnodes(0, 3), 1, 5'000, {}}, out);
  casts.on_credit({v0, vnodes(0, 9), 100, 0, {}}, out);  // as much as was sent
  casts.on_credit({v0, vnodes(0, 3), 0, 0, 3}, out);     // they have it
  casts.on_credit({VnodeId{1}, vnodes(0, 3), 1, 9'000, 0}, out);
  casts.check_invariants();

  // Nothing is on its way any more, so it asks once what holds them up.
  CHECK(out.size() == 9);
  CHECK(casts.kept_bytes() == 2'000);
  casts.on_credit({v0, vnodes(0, 3), kFlowClosed, 0, {}}, out);
  CHECK(casts.kept_bytes() == 0);
}

TEST_CASE("a root's end travels: it goes on where it was") {
  InflowOptions options = kInflows;
  options.cast_slack_bytes = 8'000;
  CastOutflows here(options);
  CastOutflows there(options);
  CastOutflows::Copies out;
  for (CastOutflows* casts : {&here, &there}) casts->set_total(8);
  for (int i = 0; i < 20; ++i) here.push({v0, 0, 0, {}, false, bytes(kPiece)}, out);
  here.on_credit({v0, vnodes(0, 6), 4, 16'000, {}}, out);
  CHECK(here.out_of_step(v0) == vnodes(7, 7));
  const std::uint64_t kept = here.kept_bytes();

  there.add(v0, here.remove(v0));

  CHECK(here.kept_bytes() == 0);
  CHECK(there.kept_bytes() == kept);
  CHECK(there.out_of_step(v0) == vnodes(7, 7));
  there.check_invariants();
  out.clear();
  there.on_credit({v0, vnodes(0, 6), 16, 20'000, {}}, out);
  there.on_credit({v0, vnodes(7, 7), 12, 20'000, {}}, out);
  CHECK(there.out_of_step(v0).empty());
  CHECK(there.kept_bytes() == 8'000);
}

TEST_CASE("whatever is lost, and whoever stops for a while: everybody gets everything in order") {
  for (std::uint64_t seed = 0; seed < support::seeds(100); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    InflowOptions small = kInflows;
    small.inbox_bytes = 2'000 + rng.below(20'000);
    small.cast_slack_bytes = rng.below(6'000);
    Mesh mesh(5, 1 + rng.below(3), {.piece_bytes = kPiece, .inflows = small});
    mesh.loses = [&](std::size_t, const AppBroadcast&) { return rng.chance(0.02); };
    for (int step = 0; step < 300; ++step) {
      if (rng.chance(0.5)) static_cast<void>(mesh.cast(rng.below(3 * kPiece)));
      if (rng.chance(0.1)) mesh[rng.below(5)].takes = rng.chance(0.6);
      if (rng.chance(0.3)) mesh.carry();
      for (std::size_t i = 0; i < 5; ++i) {
        if (mesh[i].takes && rng.chance(0.3)) static_cast<void>(mesh.take(i));
      }
    }
    for (std::size_t i = 0; i < 5; ++i) mesh[i].takes = true;
    mesh.settle();
    mesh.loses = {};
    mesh.root().on_message(AppRepair{});
    mesh.settle();

    for (std::size_t i = 0; i < 5; ++i) REQUIRE(mesh.has_all(i));
    mesh.root().close();
    mesh.settle();
    REQUIRE(mesh.root().is_settled());
  }
}

TEST_SUITE_END();

}  // namespace phx::runtime::casts_test
