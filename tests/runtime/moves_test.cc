#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/overloaded.h"
#include "runtime/messages/parcels.h"
#include "runtime/messages/weight.h"
#include "runtime/vnodes/mover.h"
#include "tests/support/job_items.h"
#include "tests/support/little_memory.h"
#include "tests/support/seeds.h"

// What one vnode carries from one processor to another one [runtime/vnodes/README.md, "Pieces"].
namespace phx::runtime::moves_test {
namespace {

constexpr ProcessorId kGiver{1}, kReceiver{2}, kThird{3};
constexpr ProcessorId kHome = kThird;  ///< Of the job.
constexpr JobId kJob{7};
constexpr Instant kStart{};
constexpr VnodeId kMoving{11};  ///< The last one of its owner goes first.
constexpr std::uint64_t kFlowBytes = std::uint64_t{1} << 40U;
constexpr std::uint64_t kPiece = std::uint64_t{256} << 10U;
constexpr std::uint64_t kWindow = std::uint64_t{1} << 20U;

/// So many bytes, no two pieces of which are equal: each begins with its number. Made in long
/// copies.
Payload state_of(std::size_t size) {
  constexpr std::size_t kDrawn = std::size_t{1} << 16U;
  Bytes bytes(size);
  const std::size_t drawn = std::min(size, kDrawn);
  for (std::size_t i = 0; i < drawn; ++i) bytes[i] = static_cast<std::byte>((i >> 8U) ^ i);
  for (std::size_t done = drawn; done < size;) {
    const std::size_t part = std::min(done, size - done);
    std::memcpy(bytes.data() + done, bytes.data(), part);
    done += part;
  }
  for (std::uint64_t number = 0; number * kPiece + sizeof(number) <= size; ++number) {
    std::memcpy(bytes.data() + number * kPiece, &number, sizeof(number));
  }
  return Payload(std::move(bytes));
}

/// Three processors with an application each; the first one has all 12 vnodes of the job.
class Trio {
 public:
  struct Mail {
    ProcessorId from, to;
    Envelope envelope;
  };

  Trio() {
    for (const ProcessorId id : {kGiver, kReceiver, kThird}) {
      Side& side = sides_.try_emplace(id, id).first->second;
      side.router.on_attached(ApplicationId{1}, side.out);
      static_cast<void>(side.out.take());
      side.standing.ready = {kGiver, kReceiver, kThird};
      side.standing.members = side.standing.ready.minus(ProcessorSet{id});
    }
  }

  /// One vnode, which carries `bundle`, is on its way from the giver to the receiver.
  void begin(VnodeBundle bundle) {
    bundle_ = std::move(bundle);
    Side& giver = side(kGiver);
    giver.mover.on_pull(kReceiver, {kJob, 1, {}}, giver.router, giver.standing, giver.out);
    collect(kGiver);
    deliver_until([&] { return count<StatePiece>() + count<Migrate>() > 0; });
  }
  /// Delivers everything that there is, and what follows from it, or until `is_enough`.
  template <class IsEnough>
  void deliver_until(IsEnough is_enough) {
    while (!mail_.empty() && !is_enough()) deliver();
  }
  void deliver_all() {
    deliver_until([] { return false; });
  }
  void deliver() {
    Mail mail = std::move(mail_.front());
    mail_.pop_front();
    if (gone_.contains(mail.to) || gone_.contains(mail.from)) return;
    Side& to = side(mail.to);
    if (loses_piece_) {
      const auto* piece = std::get_if<StatePiece>(&mail.envelope);
      if (piece != nullptr && piece->number == *loses_piece_) return;
    }
    handle(to, mail);
    collect(mail.to);
  }
  void die(ProcessorId id) {
    gone_.insert(id);
    for (auto& [other, side] : sides_) {
      if (other == id) continue;
      side.standing.members.erase(id);
      side.standing.ready.erase(id);
      side.mover.on_gone(id, side.router, side.standing, side.out);
      collect(other);
    }
  }
  void leave(ProcessorId id) {
    for (auto& [other, side] : sides_) side.standing.ready.erase(id);
    Side& leaver = side(id);
    leaver.standing.leaving = true;
    leaver.mover.start_leaving(leaver.router, leaver.standing, leaver.out);
    leaver.mover.balance(kStart, leaver.router, leaver.standing, leaver.out);
    collect(id);
  }
  /// The applications reach no safe point until release().
  void compute() { computes_ = true; }
  void release() {
    computes_ = false;
    for (auto& [id, side] : sides_) {
      if (side.wanted.empty()) continue;
      let_go(side, std::exchange(side.wanted, {}));
      collect(id);
    }
  }
  /// The process is done; or it says that it will take nothing more.
  void finish(ProcessorId id, bool is_closing = false) {
    Side& here = side(id);
    here.standing.ending = true;
    here.mover.close("its process has ended", here.router, here.out);
    is_closing ? here.router.on_closing(here.out) : here.router.on_finished(here.out);
    collect(id);
  }
  void pull(ProcessorId from, const VnodeSet& exactly) {
    Side& giver = side(kGiver);
    giver.mover.on_pull(from, {kJob, 12, exactly}, giver.router, giver.standing, giver.out);
    collect(kGiver);
  }
  void route(VnodeMessage message) {
    side(kGiver).router.route(std::move(message), side(kGiver).out);
    collect(kGiver);
  }
  void lose_piece(std::uint64_t number) { loses_piece_ = number; }

  // Queries.
  [[nodiscard]] Router& router(ProcessorId id) { return side(id).router; }
  [[nodiscard]] Mover& mover(ProcessorId id) { return side(id).mover; }
  [[nodiscard]] std::string waiting(ProcessorId id) {
    return side(id).mover.waiting(side(id).router, side(id).standing);
  }
  /// Sent since the beginning.
  template <class M>
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t found = 0;
    for (const Mail& mail : sent_) found += std::holds_alternative<M>(mail.envelope) ? 1 : 0;
    return found;
  }
  template <class M>
  [[nodiscard]] std::vector<std::pair<ProcessorId, M>> all() const {
    std::vector<std::pair<ProcessorId, M>> found;
    for (const Mail& mail : sent_) {
      if (const auto* m = std::get_if<M>(&mail.envelope)) found.emplace_back(mail.to, *m);
    }
    return found;
  }
  /// The most bytes of pieces and parcels that were under way at once.
  [[nodiscard]] std::uint64_t most_under_way() const { return most_under_way_; }
  /// What the application at `id` was granted last of this vnode.
  [[nodiscard]] const VnodeBundle* granted(ProcessorId id, VnodeId vnode) {
    auto& grants = side(id).granted;
    const auto found = grants.find(vnode);
    return found == grants.end() ? nullptr : &found->second;
  }

 private:
  struct Side {
    explicit Side(ProcessorId self)
        : id(self),
          router(self, kJob, VnodeMap(12, {kGiver}), kFlowBytes),
          mover(self, kJob, 200ms, {kPiece, kWindow}) {}
    ProcessorId id;
    Router router;
    Mover mover;
    Standing standing;
    JobOutbox out;
    std::map<VnodeId, VnodeBundle> granted;
    VnodeSet wanted;  ///< To be released at the next safe point.
  };

  Side& side(ProcessorId id) { return sides_.at(id); }

  void handle(Side& to, Mail& mail) {
    Mover& mover = to.mover;
    const ProcessorId from = mail.from;
    std::visit(
        Overloaded{
            [&](const Offer& m) { mover.on_offer(from, m, to.router, to.standing, to.out); },
            [&](const OfferReply& m) {
              mover.on_offer_reply(from, m, to.router, to.standing, to.out);
            },
            [&](const OfferCancel& m) {
              mover.on_offer_cancel(from, m, to.router, to.standing, to.out);
            },
            [&](const StatePiece& m) { mover.on_piece(from, m, to.router, to.standing, to.out); },
            [&](const StateTaken& m) { mover.on_taken(from, m, to.router, to.standing, to.out); },
            [&](Migrate& m) {
              CHECK(mover.complete(from, m) == "");
              mover.on_migrate(from, std::move(m), to.router, to.standing, to.out);
            },
            [&](const Routes& m) {
              to.router.on_routes(m.routes, to.out);
              if (m.pass_on && to.id != kHome) to.out.send(kHome, m);
            },
            [&](VnodeMessage& m) { to.router.route(std::move(m), to.out); },
            [](const auto&) {},
        },
        static_cast<Envelope::Variant&>(mail.envelope));
  }

  /// Posts what `id` wants sent, and lets its application do what it is told.
  void collect(ProcessorId id) {
    Side& from = side(id);
    for (auto& item : from.out.take()) {
      if (auto* send = std::get_if<JobOutbox::Send>(&item)) {
        mail_.push_back({id, send->to, send->message});
        sent_.push_back(mail_.back());
        continue;
      }
      const auto* event = std::get_if<std::variant<Effect, UseTree>>(&item);
      const auto* effect = event == nullptr ? nullptr : std::get_if<Effect>(event);
      const auto* local = effect == nullptr ? nullptr : std::get_if<ToApp>(effect);
      if (local != nullptr) on_local(from, local->message);
    }
    std::uint64_t under_way = 0;
    for (const Mail& mail : mail_) {
      const bool counts = std::holds_alternative<StatePiece>(mail.envelope) ||
                          std::holds_alternative<Migrate>(mail.envelope);
      if (counts) under_way += weight_of(mail.envelope).total();
    }
    most_under_way_ = std::max(most_under_way_, under_way);
    from.router.check_invariants();
  }

  void on_local(Side& here, const ToApplication& message) {
    if (const auto* grant = std::get_if<AppGrant>(&message)) {
      for (const VnodeParcel& parcel : grant->parcels) here.granted[parcel.vnode] = parcel.bundle;
    }
    const auto* release = std::get_if<AppRelease>(&message);
    if (release == nullptr) return;
    if (!computes_) return let_go(here, release->vnodes);
    here.wanted = here.wanted.united(release->vnodes);
  }
  void let_go(Side& here, const VnodeSet& vnodes) {
    AppReleased released;
    for (const VnodeId vnode : vnodes.ids()) {
      released.vnodes.push_back({vnode, vnode == kMoving ? bundle_ : VnodeBundle{}});
    }
    here.mover.on_released(std::move(released), here.router, here.standing, here.out);
    collect(here.id);
  }

  std::map<ProcessorId, Side> sides_;
  std::deque<Mail> mail_;
  std::vector<Mail> sent_;
  std::set<ProcessorId> gone_;
  VnodeBundle bundle_;
  bool computes_ = false;
  std::optional<std::uint64_t> loses_piece_;
  std::uint64_t most_under_way_ = 0;
};

VnodeBundle bundle_of(std::size_t state_bytes) {
  VnodeBundle bundle;
  bundle.state = state_of(state_bytes);
  bundle.reductions[VnodeId{3}] = 5;
  return bundle;
}

/// Nine pieces and a bit are on their way; some have arrived.
void begin_long(Trio& trio) {
  trio.begin(bundle_of(9 * kPiece + 1));
  for (int i = 0; i < 4; ++i) trio.deliver();
  REQUIRE(trio.count<Migrate>() == 0);
  REQUIRE(trio.router(kGiver).kept().contains(kMoving));
}

const VnodeSet kOne{kMoving};

}  // namespace

TEST_SUITE_BEGIN("runtime/moves");

TEST_CASE("costs: a state of up to a piece travels with its vnode, and nothing is answered") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1000}, std::size_t{kPiece}}) {
    Trio trio;
    trio.begin(bundle_of(size));
    trio.deliver_all();

    CHECK(trio.count<StatePiece>() == 0);
    CHECK(trio.count<StateTaken>() == (size < kPiece ? 0 : 1));  // a quarter of the window
    CHECK(trio.count<Migrate>() == 1);
    CHECK(*trio.granted(kReceiver, kMoving) == bundle_of(size));
  }
}

TEST_CASE("costs: S bytes are S / piece pieces, as many answers, and one vnode, W on the way") {
  for (const std::size_t mebibytes : {1U, 4U, 16U, 64U}) {
    CAPTURE(mebibytes);
    const std::size_t size = (mebibytes << 20U) + 1;
    Trio trio;
    trio.begin(bundle_of(size));
    trio.deliver_all();

    const std::uint64_t pieces = (size + kPiece - 1) / kPiece;
    CHECK(trio.count<StatePiece>() == pieces);
    CHECK(trio.count<StateTaken>() <= pieces);
    CHECK(trio.count<Migrate>() == 1);
    std::uint64_t bytes = 0;
    for (const auto& [to, piece] : trio.all<StatePiece>()) bytes += piece.bytes.size();
    CHECK(bytes == size);
    CHECK(weight_of(Envelope{trio.all<Migrate>()[0].second}).payload == 0);
    CHECK(trio.most_under_way() <= kWindow + kPiece + 10 * 64);
    CHECK(trio.granted(kReceiver, kMoving)->state == state_of(size));
    CHECK(trio.mover(kGiver).is_quiet());
    CHECK(trio.mover(kReceiver).is_quiet());
  }
}

TEST_CASE("everything that a vnode carries goes ahead of it, and is the same afterwards") {
  VnodeBundle bundle = bundle_of(kPiece - 1);
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Payload payload = state_of(static_cast<std::size_t>(i * 37 % 5000));
    bundle.mailbox.push_back({Message::Kind::kPointToPoint, VnodeId{i}, 0, 1, payload});
    bundle.to_vnodes[VnodeId{1}].kept.push_back({kMoving, VnodeId{1}, i, 0, 0, payload});
  }
  Trio trio;
  trio.begin(bundle);
  trio.deliver_all();

  CHECK(trio.count<StatePiece>() > 3);
  CHECK(weight_of(Envelope{trio.all<Migrate>()[0].second}).payload == 0);
  CHECK(*trio.granted(kReceiver, kMoving) == bundle);
}

TEST_CASE("a vnode has its old owner until all of its state has arrived") {
  Trio trio;
  trio.begin(bundle_of(9 * kPiece + 1));
  const auto has_moved = [&] { return trio.count<Migrate>() > 0; };
  trio.deliver_until([&] {
    if (!has_moved()) CHECK(trio.router(kGiver).map().owner(kMoving).first == kGiver);
    return has_moved();
  });

  REQUIRE(has_moved());
  bool is_whole = false;
  for (const auto& [to, taken] : trio.all<StateTaken>()) {
    is_whole = is_whole || taken.outcome == StateTaken::Outcome::kWhole;
  }
  CHECK(is_whole);
  CHECK(trio.router(kGiver).map().owner(kMoving) == VnodeMap::Owner{kReceiver, 2});
}

TEST_CASE("without answers no more than the window leaves, and who asks is told how far it is") {
  Trio trio;
  trio.begin(bundle_of(std::size_t{1} << 30U));

  CHECK(trio.count<StatePiece>() == kWindow / kPiece);
  CHECK(trio.waiting(kGiver) == "v11 to move to p2: 1 of 1,024 MiB sent");
  CHECK(trio.waiting(kReceiver) == "v11 to arrive from p1");
}

TEST_CASE("the receiver dies meanwhile: the vnode is where it was, and goes elsewhere") {
  Trio trio;
  begin_long(trio);

  trio.die(kReceiver);
  trio.deliver_all();

  CHECK(trio.router(kGiver).held().contains(kMoving));
  CHECK(*trio.granted(kGiver, kMoving) == bundle_of(9 * kPiece + 1));
  CHECK(trio.mover(kGiver).is_quiet());
  trio.pull(kThird, {});
  trio.deliver_all();
  CHECK(*trio.granted(kThird, kMoving) == bundle_of(9 * kPiece + 1));
  CHECK(trio.router(kGiver).map().owner(kMoving).first == kThird);
}

TEST_CASE("the giver dies meanwhile: nothing of it is kept, and nothing is waited for") {
  Trio trio;
  begin_long(trio);

  trio.die(kGiver);
  trio.deliver_all();

  CHECK(trio.mover(kReceiver).is_quiet());
  CHECK(trio.router(kReceiver).held().empty());
}

TEST_CASE("the receiver begins to leave: it refuses, and the vnode stays with its application") {
  Trio trio;
  begin_long(trio);

  trio.leave(kReceiver);
  trio.deliver_all();

  CHECK(trio.mover(kReceiver).is_quiet());
  CHECK(trio.router(kGiver).held().contains(kMoving));
  CHECK(*trio.granted(kGiver, kMoving) == bundle_of(9 * kPiece + 1));
  CHECK(trio.count<Migrate>() == 0);
}

TEST_CASE("the giver leaves and its receiver dies: somebody else is offered the vnode") {
  Trio trio;
  begin_long(trio);
  trio.leave(kGiver);
  trio.die(kReceiver);
  CHECK(trio.router(kGiver).kept().contains(kMoving));  // its application does not get it again
  trio.leave(kGiver);                                   // as after every message of a leaver
  trio.deliver_all();

  CHECK(*trio.granted(kThird, kMoving) == bundle_of(9 * kPiece + 1));
  CHECK(trio.mover(kGiver).is_quiet());
}

TEST_CASE("the giver leaves: what is on its way goes on, and the home hears of it in the end") {
  Trio trio;
  begin_long(trio);
  trio.leave(kGiver);
  trio.deliver_all();

  CHECK(trio.router(kGiver).map().owned_by(kGiver).empty());
  CHECK(*trio.granted(kReceiver, kMoving) == bundle_of(9 * kPiece + 1));
  CHECK(trio.router(kHome).map().owner(kMoving).first == kReceiver);
  CHECK(trio.count<Routes>() == 2);  // to itself, and on to the home: however many members
  CHECK(trio.mover(kGiver).is_quiet());
}

TEST_CASE("the process of the giver ends meanwhile: what it released arrives, with what waits") {
  Trio trio;
  begin_long(trio);
  const PointToPoint message{VnodeId{0}, kMoving, 0, 0, 0, {}};
  trio.route({kJob, 0, message});
  trio.finish(kGiver);
  trio.route({kJob, 0, PointToPoint{VnodeId{0}, kMoving, 1, 0, 0, {}}});
  CHECK(trio.router(kGiver).parked() == 2);
  trio.deliver_all();

  CHECK(*trio.granted(kReceiver, kMoving) == bundle_of(9 * kPiece + 1));
  CHECK(trio.all<VnodeMessage>().size() == 2);
  CHECK(trio.all<VnodeMessage>()[0].second == VnodeMessage{kJob, 2, message});
}

TEST_CASE("the process of the receiver ends meanwhile: it refuses, and the vnode goes on here") {
  Trio trio;
  begin_long(trio);
  trio.finish(kReceiver);
  trio.deliver_all();

  CHECK(trio.mover(kReceiver).is_quiet());
  CHECK(trio.mover(kGiver).is_quiet());
  CHECK(trio.router(kGiver).held().contains(kMoving));
}

TEST_CASE("the receiver ends before the safe point of the giver: the vnode stays at the giver") {
  for (const bool is_closing : {true, false}) {
    Trio trio;
    trio.compute();
    trio.begin(bundle_of(is_closing ? 1000 : 9 * kPiece));
    REQUIRE(trio.waiting(kReceiver) == "v11 to arrive from p1");
    trio.finish(kReceiver, is_closing);
    trio.deliver_all();
    trio.release();
    CHECK(trio.count<Migrate>() == 0);
    CHECK(trio.router(kGiver).held().contains(kMoving));
    for (const ProcessorId id : {kGiver, kReceiver}) CHECK(trio.mover(id).is_quiet());
  }
}

TEST_CASE("a vnode that comes to a process that has just ended goes back, with what follows it") {
  for (const int variant : {0, 1, 2, 3}) {
    CAPTURE(variant);
    const bool is_closing = variant % 2 == 0;
    Trio trio;
    trio.begin(bundle_of(variant < 2 ? 1000 : 9 * kPiece));
    trio.deliver_until([&] { return trio.count<Migrate>() > 0; });
    trio.route({kJob, 0, PointToPoint{VnodeId{0}, kMoving, 0, 0, 0, {}}});
    trio.finish(kReceiver, is_closing);
    CHECK_FALSE(trio.mover(kReceiver).is_quiet());
    trio.deliver_until([&] { return trio.count<Offer>() > 1; });
    if (is_closing) trio.finish(kReceiver);
    trio.deliver_all();

    CHECK(trio.router(kGiver).held().contains(kMoving));
    CHECK(trio.granted(kGiver, kMoving)->reductions == bundle_of(0).reductions);
    CHECK(trio.router(kGiver).undelivered_bytes() > 0);
    CHECK(trio.router(kReceiver).parked() == 0);
    for (const ProcessorId id : {kGiver, kReceiver}) CHECK(trio.mover(id).is_quiet());
  }
}

TEST_CASE("such a vnode goes to somebody else if its giver has ended, and is closed if all have") {
  for (const bool is_last : {false, true}) {
    Trio trio;
    trio.begin(bundle_of(1000));
    for (const ProcessorId id : {kGiver, kReceiver}) trio.finish(id);
    if (is_last) trio.finish(kThird);
    trio.deliver_all();

    CHECK(trio.router(kThird).held().contains(kMoving) == !is_last);
    for (const ProcessorId id : {kGiver, kReceiver, kThird}) CHECK(trio.mover(id).is_quiet());
    trio.route({kJob, 0, PointToPoint{VnodeId{0}, kMoving, 0, 0, 0, {}}});
    trio.deliver_all();
    CHECK(trio.router(kReceiver).parked() == 0);
  }
}

TEST_CASE("both processes end: what came for the vnode is answered, and nothing is kept") {
  Trio trio;
  begin_long(trio);
  trio.route({kJob, 0, PointToPoint{VnodeId{0}, kMoving, 0, 0, 0, {}}});
  trio.finish(kGiver);
  trio.finish(kReceiver);
  trio.deliver_all();

  CHECK(trio.mover(kGiver).is_quiet());
  CHECK(trio.router(kGiver).parked() == 0);
  CHECK(trio.router(kGiver).bundle(kMoving) == nullptr);
}

TEST_CASE("nobody else is offered a vnode that is on its way") {
  Trio trio;
  begin_long(trio);
  const std::uint64_t offers = trio.count<Offer>();
  trio.pull(kThird, kOne);
  CHECK(trio.count<Offer>() == offers);
  REQUIRE(trio.all<OfferCancel>().size() == 1);
  CHECK(trio.all<OfferCancel>()[0].first == kThird);
  trio.pull(kReceiver, kOne);  // it is on its way there: this is not taken for withdrawn
  CHECK(trio.all<OfferCancel>().size() == 1);
  trio.deliver_all();

  CHECK(trio.router(kReceiver).held().contains(kMoving));
}

TEST_CASE("a piece that is lost, whichever, is noticed, and the vnode stays") {
  for (const std::uint64_t number : {0U, 3U, 9U}) {
    CAPTURE(number);
    Trio trio;
    trio.lose_piece(number);
    trio.begin(bundle_of(9 * kPiece + 1));
    trio.deliver_all();

    CHECK(trio.count<Migrate>() == 0);
    const bool is_known = number < 9;  // of the last one nothing follows that would show it
    CHECK(trio.router(kGiver).held().contains(kMoving) == is_known);
  }
}

TEST_CASE("a vnode that comes before its state is not taken for one that has it") {
  Trio trio;
  begin_long(trio);
  const std::uint64_t offer = trio.all<Offer>()[0].second.offer;
  Migrate early{kJob, {{kMoving, 2, bundle_of(0)}}, offer, 0};

  CHECK(trio.mover(kReceiver).complete(kGiver, early) == "v11 came from p1 without its state");
}

TEST_CASE("pieces that do not fit, or are too many, are refused") {
  Arrivals arrivals;
  const auto piece = [](std::uint64_t number, std::vector<std::uint64_t> sizes, std::size_t size) {
    return StatePiece{kJob, 1, kMoving, number, std::move(sizes), 0, state_of(size)};
  };
  CHECK(arrivals.on_piece(kGiver, piece(0, {5, 0, 3}, 6)) == "");
  CHECK_FALSE(arrivals.is_whole(kGiver, 1, kMoving));
  CHECK(arrivals.on_piece(kGiver, piece(1, {}, 3)) == "the pieces of its state do not fit");
  CHECK(arrivals.on_piece(kGiver, piece(0, {5, 0, 3}, 6)) == "");
  CHECK(arrivals.on_piece(kGiver, piece(2, {}, 2)) == "piece 1 of its state is missing");
  CHECK(arrivals.on_piece(kGiver, piece(0, {~std::uint64_t{0}, 2}, 6)) == "its state is too large");
  CHECK(arrivals.begun().empty());
  CHECK(arrivals.on_piece(kGiver, piece(0, {0, 5, 0, 0}, 5)) == "");
  REQUIRE(arrivals.is_whole(kGiver, 1, kMoving));
  CHECK(arrivals.take(kGiver, 1, kMoving)->size() == 4);
}

#if !defined(PHX_IS_SANITIZED)
TEST_CASE("limits: a state that there is no memory for is refused") {
  const support::LittleMemory little;
  Arrivals arrivals;

  const std::string why =
      arrivals.on_piece(kGiver, {kJob, 1, kMoving, 0, {kVnodeBytesMax}, 0, state_of(6)});

  CHECK(why == "there is no memory for its state of 65536 MiB");
  CHECK(arrivals.begun().empty());
}
#endif

}  // namespace phx::runtime::moves_test

TEST_SUITE_END();
