#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/vnodes/mover.h"
#include "tests/support/job_items.h"

// What a processor that begins to leave takes, and what it gives back [runtime/vnodes/README.md].
namespace phx::runtime::leaver_moves_test {
namespace {

constexpr ProcessorId kSelf{1}, kGiver{2};
constexpr JobId kJob{7};
constexpr std::uint64_t kFlowBytes = std::uint64_t{1} << 40U;

VnodeSet range(std::uint64_t first, std::uint64_t last) {
  return VnodeSet::range(VnodeId{first}, VnodeId{last});
}

/// A processor of a job of 12 vnodes, which another one has, but for `own` of them.
struct Harness {
  explicit Harness(const VnodeSet& own)
      : router(kSelf, kJob, VnodeMap(12, {kGiver}), kFlowBytes), mover(kSelf, kJob, 200ms, {}) {
    router.on_attached(ApplicationId{1}, out);
    for (const VnodeId vnode : own.ids()) router.on_parcels({{vnode, 2, {}}}, out);
    static_cast<void>(out.take());
    standing.ready = {kGiver};
    standing.members = {kGiver};
  }
  /// Accepts these in one offer.
  void accept(std::uint64_t offer, const VnodeSet& vnodes) {
    mover.on_offer(kGiver, {kJob, offer, {{vnodes, 3}}}, router, standing, out);
    const auto replies = support::sent<OfferReply>(out.take());
    REQUIRE(replies.size() == 1);
    REQUIRE(replies[0].second.accepted);
  }
  /// What it refuses when it begins to leave, or with the next view.
  std::vector<std::uint64_t> leave() {
    standing.leaving = true;
    mover.start_leaving(router, standing, out);
    const auto items = out.take();
    std::vector<std::uint64_t> refused;
    for (const auto& [to, reply] : support::sent<OfferReply>(items)) {
      if (!reply.accepted) refused.push_back(reply.offer);
    }
    app_refused += support::handed<AppRefused>(items).size();
    pieces_refused += support::sent<StateTaken>(items).size();
    return refused;
  }
  void piece(std::uint64_t offer, VnodeId vnode, std::uint64_t number, std::uint64_t all) {
    StatePiece piece;
    piece.job = kJob;
    piece.offer = offer;
    piece.vnode = vnode;
    piece.number = number;
    if (number == 0) piece.sizes = {all};
    piece.bytes = Payload(Bytes(1));
    mover.on_piece(kGiver, piece, router, standing, out);
    static_cast<void>(out.take());
  }

  Router router;
  Mover mover;
  Standing standing;
  JobOutbox out;
  std::size_t app_refused = 0;
  std::size_t pieces_refused = 0;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/leaver_moves");

TEST_CASE("a leaver does not wait for the next safe point of another processor's application") {
  Harness h({});
  h.accept(1, range(2, 3));
  h.accept(2, range(5, 5));

  CHECK(h.leave() == std::vector<std::uint64_t>{1, 2});

  // Its giver withdraws them, and nothing is waited for any more.
  CHECK_FALSE(h.mover.is_quiet());
  h.mover.on_offer_cancel(kGiver, {kJob, {{range(2, 5), 0}}}, h.router, h.standing, h.out);
  CHECK(h.mover.is_quiet());
  CHECK(h.leave().empty());
}

TEST_CASE("a leaver that holds something keeps waiting for what its application has asked for") {
  Harness h(range(0, 0));
  h.mover.assume(range(2, 3), h.router, h.standing, h.out);
  h.accept(1, range(2, 3));
  h.accept(2, range(5, 5));
  h.piece(1, VnodeId{2}, 0, 2);

  CHECK(h.leave() == std::vector<std::uint64_t>{2});
  CHECK(h.leave() == std::vector<std::uint64_t>{2});  // each view says so, until it is withdrawn

  CHECK(h.app_refused == 0);
  CHECK(h.pieces_refused == 0);
  h.piece(1, VnodeId{2}, 1, 2);  // the rest of it fits to what had come
  h.mover.on_migrate(kGiver, {kJob, {{VnodeId{2}, 3, {}}, {VnodeId{3}, 3, {}}}, 1, 0}, h.router,
                     h.standing, h.out);
  CHECK(h.router.held() == VnodeSet{VnodeId{0}, VnodeId{2}, VnodeId{3}});
}

TEST_CASE(
    "without vnodes of its own it gives back what was asked for, and what has begun to come") {
  Harness h({});
  h.mover.assume(range(2, 3), h.router, h.standing, h.out);
  h.accept(1, range(2, 3));
  h.piece(1, VnodeId{2}, 0, 2);

  h.leave();

  CHECK(h.app_refused == 1);
  CHECK(h.pieces_refused == 1);
}

TEST_CASE("what is there as a whole comes, although its receiver begins to leave") {
  Harness h({});
  h.accept(1, range(2, 2));
  h.piece(1, VnodeId{2}, 0, 1);

  CHECK(h.leave().empty());
}

TEST_SUITE_END();

}  // namespace phx::runtime::leaver_moves_test
