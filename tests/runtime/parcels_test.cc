#include "runtime/messages/parcels.h"
#include "runtime/messages/weight.h"

#include <doctest/doctest.h>

#include "runtime/channels/stream.h"

namespace phx::runtime::parcels_test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

/// A mailbox of `count` messages that share the bytes of one.
std::vector<Message> messages(std::size_t count, std::uint64_t bytes) {
  Message message;
  message.payload = Payload(Bytes(static_cast<std::size_t>(bytes)));
  return std::vector<Message>(count, message);
}

VnodeParcel parcel(std::uint64_t vnode, std::uint64_t state_bytes) {
  VnodeParcel parcel{VnodeId{vnode}, 1, {}};
  parcel.bundle.state = Payload(Bytes(static_cast<std::size_t>(state_bytes)));
  return parcel;
}

std::vector<std::vector<std::uint64_t>> numbers(
    const std::vector<std::vector<VnodeParcel>>& portions) {
  std::vector<std::vector<std::uint64_t>> result;
  for (const auto& portion : portions) {
    result.emplace_back();
    for (const VnodeParcel& p : portion) result.back().push_back(p.vnode.value);
  }
  return result;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/parcels");

TEST_CASE("every payload of a vnode counts") {
  const Payload kilobyte(Bytes(1024));
  const PointToPoint piece{VnodeId{1}, VnodeId{2}, 3, 0, false, kilobyte};
  VnodeParcel full{VnodeId{2}, 1, {}};
  const std::uint64_t empty = weight_of(full).total();
  full.bundle.state = kilobyte;
  full.bundle.mailbox = messages(1, 1024);
  full.bundle.from_vnodes[VnodeId{1}] = {0, {kilobyte}, {{4, piece}}};
  BroadcastDelivery broadcast;
  broadcast.piece.payload = kilobyte;
  full.bundle.from_roots[VnodeId{1}] = {0, {}, {{4, broadcast}}};
  full.bundle.as_target.pending[7].parts.push_back({VnodeSet{VnodeId{1}}, kilobyte});

  CHECK(weight_of(full).total() >= empty + 6 * 1024);
  CHECK(weight_of(full).total() < empty + 7 * 1024);
  CHECK(weight_of(Envelope{Migrate{JobId{1}, {full}}}).total() >= weight_of(full).total());
}

TEST_CASE("limits: a vnode with more than a frame holds is named, with its size") {
  VnodeBundle bundle;
  bundle.mailbox = messages(65'535, kMiB);
  CHECK(why_immovable(VnodeId{5}, bundle).empty());

  bundle.mailbox = messages(70'000, kMiB);

  CHECK(why_immovable(VnodeId{5}, bundle) ==
        "v5 cannot move: its state and messages take 70000 MiB, and at most 65536 MiB can move; "
        "cut it into more vnodes");
}

TEST_CASE("limits: a vnode with more messages than a list holds is named, too") {
  VnodeBundle bundle;
  std::vector<Payload>& begun = bundle.from_vnodes[VnodeId{1}].begun;
  begun.resize(kVnodeEntriesMax);
  CHECK(why_immovable(VnodeId{5}, bundle).empty());

  begun.resize(kVnodeEntriesMax + 1);

  CHECK(why_immovable(VnodeId{5}, bundle) ==
        "v5 cannot move: it has 1048577 messages or counters of one kind, and at most 1048576 can "
        "move; receive more often");
}

TEST_CASE("limits: a vnode with lists that are too much together is named, too") {
  VnodeBundle bundle;
  const PointToPoint piece{VnodeId{1}, VnodeId{2}, 3, 0, false, {}};
  for (std::uint64_t from = 0; from < 2; ++from) {
    auto& early = bundle.from_vnodes[VnodeId{from}].early;
    for (std::uint64_t seq = 1; seq <= 500'000; ++seq) early.emplace_hint(early.end(), seq, piece);
  }
  CHECK(why_immovable(VnodeId{5}, bundle).empty());

  bundle.mailbox = messages(100'000, 0);

  CHECK(why_immovable(VnodeId{5}, bundle) ==
        "v5 cannot move: its messages and counters take 67 MiB besides their contents, and at most "
        "64 MiB can move; receive more often");
}

TEST_CASE("small vnodes travel together, up to 64 MiB, and a larger one by itself") {
  std::vector<VnodeParcel> parcels;
  const std::vector<std::uint64_t> sizes{20, 20, 20, 20, 100, 1, 1};
  for (std::size_t i = 0; i < sizes.size(); ++i) parcels.push_back(parcel(i, sizes[i] * kMiB));

  const auto portions = in_portions(std::move(parcels));

  CHECK(numbers(portions) == std::vector<std::vector<std::uint64_t>>{{0, 1, 2}, {3}, {4}, {5, 6}});
  CHECK(in_portions({}).empty());
}

TEST_SUITE_END();

}  // namespace phx::runtime::parcels_test
