#include "runtime/endpoint/assembly.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/endpoint/endpoint.h"
#include "tests/support/seeds.h"

namespace phx::runtime::assembly_test {
namespace {

using collectives::BroadcastPiece;
using collectives::Purpose;

constexpr VnodeId v0{0}, v1{1}, v2{2}, v3{3};
const VnodeSet kMine = VnodeSet::range(v1, v3);

/// A process with three vnodes that hear broadcasts of v0, in pieces of two characters.
struct Listener {
  Listener()
      : endpoint({.room = [this](std::size_t bytes) {
          rooms.push_back(bytes);
          return std::make_shared<std::byte[]>(bytes);
        }}) {
    endpoint.on_message(AppAttached{JobId{1}, ProcessorId{1}, 4, ""});
    AppGrant grant;
    for (const VnodeId v : kMine.ids()) grant.parcels.push_back({v, 1, {}});
    endpoint.on_message(std::move(grant));
    static_cast<void>(endpoint.begin_safe_point(endpoint.due()));
    endpoint.finish_safe_point({});
  }
  ~Listener() { endpoint.check_invariants(); }

  /// Piece `number` of broadcasts of this text, one behind the other. Its memory is lent: only as
  /// long as somebody keeps it.
  std::weak_ptr<const std::string> deliver(const VnodeSet& to, std::uint64_t number,
                                           const std::string& text) {
    const std::size_t pieces = (text.size() + 1) / 2;
    const std::size_t begin = 2 * static_cast<std::size_t>(number % pieces);
    const auto lent = std::make_shared<const std::string>(text.substr(begin, 2));
    const std::size_t rest = text.size() - begin - lent->size();
    const Payload payload(lent, std::as_bytes(std::span(*lent)));
    const auto bits = static_cast<std::uint8_t>(std::bit_width(rest));
    const BroadcastPiece piece{v0, number, 0, Purpose::kApplication, bits, payload};
    endpoint.on_message(AppDeliver{++delivered, BroadcastDelivery{to, piece}});
    return lent;
  }
  std::vector<Payload> taken(VnodeId at) {
    std::vector<Payload> all;
    while (auto one = endpoint.take({.at = at})) all.push_back(one->second.payload);
    return all;
  }

  std::vector<std::size_t> rooms;
  Endpoint endpoint;
  std::uint64_t delivered = 0;
};

TEST_SUITE_BEGIN("runtime/assembly");

TEST_CASE("what lies right behind in the same memory extends a payload, and nothing else does") {
  const Payload whole = Payload::copy_of(std::string_view("abcdef"));
  Payload part = whole.slice(0, 2);

  CHECK_FALSE(part.extend(whole.slice(3, 1)));
  CHECK_FALSE(part.extend(Payload::copy_of(std::string_view("cd"))));
  CHECK(part.text() == "ab");
  CHECK(part.extend(whole.slice(2, 3)));
  CHECK(part.text() == "abcde");
}

TEST_CASE("pieces that do not lie one behind the other are joined by a copy") {
  const std::vector<Payload> apart{Payload::copy_of(std::string_view("ab")), Payload(),
                                   Payload::copy_of(std::string_view("cd"))};

  CHECK(joined(apart, Payload::copy_of(std::string_view("e")), {}).text() == "abcde");
  CHECK(joined({}, apart[0], {}).bytes().data() == apart[0].bytes().data());
  CHECK(joined({Payload()}, Payload(), {}).empty());
}

TEST_CASE("a long broadcast is put together in one room, once for all vnodes of a process") {
  Listener here;

  for (std::uint64_t n = 0; n < 3; ++n) {
    // It is copied at once, once: what was lent is free again.
    CHECK(here.deliver(kMine, n, "abcde").expired());
  }

  CHECK(here.rooms == std::vector<std::size_t>{5});
  const auto first = here.taken(v1);
  const auto last = here.taken(v3);
  REQUIRE(first.size() == 1);
  REQUIRE(last.size() == 1);
  CHECK(first[0].text() == "abcde");
  CHECK(last[0].bytes().data() == first[0].bytes().data());
}

TEST_CASE("a vnode that is behind the others here does not take their room") {
  Listener here;
  const std::string text = "abcdefgh";  // 6 follow the first piece: 3 bits, so 7 at most
  here.deliver({v1, v2}, 0, text);
  here.deliver({v1, v2}, 1, text);
  here.deliver({v3}, 0, text);

  CHECK(here.deliver({v1, v2}, 2, text).expired());
  for (std::uint64_t n = 1; n < 4; ++n) here.deliver({v3}, n, text);
  CHECK(here.deliver({v1, v2}, 3, text).expired());

  CHECK(here.rooms == std::vector<std::size_t>{9, 8});
  for (const VnodeId v : kMine.ids()) {
    const auto taken = here.taken(v);
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].text() == text);
  }
}

TEST_CASE("whatever comes to whom in which order, each vnode has each broadcast whole") {
  const std::string text = "abcdefghijk";
  constexpr std::uint64_t kPieces = 3 * 6;
  for (std::uint64_t seed = 0; seed < support::seeds(400); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Listener here;
    std::vector<std::pair<VnodeId, std::uint64_t>> missing;
    for (const VnodeId v : kMine.ids()) {
      for (std::uint64_t n = 0; n < kPieces; ++n) missing.emplace_back(v, n);
    }
    while (!missing.empty()) {
      // One of the next ones as a rule, so that rooms are in use, at times for several vnodes.
      const auto at = static_cast<std::ptrdiff_t>(rng.below(
          std::min<std::uint64_t>(missing.size(), rng.below(4) == 0 ? missing.size() : 2)));
      const auto [v, n] = missing[static_cast<std::size_t>(at)];
      VnodeSet to{v};
      if (rng.below(2) == 0) to = kMine;
      here.deliver(to, n, text);
      std::erase_if(missing, [&, n = n](const auto& one) {
        return one.second == n && to.contains(one.first);
      });
      here.endpoint.check_invariants();
    }
    for (const VnodeId v : kMine.ids()) {
      const auto taken = here.taken(v);
      REQUIRE(taken.size() == 3);
      CHECK(std::all_of(taken.begin(), taken.end(),
                        [&](const Payload& one) { return one.text() == text; }));
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace phx::runtime::assembly_test
