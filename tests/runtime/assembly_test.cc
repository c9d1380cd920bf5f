#include "runtime/endpoint/assembly.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/endpoint/holdings.h"
#include "tests/support/seeds.h"

namespace phx::runtime::assembly_test {
namespace {

using collectives::BroadcastPiece;
using collectives::Purpose;

constexpr VnodeId v0{0}, v1{1}, v2{2}, v3{3}, v9{9};
const VnodeSet kAll = VnodeSet::range(v1, v3);
const std::string kText = "abcdefgh";

Payload text(std::string_view characters) {
  return Payload::copy_of(characters);
}

std::uint8_t bits(std::uint64_t rest) {
  return static_cast<std::uint8_t>(std::bit_width(rest));
}

/// Processes that hear broadcasts, of equal texts in pieces of two characters each.
struct Listeners {
  explicit Listeners(std::size_t processes) {
    for (std::size_t i = 0; i < processes; ++i) {
      here.push_back(std::make_unique<Holdings>(InflowOptions{}, [this](std::size_t size) {
        sizes.push_back(size);
        const auto room = std::make_shared_for_overwrite<std::byte[]>(size);
        rooms.emplace_back(room);
        return room;
      }));
    }
    for (const VnodeId v : kAll.ids()) put(0, {v, 1, {}});
  }

  void put(std::size_t at, VnodeParcel parcel) {
    holder[parcel.vnode] = at;
    here[at]->add(std::move(parcel));
    here[at]->install();
  }
  void move(VnodeId v, std::size_t to) {
    put(to, {v, 1, here[holder[v]]->remove(v)});
    check();
  }
  void check() const {
    for (const auto& one : here) one->check_invariants();
  }
  void deliver(const VnodeSet& to, const BroadcastPiece& piece) {
    for (std::size_t i = 0; i < here.size(); ++i) {
      VnodeSet held;
      for (const VnodeId v : to.ids()) {
        if (holder[v] == i) held.insert(v);
      }
      Holdings::Outcome outcome;
      if (!held.empty()) here[i]->deliver(BroadcastDelivery{held, piece}, outcome);
    }
  }
  /// Piece `number` of the broadcasts of `root`. Its memory is lent: whether somebody keeps it.
  bool is_kept(const VnodeSet& to, std::uint64_t number, VnodeId root = v0, std::uint8_t lie = 0) {
    const std::size_t begin = 2 * static_cast<std::size_t>(number % 4);
    const auto lent = std::make_shared<const std::string>(kText.substr(begin, 2));
    const std::size_t rest = kText.size() - begin - 2;
    const auto rest_bits = rest > 0 && lie > 0 ? lie : bits(rest);
    const std::weak_ptr<const std::string> kept = lent;
    deliver(to, {root, number, 0, Purpose::kApplication, rest_bits,
                 Payload(lent, std::as_bytes(std::span(*lent)))});
    const bool others = lent.use_count() > 1;
    return others;
  }
  std::vector<Payload> taken(VnodeId v) {
    std::vector<Payload> all;
    const Selector wanted{.at = v, .kind = Message::Kind::kBroadcast};
    while (auto one = here[holder[v]]->take(wanted)) all.push_back(one->second.payload);
    return all;
  }
  [[nodiscard]] bool has_rooms() const {
    return std::any_of(rooms.begin(), rooms.end(),
                       [](const auto& room) { return !room.expired(); });
  }

  std::vector<std::size_t> sizes;  ///< Of the rooms that were made.
  std::vector<std::weak_ptr<std::byte[]>> rooms;
  std::vector<std::unique_ptr<Holdings>> here;
  std::map<VnodeId, std::size_t> holder;
};

TEST_SUITE_BEGIN("runtime/assembly");

TEST_CASE("pieces are joined in their order") {
  const auto joined = [](const std::vector<Payload>& pieces) {
    Assembly all;
    for (const Payload& piece : pieces) all.append(piece, 0, {});
    return all.whole();
  };
  CHECK(joined({text("ab"), Payload(), text("cd"), text("e")}).text() == "abcde");
  CHECK(joined({text("e")}).text() == "e");
  CHECK(joined({Payload(), Payload()}).empty());
}

TEST_CASE("an assembly that is outgrown keeps what it has") {
  Assembly all;
  std::string expected;
  for (const std::string part : {"a", "bcd", "", "efghi", "j"}) {
    all.append(text(part), 1, {});
    expected += part;
    CHECK(all.whole().text() == expected);
  }
  CHECK(all.pieces()[3].text() == "efghi");
  CHECK(all.pieces()[3].bytes().data() == all.whole().bytes().data() + 4);
}

// As along several trees. Each one that overtakes another one had to come again.
TEST_CASE("of a message longer than the room no piece is lost because it overtakes another one") {
  constexpr std::size_t kPiece = 1'000;
  constexpr std::uint64_t kPieces = 40;
  constexpr std::uint64_t kRow = 3;  // They come in the opposite order.
  InflowOptions small;
  small.inbox_bytes = 8 * kPiece;
  Holdings sink(small, {});
  sink.add({v1, 1, {}});
  sink.install();
  for (std::uint64_t first = 0; first < kPieces; first += kRow) {
    for (std::uint64_t number = std::min(first + kRow, kPieces); number-- > first;) {
      Holdings::Outcome outcome;
      sink.deliver(
          BroadcastDelivery{VnodeSet{v1},
                            {v0, number, 0, Purpose::kApplication,
                             bits((kPieces - number - 1) * kPiece), Payload(Bytes(kPiece))}},
          outcome);
    }
  }
  const auto taken = sink.take({.at = v1, .kind = Message::Kind::kBroadcast});
  REQUIRE(taken.has_value());
  CHECK(taken->second.payload.size() == kPieces * kPiece);
}

TEST_CASE("a long broadcast is put together in one room, once for all vnodes of a process") {
  Listeners all(1);

  // It is copied at once: what was lent is free again.
  for (std::uint64_t n = 0; n < 4; ++n) CHECK_FALSE(all.is_kept(kAll, n));

  CHECK(all.sizes == std::vector<std::size_t>{8});
  {
    const auto first = all.taken(v1);
    const auto last = all.taken(v3);
    REQUIRE(first.size() == 1);
    REQUIRE(last.size() == 1);
    CHECK(first[0].text() == kText);
    CHECK(last[0].bytes().data() == first[0].bytes().data());
    static_cast<void>(all.taken(v2));
  }
  CHECK_FALSE(all.has_rooms());
}

TEST_CASE("a vnode that is behind the others of its process takes their room all the same") {
  for (const VnodeId behind : {v1, v3}) {
    Listeners all(1);
    const VnodeSet ahead = kAll.minus(VnodeSet{behind});
    CHECK_FALSE(all.is_kept(ahead, 0));
    CHECK_FALSE(all.is_kept(ahead, 1));
    CHECK_FALSE(all.is_kept({behind}, 0));
    CHECK_FALSE(all.is_kept(ahead, 2));
    for (std::uint64_t n = 1; n < 3; ++n) CHECK_FALSE(all.is_kept({behind}, n));
    CHECK_FALSE(all.is_kept(kAll, 3));

    CHECK(all.sizes == std::vector<std::size_t>{8});
    for (const VnodeId v : kAll.ids()) CHECK(all.taken(v).size() == 1);
    CHECK_FALSE(all.has_rooms());
  }
}

TEST_CASE("a vnode that comes with pieces from elsewhere has them in the room that is there") {
  Listeners all(2);
  all.move(v3, 1);
  for (std::uint64_t n = 0; n < 2; ++n) CHECK_FALSE(all.is_kept(kAll, n));
  all.move(v3, 0);
  for (std::uint64_t n = 2; n < 4; ++n) CHECK_FALSE(all.is_kept(kAll, n));

  CHECK(all.sizes == std::vector<std::size_t>{8, 8});
  const auto stayed = all.taken(v1);
  const auto came = all.taken(v3);
  REQUIRE(came.size() == 1);
  CHECK(came[0].bytes().data() == stayed[0].bytes().data());
}

TEST_CASE("the room of a broadcast goes with the last vnode that has begun it") {
  Listeners all(2);
  CHECK_FALSE(all.is_kept({v1, v2}, 0));
  all.move(v1, 1);
  CHECK(all.has_rooms());
  CHECK_FALSE(all.is_kept({v1, v2}, 1));
  CHECK(all.sizes.size() == 2);  // each process has its own
}

TEST_CASE("pieces that differ in length from one vnode to another do no harm") {
  Listeners all(1);
  const auto piece = [&](std::uint64_t number, std::size_t size, std::uint8_t rest_bits) {
    return BroadcastPiece{v0, number, 0, Purpose::kApplication, rest_bits, Payload(Bytes(size))};
  };
  all.deliver({v1}, piece(0, 1, 1));
  all.deliver({v2}, piece(0, 65'536, 1));
  all.deliver({v1, v2}, piece(1, 1, 1));
  all.deliver({v2}, piece(2, 1, 64));
  all.deliver({v1, v2}, piece(2, 70'000, 63));
  all.deliver({v1, v2, v3}, piece(3, 1, 0));

  const auto first = all.taken(v1);
  const auto second = all.taken(v2);
  REQUIRE(first.size() == 1);
  CHECK(first[0].size() >= 3);
  REQUIRE(second.size() == 1);
  CHECK(second[0].size() >= 3);
}

TEST_CASE("whatever comes to whom in which order, each vnode has each broadcast whole") {
  constexpr std::uint64_t kPieces = 3 * 4;
  struct Missing {
    VnodeId vnode;
    VnodeId root;
    std::uint64_t number;
  };
  for (std::uint64_t seed = 0; seed < support::seeds(400); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Listeners all(2);
    std::vector<Missing> missing;
    for (std::uint64_t n = 0; n < kPieces; ++n) {
      for (const VnodeId root : {v0, v9}) {
        for (const VnodeId v : kAll.ids()) missing.push_back({v, root, n});
      }
    }
    while (!missing.empty()) {
      // One of the next ones as a rule, so that rooms are in use, at times for several vnodes.
      const std::uint64_t near = rng.below(4) == 0 ? missing.size() : 8;
      const auto [v, root, n] = missing[static_cast<std::size_t>(
          rng.below(std::min<std::uint64_t>(missing.size(), near)))];
      const VnodeSet to = rng.below(2) == 0 ? kAll : VnodeSet{v};
      const std::uint8_t lie = rng.below(8) == 0 ? static_cast<std::uint8_t>(rng.below(20)) : 0;
      static_cast<void>(all.is_kept(to, n, root, lie));
      std::erase_if(missing, [&, root = root, n = n](const Missing& one) {
        return one.number == n && one.root == root && to.contains(one.vnode);
      });
      all.check();
      if (rng.below(6) == 0) all.move(VnodeId{1 + rng.below(3)}, rng.below(2));
    }
    for (const VnodeId v : kAll.ids()) {
      const auto taken = all.taken(v);
      REQUIRE(taken.size() == 6);
      CHECK(std::all_of(taken.begin(), taken.end(),
                        [&](const Payload& one) { return one.text() == kText; }));
    }
    CHECK_FALSE(all.has_rooms());
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace phx::runtime::assembly_test
