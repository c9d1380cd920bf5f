#include "runtime/vnodes/mover.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/messages/parcels.h"
#include "runtime/messages/weight.h"
#include "tests/support/job_items.h"

TEST_SUITE_BEGIN("runtime/mover");

namespace phx::runtime::mover_test {
namespace {

constexpr ProcessorId kSelf{1}, kOther{2}, kThird{3};
constexpr JobId kJob{7};
constexpr Instant kStart{};

VnodeSet range(std::uint64_t first, std::uint64_t last) {
  return VnodeSet::range(VnodeId{first}, VnodeId{last});
}

constexpr std::uint64_t kFlowBytes = std::uint64_t{1} << 40U;
using Refusals = std::vector<std::pair<VnodeSet, std::string>>;

/// The mover of a job of 12 vnodes that are all at `owner`.
struct Harness {
  explicit Harness(ProcessorId owner, ProcessorId self = kSelf)
      : router(self, kJob, VnodeMap(12, {owner}), kFlowBytes), mover(self, kJob, 200ms, {}) {
    router.on_attached(ApplicationId{1}, out);
    static_cast<void>(out.take());
    standing.ready = {kSelf, kOther, kThird};
    standing.members = standing.ready.minus(ProcessorSet{self});
  }
  /// Messages of this kind since the last take, as (to, message).
  template <class M>
  std::vector<std::pair<ProcessorId, M>> sent() {
    return support::sent<M>(out.take());
  }
  /// What the application was refused since the last take.
  Refusals refusals() {
    Refusals result;
    for (auto& m : support::handed<AppRefused>(out.take())) result.emplace_back(m.vnodes, m.why);
    return result;
  }
  /// Has accepted v8-v11 for kOther, and told the application to release them.
  void promise_four() {
    mover.on_pull(kOther, {kJob, 4, {}}, router, standing, out);
    const auto offers = sent<Offer>();
    REQUIRE(offers.size() == 1);
    mover.on_offer_reply(kOther, {kJob, offers[0].second.offer, true, ""}, router, standing, out);
    static_cast<void>(out.take());
  }
  AppReleased released(const VnodeSet& vnodes) {
    AppReleased message;
    for (const VnodeId vnode : vnodes.ids()) message.vnodes.push_back({vnode, {}});
    return message;
  }

  Router router;
  Mover mover;
  Standing standing;
  JobOutbox out;
};

TEST_CASE("a processor short of its share asks the one with most") {
  Harness h(kOther);

  h.mover.balance(kStart, h.router, h.standing, h.out);
  const auto pulls = h.sent<Pull>();

  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0].first == kOther);
  CHECK(pulls[0].second.count == 4);
}

TEST_CASE("a processor that is no member is not asked") {
  Harness h(kOther);
  h.standing.members.erase(kOther);

  h.mover.balance(kStart, h.router, h.standing, h.out);

  CHECK(h.sent<Pull>().empty());
}

TEST_CASE("a newcomer asks when its site is known, or when it has waited for that for a second") {
  overlay::KnownNetwork network;
  Harness h(kOther);
  h.standing.network = &network;
  const auto pulls_at = [&](Duration time) {
    h.mover.on_timer(kStart + time, h.router, h.standing, h.out);
    return h.sent<Pull>().size();
  };
  SUBCASE("others are known: it waits") {
    network.sites.push_back({"", {kOther, kThird}, std::nullopt});
    CHECK(pulls_at(0ms) == 0);
    CHECK(pulls_at(900ms) == 0);
    SUBCASE("until it is placed") {
      network.sites.push_back({"", {kSelf}, std::nullopt});
      CHECK(pulls_at(920ms) == 1);
    }
    SUBCASE("no longer than a second") {
      CHECK(pulls_at(1s) == 1);
    }
  }
  SUBCASE("nothing is known of anybody: it does not wait") {
    CHECK(pulls_at(0ms) == 1);
  }
}

TEST_CASE("a donor keeps its share, however much it is asked for") {
  Harness h(kSelf);

  h.mover.on_pull(kOther, {kJob, 100, {}}, h.router, h.standing, h.out);
  const auto offers = h.sent<Offer>();

  REQUIRE(offers.size() == 1);
  CHECK(offers[0].second.vnodes[0].vnodes == range(4, 11));
  CHECK(offers[0].second.vnodes[0].epoch == 2);
}

TEST_CASE("a vnode is promised to one receiver at a time") {
  Harness h(kSelf);
  h.mover.on_pull(kOther, {kJob, 4, {}}, h.router, h.standing, h.out);
  h.mover.on_pull(kThird, {kJob, 4, {}}, h.router, h.standing, h.out);
  const auto offers = h.sent<Offer>();

  REQUIRE(offers.size() == 2);
  CHECK(offers[0].second.vnodes[0].vnodes.common(offers[1].second.vnodes[0].vnodes).empty());
}

TEST_CASE("nothing is released before the receiver has accepted, and a refusal frees the promise") {
  Harness h(kSelf);
  h.mover.on_pull(kOther, {kJob, 4, {}}, h.router, h.standing, h.out);
  const auto offers = h.sent<Offer>();
  REQUIRE(offers.size() == 1);
  CHECK_FALSE(h.mover.is_quiet());

  h.mover.on_offer_reply(kOther, {kJob, offers[0].second.offer, false, "leaving"}, h.router,
                         h.standing, h.out);

  CHECK(h.mover.is_quiet());
  CHECK(h.router.held() == range(0, 11));
}

TEST_CASE("vnodes that carry more than a piece together travel in several messages") {
  Harness h(kSelf);
  h.promise_four();
  AppReleased released = h.released(range(8, 11));
  const Payload kilobyte(Bytes(1024));
  for (auto& [vnode, bundle] : released.vnodes) bundle.mailbox.resize(100);
  for (auto& [vnode, bundle] : released.vnodes) {
    for (Message& message : bundle.mailbox) message.payload = kilobyte;
  }

  h.mover.on_released(std::move(released), h.router, h.standing, h.out);
  const auto items = h.out.take();

  const auto migrates = support::sent<Migrate>(items);
  REQUIRE(migrates.size() == 2);
  for (const auto& [to, m] : migrates) CHECK(m.parcels.size() == 2);
  CHECK(support::sent<Routes>(items).empty());  // the receiver says that it has them
}

TEST_CASE("accepted vnodes go when the application has released them, and a leaver reports") {
  Harness h(kSelf);
  h.promise_four();
  h.standing.leaving = true;
  CHECK(h.mover.waiting(h.router, h.standing).find("safe point") != std::string::npos);

  h.mover.on_released(h.released(range(8, 11)), h.router, h.standing, h.out);
  const auto items = h.out.take();

  const auto migrates = support::sent<Migrate>(items);
  REQUIRE(migrates.size() == 1);
  CHECK(migrates[0].second.parcels.size() == 4);
  const auto routes = support::sent<Routes>(items);
  REQUIRE(routes.size() == 1);
  CHECK(routes[0].first == kSelf);  // where the home of the job is known
  CHECK(routes[0].second.pass_on);
  CHECK(h.router.held() == range(0, 7));
  CHECK(h.mover.is_quiet());
}

TEST_CASE("what was withdrawn from one who died and went to another is not granted back later") {
  Harness h(kSelf);
  h.promise_four();
  h.standing.members.erase(kOther);
  h.standing.ready.erase(kOther);
  h.mover.on_gone(kOther, h.router, h.standing, h.out);
  h.mover.on_pull(kThird, {kJob, 4, {}}, h.router, h.standing, h.out);
  const auto offers = h.sent<Offer>();
  REQUIRE(offers.size() == 1);
  REQUIRE(offers[0].second.vnodes[0].vnodes == range(8, 11));
  h.mover.on_offer_reply(kThird, {kJob, offers[0].second.offer, true, ""}, h.router, h.standing,
                         h.out);
  h.mover.on_released(h.released(range(8, 11)), h.router, h.standing, h.out);
  REQUIRE(h.router.held() == range(0, 7));

  h.mover.on_migrate(kThird, {kJob, {{VnodeId{8}, 3, {}}}}, h.router, h.standing, h.out);
  REQUIRE(h.router.held() == range(0, 8));
  static_cast<void>(h.out.take());
  h.mover.on_released(h.released(range(8, 8)), h.router, h.standing, h.out);

  CHECK(h.router.kept() == range(8, 8));
  CHECK(support::handed<AppGrant>(h.out.take()).empty());
}

TEST_CASE("a leaver offers everything, evenly") {
  Harness h(kSelf);
  h.standing.leaving = true;
  h.standing.ready = {kOther, kThird};

  h.mover.balance(kStart, h.router, h.standing, h.out);
  const auto offers = h.sent<Offer>();

  REQUIRE(offers.size() == 2);
  CHECK(offers[0].second.vnodes[0].vnodes.size() == 6);
  CHECK(offers[1].second.vnodes[0].vnodes.size() == 6);
}

TEST_CASE("a leaver asks who has refused again in the next round only") {
  Harness h(kSelf);
  h.standing.leaving = true;
  const auto refuse_all = [&] {
    std::size_t count = 0;
    for (auto offers = h.sent<Offer>(); !offers.empty(); offers = h.sent<Offer>()) {
      for (const auto& [to, offer] : offers) {
        ++count;
        h.mover.on_offer_reply(to, {kJob, offer.offer, false, "the job ends"}, h.router, h.standing,
                               h.out);
      }
      h.mover.balance(kStart, h.router, h.standing, h.out);
    }
    return count;
  };
  h.mover.balance(kStart, h.router, h.standing, h.out);
  CHECK(refuse_all() <= 4);
  CHECK(h.mover.waiting(h.router, h.standing) ==
        "somebody to take v0-11; p3 refuses: the job ends");
  h.mover.on_timer(kStart + 200ms, h.router, h.standing, h.out);
  CHECK(h.sent<Offer>().size() == 2);
}

TEST_CASE("a leaver, and one without application, refuse offers") {
  Harness h(kOther);
  h.standing.leaving = true;

  h.mover.on_offer(kOther, {kJob, 1, {{range(0, 3), 2}}}, h.router, h.standing, h.out);
  const auto replies = h.sent<OfferReply>();

  REQUIRE(replies.size() == 1);
  CHECK_FALSE(replies[0].second.accepted);
  CHECK(h.mover.incoming() == 0);
}

TEST_CASE("what is on its way counts, so nobody asks twice") {
  Harness h(kOther);
  h.mover.on_offer(kOther, {kJob, 1, {{range(0, 3), 2}}}, h.router, h.standing, h.out);
  static_cast<void>(h.out.take());

  h.mover.balance(kStart, h.router, h.standing, h.out);

  CHECK(h.sent<Pull>().empty());
  CHECK(h.mover.incoming() == 4);
  h.mover.on_migrate(kOther, {kJob, {{VnodeId{0}, 2, {}}, {VnodeId{1}, 2, {}}}}, h.router,
                     h.standing, h.out);
  CHECK(h.mover.incoming() == 2);
}

TEST_CASE("what was asked for counts until it is answered, or for a second") {
  Harness h(kOther);
  h.mover.balance(kStart, h.router, h.standing, h.out);
  REQUIRE(h.sent<Pull>().size() == 1);
  h.mover.on_news();  // another attempt is worth while
  h.mover.balance(kStart + 30ms, h.router, h.standing, h.out);
  CHECK(h.sent<Pull>().empty());

  h.mover.on_offer_cancel(kOther, {kJob, {}}, h.router, h.standing, h.out);
  h.mover.on_news();
  h.mover.balance(kStart + 60ms, h.router, h.standing, h.out);
  CHECK(h.sent<Pull>().size() == 1);
  h.mover.on_news();
  h.mover.balance(kStart + 1060ms, h.router, h.standing, h.out);
  CHECK(h.sent<Pull>().size() == 1);
}

TEST_CASE("whoever is asked and has nothing to give says so") {
  Harness h(kOther);
  h.mover.on_pull(kThird, {kJob, 4, {}}, h.router, h.standing, h.out);
  const auto nothing = h.sent<OfferCancel>();
  REQUIRE(nothing.size() == 1);
  CHECK(nothing[0].first == kThird);
  CHECK(nothing[0].second.vnodes.empty());
}

TEST_CASE("vnodes kept without an application are handed over at once [Taura03 assume]") {
  Harness h(kSelf);
  h.router.keep(h.released(range(2, 3)), h.out);

  h.mover.on_pull(kOther, {kJob, 0, range(2, 5)}, h.router, h.standing, h.out);
  const auto items = h.out.take();

  const auto refused = support::sent<OfferCancel>(items);
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].second.vnodes[0].vnodes == range(4, 5));
  const auto offers = support::sent<Offer>(items);
  REQUIRE(offers.size() == 1);
  h.mover.on_offer_reply(kOther, {kJob, offers[0].second.offer, true, ""}, h.router, h.standing,
                         h.out);

  CHECK(h.sent<Migrate>().size() == 1);
  CHECK(h.router.map().owned_by(kOther) == range(2, 3));
}

TEST_CASE("limits: however much waits for a vnode, it follows the vnode, and is no part of it") {
  Harness h(kSelf);
  h.router.keep(h.released(range(2, 3)), h.out);
  const Payload large(Bytes(std::size_t{64} << 20U));
  constexpr std::uint64_t kPieces = 1030;
  for (std::uint64_t seq = 0; seq < kPieces; ++seq) {
    h.router.route({kJob, 0, PointToPoint{VnodeId{0}, VnodeId{2}, seq, 0, 0, large}}, h.out);
  }
  REQUIRE(h.router.parked_bytes() > kVnodeBytesMax);

  h.mover.on_pull(kOther, {kJob, 0, range(2, 3)}, h.router, h.standing, h.out);
  static_cast<void>(h.out.take());
  h.mover.on_offer_reply(kOther, {kJob, 1, true, ""}, h.router, h.standing, h.out);
  const auto items = h.out.take();

  const auto migrates = support::sent<Migrate>(items);
  REQUIRE(migrates.size() == 1);
  for (const VnodeParcel& parcel : migrates[0].second.parcels) {
    CHECK(weight_of(parcel).total() < kVnodeBytesMax);
  }
  const auto followed = support::sent<VnodeMessage>(items);
  REQUIRE(followed.size() == kPieces);
  for (std::uint64_t seq = 0; seq < kPieces; ++seq) {
    CHECK(followed[seq].first == kOther);
    CHECK(followed[seq].second.followed == 2);  // waits there for the vnode, at the latest
    CHECK(std::get<PointToPoint>(followed[seq].second.delivery).seq == seq);
  }
  const auto is_send = [](const auto& item) { return item.index() == 0; };
  const auto first = std::find_if(items.begin(), items.end(), is_send);
  CHECK(std::holds_alternative<Migrate>(std::get<JobOutbox::Send>(*first).message));
  CHECK(h.router.parked() == 0);
}

TEST_CASE("every vnode asked for is granted, or refused with a reason [Taura03 assume]") {
  const VnodeSet wanted = range(2, 3);
  Harness h(kOther);

  h.mover.assume(range(12, 13), h.router, h.standing, h.out);
  CHECK(h.refusals() == Refusals{{range(12, 13), "the job has 12 vnodes"}});

  h.mover.assume(wanted, h.router, h.standing, h.out);
  CHECK(h.sent<Pull>().size() == 1);
  h.mover.on_offer_cancel(kOther, {kJob, {{wanted, 0}}}, h.router, h.standing, h.out);
  CHECK(h.refusals() == Refusals{{wanted, "held by p2"}});

  h.mover.assume(wanted, h.router, h.standing, h.out);
  static_cast<void>(h.out.take());
  h.standing.members.erase(kOther);
  h.mover.on_gone(kOther, h.router, h.standing, h.out);
  CHECK(h.refusals() == Refusals{{wanted, "p2 is gone"}});

  h.mover.assume(wanted, h.router, h.standing, h.out);
  CHECK(h.refusals() == Refusals{{wanted, "p2 is gone"}});

  h.standing.leaving = true;
  h.mover.assume(wanted, h.router, h.standing, h.out);
  CHECK(h.refusals() == Refusals{{wanted, "this processor leaves"}});
}

TEST_CASE("who leaves still takes what its application asks for while it holds something") {
  Harness h(kOther);
  h.router.on_parcels({{VnodeId{0}, 2, {}}}, h.out);
  REQUIRE(h.router.held() == range(0, 0));
  h.standing.leaving = true;
  h.mover.on_offer(kOther, {kJob, 1, {{range(5, 5), 2}}}, h.router, h.standing, h.out);
  CHECK_FALSE(h.sent<OfferReply>().at(0).second.accepted);  // it has not asked

  h.mover.assume(range(2, 3), h.router, h.standing, h.out);
  CHECK(h.sent<Pull>().at(0).second.exactly == range(2, 3));
  h.mover.on_offer(kOther, {kJob, 2, {{range(2, 4), 2}}}, h.router, h.standing, h.out);
  CHECK_FALSE(h.sent<OfferReply>().at(0).second.accepted);  // not for all of that

  h.mover.assume(range(2, 3), h.router, h.standing, h.out);
  h.mover.on_offer(kOther, {kJob, 3, {{range(2, 3), 2}}}, h.router, h.standing, h.out);
  CHECK(h.sent<OfferReply>().at(0).second.accepted);
  CHECK_FALSE(h.mover.is_quiet());  // so it does not go before they have come
  h.mover.on_migrate(kOther, {kJob, {{VnodeId{2}, 2, {}}, {VnodeId{3}, 2, {}}}, 3, 0}, h.router,
                     h.standing, h.out);
  CHECK(h.router.held() == VnodeSet{VnodeId{0}, VnodeId{2}, VnodeId{3}});
}

TEST_CASE("what was released and nobody asks for is told") {
  Harness h(kSelf);
  CHECK(h.mover.waiting(h.router, h.standing) == "");

  h.router.keep(h.released(range(2, 3)), h.out);

  CHECK(h.mover.waiting(h.router, h.standing) ==
        "somebody to assume v2-3, which nobody holds since its release");
}

TEST_CASE("an answer that the application waits for is not waited for by a leaver") {
  Harness h(kOther);
  h.mover.assume(range(2, 3), h.router, h.standing, h.out);
  static_cast<void>(h.out.take());

  h.standing.leaving = true;
  h.mover.start_leaving(h.router, h.standing, h.out);

  CHECK(h.refusals() == Refusals{{range(2, 3), "this processor leaves"}});
  h.mover.on_offer_cancel(kOther, {kJob, {{range(2, 3), 0}}}, h.router, h.standing, h.out);
  CHECK(h.refusals().empty());
}

TEST_CASE(
    "who asked for vnodes that are offered when its program ends is told that they do not come") {
  Harness h(kOther);
  h.mover.assume(range(2, 4), h.router, h.standing, h.out);
  h.router.on_closing(h.out);
  static_cast<void>(h.out.take());

  h.mover.on_offer(kOther, {kJob, 1, {{range(3, 5), 2}}}, h.router, h.standing, h.out);
  const auto items = h.out.take();

  const auto replies = support::sent<OfferReply>(items);
  REQUIRE(replies.size() == 1);
  CHECK_FALSE(replies[0].second.accepted);
  CHECK(support::handed<AppRefused>(items) ==
        std::vector<AppRefused>{{range(3, 4), "the job ends"}});
  h.standing.leaving = true;
  h.mover.start_leaving(h.router, h.standing, h.out);
  CHECK(h.refusals() == Refusals{{range(2, 2), "this processor leaves"}});
}

TEST_CASE("a vnode that has moved on is asked for where it is now") {
  Harness h(kOther);
  h.mover.assume(range(2, 3), h.router, h.standing, h.out);
  h.router.on_routes({{range(2, 3), kThird, 2}}, h.out);
  static_cast<void>(h.out.take());

  h.mover.on_offer_cancel(kOther, {kJob, {{range(2, 3), 0}}}, h.router, h.standing, h.out);

  const auto pulls = h.sent<Pull>();
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0].first == kThird);
}

TEST_CASE("a former owner says where the vnodes are now, so that their owner is asked") {
  Harness former(kSelf);
  former.router.keep(former.released(range(2, 3)), former.out);
  static_cast<void>(former.router.give_kept(range(2, 3), kThird));
  Harness asker(kOther);  // kOther is the former owner seen from here
  asker.mover.assume(range(1, 3), asker.router, asker.standing, asker.out);
  static_cast<void>(asker.out.take());

  former.mover.on_pull(kOther, {kJob, 0, range(1, 3)}, former.router, former.standing, former.out);
  for (auto& item : former.out.take()) {
    auto& message = std::get<JobOutbox::Send>(item).message;
    if (const auto* m = std::get_if<Routes>(&message)) asker.router.on_routes(m->routes, asker.out);
    if (const auto* m = std::get_if<OfferCancel>(&message)) {
      asker.mover.on_offer_cancel(kOther, *m, asker.router, asker.standing, asker.out);
    }
  }
  const auto items = asker.out.take();

  CHECK(support::handed<AppRefused>(items) == std::vector<AppRefused>{{range(1, 1), "held by p2"}});
  CHECK(support::sent<Pull>(items) ==
        std::vector<std::pair<ProcessorId, Pull>>{{kThird, {kJob, 0, range(2, 3)}}});
}

TEST_CASE("vnodes that keep much are given when no others can be, the lightest first") {
  constexpr std::uint64_t kMuch = std::uint64_t{100} << 20U;
  Harness h(kSelf);
  const auto given = [&](const AppKeeps& kept) {
    h.mover.on_kept(kept);
    h.mover.on_pull(kOther, {kJob, 4, {}}, h.router, h.standing, h.out);
    VnodeSet offered;
    for (const auto& [to, offer] : h.sent<Offer>()) {
      for (const auto& group : offer.vnodes) offered = offered.united(group.vnodes);
    }
    return offered;
  };

  CHECK(given({{{VnodeId{11}, kMuch}, {VnodeId{10}, kMuch}}}) == range(6, 9));

  AppKeeps all;
  for (const VnodeId vnode : h.router.map().all().ids()) all.vnodes.push_back({vnode, kMuch});
  all.vnodes[3].bytes = kMuch - 1;
  CHECK(given(all) == range(3, 3));

  for (auto& [vnode, bytes] : all.vnodes) bytes = kVnodeKeptMax + 1;
  CHECK(given(all).empty());  // It could not come.
}

TEST_CASE(
    "a vnode that comes to who asks for it is not refused, although it is its giver's no more") {
  Harness giver(kSelf);
  giver.promise_four();
  giver.mover.on_released(giver.released(range(8, 11)), giver.router, giver.standing, giver.out);
  auto migrates = giver.sent<Migrate>();
  REQUIRE(migrates.size() == 1);
  giver.mover.on_pull(kOther, {kJob, 0, range(10, 10)}, giver.router, giver.standing, giver.out);
  const auto answer = giver.out.take();

  Harness asker(kSelf, kOther);
  asker.mover.on_offer(kSelf, {kJob, 1, {{range(8, 11), 2}}}, asker.router, asker.standing,
                       asker.out);
  asker.mover.assume(range(10, 10), asker.router, asker.standing, asker.out);
  REQUIRE(asker.sent<Pull>().size() == 1);
  for (const auto& [to, routes] : support::sent<Routes>(answer)) {
    asker.router.on_routes(routes.routes, asker.out);
  }
  const auto cancels = support::sent<OfferCancel>(answer);
  REQUIRE(cancels.size() == 1);
  const auto cancel = [&] {
    asker.mover.on_offer_cancel(kSelf, cancels[0].second, asker.router, asker.standing, asker.out);
  };
  cancel();
  CHECK(asker.refusals().empty());
  CHECK(asker.mover.incoming() == 4);

  asker.mover.on_migrate(kSelf, migrates[0].second, asker.router, asker.standing, asker.out);
  CHECK(support::handed<AppGrant>(asker.out.take()).size() == 1);
  CHECK(asker.mover.is_quiet());
  asker.mover.assume(range(0, 0), asker.router, asker.standing, asker.out);
  asker.mover.on_offer_cancel(kSelf, {kJob, {{range(0, 0), 0}}}, asker.router, asker.standing,
                              asker.out);
  CHECK(asker.refusals() == Refusals{{range(0, 0), "held by p1"}});
}

TEST_CASE("who has given a vnode back is not told that it comes to it") {
  Harness h(kSelf);
  h.promise_four();
  h.mover.on_released(h.released(range(8, 11)), h.router, h.standing, h.out);
  static_cast<void>(h.out.take());
  h.mover.assume(range(8, 8), h.router, h.standing, h.out);
  REQUIRE(h.sent<Pull>().size() == 1);

  h.router.on_routes({{range(8, 8), kSelf, 1}}, h.out);  // as its owner had it before
  h.mover.on_offer_cancel(kOther, {kJob, {{range(8, 8), 0}}}, h.router, h.standing, h.out);

  CHECK(h.refusals() == Refusals{{range(8, 8), "held by p2"}});
}

TEST_CASE("an offer of vnodes that do not exist is refused, and not waited for") {
  Harness h(kOther);

  h.mover.on_offer(kOther, {kJob, 1, {{range(10, 12), 2}}}, h.router, h.standing, h.out);

  CHECK(h.mover.is_quiet());
  const auto replies = h.sent<OfferReply>();
  REQUIRE(replies.size() == 1);
  CHECK_FALSE(replies[0].second.accepted);
}

TEST_CASE("who holds nothing takes no vnode of a job that ends") {
  Harness h(kOther);
  h.standing.ending = true;
  h.mover.on_offer(kOther, {kJob, 1, {{range(8, 9), 2}}}, h.router, h.standing, h.out);
  const auto replies = h.sent<OfferReply>();
  REQUIRE(replies.size() == 1);
  CHECK_FALSE(replies[0].second.accepted);
}

TEST_CASE("vnodes that come from another one than who promised them are not waited for") {
  Harness h(kOther);
  h.mover.on_offer(kOther, {kJob, 1, {{range(8, 9), 2}}}, h.router, h.standing, h.out);
  CHECK(!h.mover.is_quiet());
  Migrate migrate{kJob, {{VnodeId{8}, 3, {}}, {VnodeId{9}, 3, {}}}};
  h.mover.on_migrate(kThird, std::move(migrate), h.router, h.standing, h.out);
  CHECK(h.mover.is_quiet());
}

TEST_CASE("once the application is done nothing moves any more") {
  Harness h(kSelf);
  h.standing.ending = true;

  h.mover.on_pull(kOther, {kJob, 4, {}}, h.router, h.standing, h.out);
  h.mover.balance(kStart, h.router, h.standing, h.out);

  CHECK(h.out.take().empty());
}

}  // namespace
}  // namespace phx::runtime::mover_test

TEST_SUITE_END();
