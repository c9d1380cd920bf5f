#include "runtime/messages/stream_table.h"

#include <doctest/doctest.h>

#include <cstdint>

#include "runtime/endpoint/endpoint.h"
#include "runtime/endpoint/holdings.h"
#include "runtime/messages/weight.h"

namespace phx::runtime::stream_table_test {
namespace {

using Inbounds = StreamTable<VnodeBundle::Inbound>;
constexpr VnodeId kSelf{1'000'000};
constexpr std::uint64_t kPartners = 10'000;

void deliver(Holdings& holdings, VnodeId from, std::uint64_t seq, std::size_t bytes = 8) {
  Holdings::Outcome outcome;
  holdings.deliver(PointToPoint{from, kSelf, seq, 0, 0, Payload(Bytes(bytes))}, outcome);
}

/// What all that it takes costs, and has taken.
std::size_t take_all(Holdings& holdings) {
  std::size_t count = 0;
  while (holdings.take({})) ++count;
  return count;
}

std::uint64_t header_of(const VnodeBundle& bundle) {
  return weight_of(bundle).header;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/stream_table");

TEST_CASE("streams that are quiet rest, and wake as they were") {
  Inbounds streams;
  streams[VnodeId{3}] = {.next = 7, .begun = {}, .early = {}, .offset = 70, .limit = 90};
  streams[VnodeId{4}] = streams[VnodeId{3}];
  streams[VnodeId{5}].next = 1;
  streams[VnodeId{5}].begun.emplace_back();

  streams.rest();

  CHECK(streams.active().size() == 1);
  CHECK(streams.resting().runs() ==
        std::vector<Inbounds::Resting::Run>{{VnodeId{3}, VnodeId{4}, {7, 70, 90, 0}}});
  CHECK(streams.next(VnodeId{4}) == 7);
  CHECK(streams[VnodeId{4}].limit == 90);
  ++streams[VnodeId{4}].next;
  CHECK(streams.next(VnodeId{4}) == 8);
  CHECK(streams.next(VnodeId{3}) == 7);
  CHECK(streams.next(VnodeId{9}) == 0);
  CHECK(streams.find(VnodeId{9}) == nullptr);
}

TEST_CASE("a flow whose receiver wants nothing more rests as such") {
  StreamTable<VnodeBundle::Outbound> flows;
  flows[VnodeId{2}].received = kFlowClosed;
  flows[VnodeId{3}] = {
      .next = 4, .received = 4, .emitted = 4, .offset = 99, .limit = 100, .kept = {}};

  flows.rest();

  CHECK(flows.active().empty());
  CHECK(flows[VnodeId{2}].received == kFlowClosed);
  CHECK(flows[VnodeId{3}].emitted == 4);
  CHECK(flows[VnodeId{3}].received == 4);
}

TEST_CASE(
    "limits: however many partners there were, few are active, and equal ones are one entry") {
  Holdings holdings({});
  holdings.add({kSelf, 1, {}});
  holdings.install();
  const std::uint64_t none = header_of(holdings.bundle(kSelf));

  for (std::uint64_t round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < kPartners; ++i) {
      deliver(holdings, VnodeId{i}, round);
      REQUIRE(take_all(holdings) == 1);
      if (i % 100 == 0) holdings.check_invariants();
    }
  }

  CHECK(holdings.bundle(kSelf).from_vnodes.active().size() <= 16);
  CHECK(holdings.bundle(kSelf).from_vnodes.resting().runs().size() <= 2 * 16);
  CHECK(header_of(holdings.remove(kSelf)) <= none + 64);
}

TEST_CASE(
    "partners that differ take 64 bytes each, and what came before stays known after a move") {
  Holdings before({});
  before.add({kSelf, 1, {}});
  before.install();
  const std::uint64_t none = header_of(before.bundle(kSelf));
  for (std::uint64_t i = 0; i < kPartners; ++i) {
    for (std::uint64_t seq = 0; seq <= i % 3; ++seq) deliver(before, VnodeId{i}, seq);
  }
  CHECK(before.bundle(kSelf).from_vnodes.active().size() >= kPartners);  // nothing was taken
  CHECK(take_all(before) == kPartners * 2 - 1);

  VnodeBundle bundle = before.remove(kSelf);
  CHECK(bundle.from_vnodes.active().empty());
  CHECK(header_of(bundle) <= none + 64 * kPartners);
  Holdings after({});
  after.add({kSelf, 2, std::move(bundle)});
  after.install();
  for (std::uint64_t i = 0; i < kPartners; ++i) {
    for (std::uint64_t seq = 0; seq <= i % 3 + 1; ++seq) deliver(after, VnodeId{i}, seq);
  }

  CHECK(after.counters().duplicates == kPartners * 2 - 1);
  CHECK(take_all(after) == kPartners);
  after.check_invariants();
}

TEST_CASE("roots that have broadcast once rest as well") {
  Holdings holdings({});
  holdings.add({kSelf, 1, {}});
  holdings.install();
  Holdings::Outcome outcome;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    BroadcastDelivery delivery{VnodeSet{kSelf}, {}};
    delivery.piece.root = VnodeId{i};
    delivery.piece.payload = Payload(Bytes(8));
    holdings.deliver(delivery, outcome);
    holdings.deliver(delivery, outcome);
  }

  CHECK(holdings.counters().duplicates == 1'000);
  CHECK(holdings.bundle(kSelf).from_roots.active().size() <= 16);
  CHECK(take_all(holdings) == 1'000);
  const VnodeBundle bundle = holdings.remove(kSelf);
  CHECK(bundle.from_roots.active().empty());
  CHECK(bundle.from_roots.resting().runs().size() == 1);
}

TEST_CASE("a source that has sent to many remembers numbers alone") {
  Outflows flows(64'000);
  Outflows::Pieces out;
  const VnodeId source{0};
  for (std::uint64_t round = 0; round < 2; ++round) {
    for (std::uint64_t i = 1; i <= kPartners; ++i) {
      flows.push({source, VnodeId{i}, 0, 0, 0, Payload(Bytes(8))}, out);
      REQUIRE(out.back().seq == round);
      flows.on_credit({source, VnodeId{i}, round + 1, 0, {}}, out);
      if (i % 100 == 0) flows.check_invariants();
    }
  }
  CHECK(out.size() == 2 * kPartners);

  const Outflows::Flows gone = flows.remove(source);

  CHECK(gone.active().empty());
  CHECK(gone.resting().runs() == std::vector<Outflows::Flows::Resting::Run>{
                                     {VnodeId{1}, VnodeId{kPartners}, {2, 144, 0, 0}}});
}

TEST_SUITE_END();

}  // namespace phx::runtime::stream_table_test
