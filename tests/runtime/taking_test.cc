#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/endpoint/endpoint.h"

namespace phx::runtime::taking_test {
namespace {

constexpr VnodeId v0{0}, v1{1}, v2{2};

/// An endpoint of a job of three vnodes that holds the first two.
struct Receiver {
  Receiver() {
    endpoint.on_message(AppAttached{JobId{1}, ProcessorId{1}, 3, ""});
    endpoint.on_message(AppGrant{{{v0, 1, {}}, {v1, 1, {}}}});
    static_cast<void>(endpoint.begin_safe_point(endpoint.due()));
    endpoint.finish_safe_point({});
  }
  ~Receiver() { endpoint.check_invariants(); }

  /// So many from v2, to the two in turn, with tags 0, 1, 2, 0, ...
  void get(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i, ++sent) {
      const auto tag = static_cast<std::uint32_t>(sent % 3);
      const PointToPoint message{
          v2, sent % 2 == 0 ? v0 : v1, sent / 2, tag, 0, Payload::copy_of(std::to_string(sent))};
      endpoint.on_message(AppDeliver{sent + 1, message});
    }
  }

  Endpoint endpoint;
  std::uint64_t sent = 0;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/taking");

TEST_CASE("of each message it is asked once whether it is wanted, however many are") {
  Receiver receiver;
  Endpoint& endpoint = receiver.endpoint;
  std::size_t asked = 0;
  const auto has_tag_1 = [&](VnodeId, const Message& message) {
    ++asked;
    return message.tag == 1;
  };
  std::vector<Received> all;
  std::uint64_t since = 0;
  for (int round = 0; round < 100; ++round) {
    receiver.get(30);
    for (Received& one : endpoint.take_if(has_tag_1, since)) all.push_back(std::move(one));
    since = endpoint.arrivals();
  }

  CHECK(asked == 3000);
  REQUIRE(all.size() == 1000);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t number = 3 * i + 1;
    CHECK(all[i].first == (number % 2 == 0 ? v0 : v1));
    CHECK(all[i].second.payload.text() == std::to_string(number));
  }
  CHECK(endpoint.count({}) == 2000);
  CHECK(endpoint.take({})->second.payload.text() == "0");
}

TEST_CASE("what is reserved goes to those who name it, piece by piece") {
  ReservedResults reserved;
  constexpr auto kKind = Message::Kind::kAllreduced;
  const auto has = [&](VnodeId at, VnodeId target, std::uint64_t number) {
    Message message;
    message.kind = kKind;
    message.from = target;
    message.number = number;
    return reserved.contains(at, message);
  };
  reserved.add(kKind, v0, v1, 5, 3);
  reserved.add(kKind, v0, v1, 10, 1);
  reserved.add(kKind, v1, v1, 7, 1);
  CHECK_FALSE(has(v0, v1, 4));
  CHECK((has(v0, v1, 5) && has(v0, v1, 7) && has(v0, v1, 10) && has(v1, v1, 7)));
  CHECK_FALSE((has(v0, v1, 8) || has(v0, v1, 11) || has(v0, v0, 5) || has(v1, v1, 5)));

  reserved.remove(kKind, v0, v1, 5);
  CHECK_FALSE(has(v0, v1, 5));
  CHECK(has(v0, v1, 6));
  for (const std::uint64_t number : {6U, 7U, 10U}) reserved.remove(kKind, v0, v1, number);
  reserved.remove(kKind, v1, v1, 7);
  CHECK(reserved.empty());
}

TEST_SUITE_END();

}  // namespace phx::runtime::taking_test
