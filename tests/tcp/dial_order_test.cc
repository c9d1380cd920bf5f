#include "runtime/tcp/dial_order.h"

#include <doctest/doctest.h>

#include <vector>

namespace phx::tcp::dial_order_test {
namespace {

constexpr Instant kStart{1h};

Instant at(Duration since_start) {
  return kStart + since_start;
}

/// All that are to be begun at this moment.
std::vector<std::size_t> begun(DialOrder& order, Duration since_start) {
  std::vector<std::size_t> numbers;
  while (const auto next = order.begin(at(since_start))) numbers.push_back(*next);
  return numbers;
}

using Numbers = std::vector<std::size_t>;

}  // namespace

TEST_SUITE_BEGIN("tcp/dial_order");

TEST_CASE("each address has a head start before the next one") {
  DialOrder order(3, {.head_start = 250ms});

  CHECK(begun(order, 0ms) == Numbers{0});
  CHECK(order.next_deadline() == at(250ms));
  CHECK(begun(order, 249ms) == Numbers{});
  CHECK(begun(order, 250ms) == Numbers{1});
  CHECK(begun(order, 700ms) == Numbers{2});
  CHECK(!order.next_deadline());
  CHECK(!order.is_over());
}

TEST_CASE("after a failure the next one does not wait") {
  DialOrder order(3, {.head_start = 250ms});
  CHECK(begun(order, 0ms) == Numbers{0});

  order.on_failed();

  CHECK(begun(order, 1ms) == Numbers{1});
  CHECK(order.next_deadline() == at(251ms));
}

TEST_CASE("a failure of an earlier one lets the next one begin, too") {
  DialOrder order(4, {.head_start = 250ms});
  CHECK(begun(order, 0ms) == Numbers{0});
  CHECK(begun(order, 250ms) == Numbers{1});

  order.on_failed();

  REQUIRE(order.next_deadline());
  CHECK(*order.next_deadline() <= at(260ms));
  CHECK(begun(order, 260ms) == Numbers{2});
  CHECK(order.next_deadline() == at(510ms));
}

TEST_CASE("no more than so many are under way at once") {
  DialOrder order(4, {.head_start = 250ms, .at_once = 2});
  CHECK(begun(order, 0ms) == Numbers{0});
  CHECK(begun(order, 250ms) == Numbers{1});

  CHECK(begun(order, 10s) == Numbers{});
  CHECK(!order.next_deadline());
  order.on_failed();
  CHECK(begun(order, 10s) == Numbers{2});
  CHECK(begun(order, 20s) == Numbers{});
  CHECK(!order.is_over());
}

TEST_CASE("it is over when all have failed, at once without any") {
  DialOrder order(2, {});
  CHECK(begun(order, 0ms) == Numbers{0});
  CHECK(begun(order, 1s) == Numbers{1});

  order.on_failed();
  CHECK(!order.is_over());
  order.on_failed();

  CHECK(order.is_over());
  CHECK(begun(order, 2s) == Numbers{});
  CHECK(DialOrder(0, {}).is_over());
}

TEST_SUITE_END();

}  // namespace phx::tcp::dial_order_test
