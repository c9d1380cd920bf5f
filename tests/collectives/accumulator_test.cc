#include "collectives/accumulator.h"

#include <doctest/doctest.h>

#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "collectives/reduce_op.h"
#include "overlay/base/rng.h"
#include "tests/collectives/values.h"

namespace phx::collectives::accumulator_test {
namespace {

using Added = Accumulator::Added;
constexpr ReductionKind kSum{ReduceOp::kSum, ReduceType::kInt64, false};
constexpr ReductionKind kOrdered{ReduceOp::kSum, ReduceType::kDouble, false, true};
constexpr ReductionKind kUser{ReduceOp::kUser, ReduceType::kBytes, false};

Added add_sum(Accumulator& sum, const VnodeSet& covered, std::int64_t value) {
  return sum.add(kSum, std::move(sum_token(covered, value).parts));
}

Added add_text(Accumulator& sum, const VnodeSet& covered, std::string_view text) {
  return sum.add(kUser, {{covered, Payload::copy_of(text)}});
}

}  // namespace

TEST_SUITE_BEGIN("collectives/accumulator");

TEST_CASE("[Saito08 G16 a] it is complete when the covered sets cover all vnodes") {
  Accumulator sum(kSum);
  CHECK_FALSE(sum.value().ok());

  CHECK(add_sum(sum, vnodes(4, 7), 30) == Added::kTaken);
  CHECK(add_sum(sum, vnodes(0, 1), 10) == Added::kTaken);
  CHECK_FALSE(sum.complete(vnodes(0, 7)));
  CHECK(sum.missing(vnodes(0, 7)) == vnodes(2, 3));
  CHECK(add_sum(sum, vnodes(2, 3), 2) == Added::kTaken);

  CHECK(sum.complete(vnodes(0, 7)));
  CHECK(sum.parts().size() == 1);
  CHECK(elements_of<std::int64_t>(sum.value().value()) == std::vector<std::int64_t>{42});
}

TEST_CASE("[Saito08 G16 b] what overlaps is refused as a whole and left to the caller") {
  Accumulator sum(kSum);
  add_sum(sum, vnodes(0, 3), 10);
  std::vector<ReductionPart> parts = sum_token(vnodes(3, 5), 7).parts;
  parts.push_back(sum_token(vnodes(9, 9), 1).parts.front());
  const std::vector<ReductionPart> before = parts;

  CHECK(sum.add(kSum, std::move(parts)) == Added::kOverlap);

  CHECK(parts == before);  // NOLINT(bugprone-use-after-move): that is the promise
  CHECK(sum.covered() == vnodes(0, 3));
  CHECK(elements_of<std::int64_t>(sum.value().value()) == std::vector<std::int64_t>{10});
}

TEST_CASE("a value that was given out stays as it was when more is added, here or to a copy") {
  Accumulator sum(kSum);
  const std::vector<ReductionPart> first = sum_token(vnodes(0, 0), 1).parts;
  std::vector<ReductionPart> given = first;
  CHECK(sum.add(kSum, std::move(given)) == Added::kTaken);
  add_sum(sum, vnodes(1, 1), 2);
  const Payload three = sum.value().value();
  Accumulator other = sum;

  add_sum(sum, vnodes(2, 2), 4);
  add_sum(other, vnodes(3, 3), 10);

  const auto is = [](const Payload& value, std::int64_t expected) {
    return elements_of<std::int64_t>(value) == std::vector<std::int64_t>{expected};
  };
  CHECK(is(first.front().value, 1));
  CHECK(is(three, 3));
  CHECK(is(sum.value().value(), 7));
  CHECK(is(other.value().value(), 13));
}

TEST_CASE("a token that overlaps itself is refused") {
  Accumulator sum(kSum);
  std::vector<ReductionPart> parts = sum_token(vnodes(0, 3), 10).parts;
  parts.push_back(parts.front());

  CHECK(sum.add(kSum, std::move(parts)) == Added::kOverlap);
  CHECK(sum.covered().empty());
}

TEST_CASE("arrays of different sizes count as covered and make the value an error") {
  Accumulator sum(kSum);
  add_sum(sum, vnodes(0, 3), 10);

  CHECK(sum.add(kSum, {{vnodes(4, 4), array_of<std::int64_t>({1, 2})}}) == Added::kUnfit);
  CHECK(add_sum(sum, vnodes(5, 5), 5) == Added::kTaken);

  CHECK(sum.complete(vnodes(0, 5)));
  CHECK(sum.bytes() == 24);
  REQUIRE_FALSE(sum.value().ok());
  CHECK(sum.value().error().what ==
        "the contribution of vnodes 4 does not fit: it has 16 bytes, that of vnodes 0-3 has 8");
}

TEST_CASE("a value that is no array of its type is an error, alone and with others") {
  Accumulator sum(kSum);

  CHECK(sum.add(kSum, {{vnodes(0, 0), Payload::copy_of("abc")}}) == Added::kUnfit);
  CHECK(sum.add(kSum, {{vnodes(1, 1), Payload::copy_of("abc")}}) == Added::kUnfit);

  CHECK(sum.complete(vnodes(0, 1)));
  CHECK_FALSE(sum.value().ok());
}

TEST_CASE("a contribution to another operation is covered and makes the value an error") {
  constexpr ReductionKind kMax{ReduceOp::kMax, ReduceType::kInt64, true};
  Accumulator sum(kSum);
  add_sum(sum, vnodes(0, 0), 10);

  CHECK(sum.add(kMax, std::move(sum_token(vnodes(1, 1), 7).parts)) == Added::kOtherKind);

  CHECK(sum.complete(vnodes(0, 1)));
  REQUIRE_FALSE(sum.value().ok());
  CHECK(sum.value().error().what ==
        "the contribution of vnodes 1 does not fit: it is for max of int64 to all instead of sum "
        "of int64");
  CHECK(Accumulator(kSum, sum.parts(), sum.misfit()).value().error().what ==
        sum.value().error().what);  // still known after a move
}

TEST_CASE("equal pieces of unequal values are no values of one call") {
  ReductionKind piece = kSum;
  const auto says = [&](std::uint64_t held_bytes, std::uint64_t bytes) {
    piece.whole_bytes = held_bytes;
    Accumulator sum(piece);
    CHECK(sum.add(piece, std::move(sum_token(vnodes(0, 1), 10).parts)) == Added::kTaken);
    piece.whole_bytes = bytes;
    CHECK(sum.add(piece, std::move(sum_token(vnodes(2, 2), 7).parts)) == Added::kOtherKind);
    REQUIRE_FALSE(sum.value().ok());
    return sum.value().error().what;
  };

  CHECK(says(1 << 20, 1 << 21) ==
        "the contribution of vnodes 2 does not fit: it has 2097152 bytes, that of vnodes 0-1 has "
        "1048576");
  CHECK(says(0, 1 << 21) ==
        "the contribution of vnodes 2 does not fit: it has 2097152 bytes, that of vnodes 0-1 has "
        "8");
}

TEST_CASE("calls without an operator are named, if they do not fit") {
  Accumulator barrier(kBarrier);
  const auto vote = [](std::uint64_t vnode) {
    return std::vector<ReductionPart>{{vnodes(vnode, vnode), Payload(Bytes(8))}};
  };
  REQUIRE(barrier.add(kBarrier, {{vnodes(0, 0), Payload(Bytes(1))}}) == Added::kTaken);

  CHECK(barrier.add(kSafePoint, vote(1)) == Added::kOtherKind);

  CHECK(barrier.value().error().what ==
        "the contribution of vnodes 1 does not fit: it is for max of uint64 to all (as at a safe "
        "point) instead of logical-and of uint8 to all (as in a barrier)");
}

TEST_CASE("the parts of one continue in another, as when the target moves") {
  Accumulator here(kSum);
  add_sum(here, vnodes(0, 3), 10);
  add_sum(here, vnodes(6, 7), 4);

  Accumulator there(kSum, here.take_parts());
  add_sum(there, vnodes(4, 5), 1);

  CHECK(here.covered().empty());
  CHECK(here.bytes() == 0);
  CHECK(there.complete(vnodes(0, 7)));
  CHECK(elements_of<std::int64_t>(there.value().value()) == std::vector<std::int64_t>{15});
}

TEST_CASE("taking a value leaves the payload of the contributor alone") {
  const ReductionToken token = sum_token(vnodes(0, 0), 10);
  Accumulator sum(kSum);
  sum.add(kSum, std::vector<ReductionPart>(token.parts));

  add_sum(sum, vnodes(1, 1), 5);

  CHECK(elements_of<std::int64_t>(token.parts[0].value) == std::vector<std::int64_t>{10});
}

TEST_CASE("a value that has been combined is not kept in memory") {
  const auto bytes = std::make_shared<const Bytes>(sizeof(std::int64_t));
  Accumulator sum(kSum);
  sum.add(kSum, {{vnodes(0, 0), Payload(bytes, *bytes)}});
  CHECK(bytes.use_count() == 2);

  add_sum(sum, vnodes(1, 1), 5);

  CHECK(bytes.use_count() == 1);
}

TEST_CASE("values of a program's operator are bundled in vnode order") {
  Accumulator bundle(kUser);
  CHECK(add_text(bundle, vnodes(2, 2), "c") == Added::kTaken);
  CHECK(add_text(bundle, vnodes(0, 0), "a") == Added::kTaken);
  CHECK(add_text(bundle, vnodes(3, 3), "ddd") == Added::kTaken);
  CHECK(add_text(bundle, vnodes(1, 1), "b") == Added::kTaken);

  CHECK(bundle.parts().size() == 4);
  const auto values = bundle.take_values();
  REQUIRE(values.ok());
  std::string text;
  for (const ReductionPart& part : values.value()) text += part.value.text();
  CHECK(text == "abcddd");
}

TEST_CASE("a bundle with a value that stands for several vnodes is refused") {
  Accumulator bundle(kUser);
  add_text(bundle, vnodes(0, 1), "ab");

  CHECK_FALSE(bundle.take_values().ok());
}

TEST_CASE("a bundle has no values if a vnode called something else, also one without elements") {
  constexpr ReductionKind kGather{ReduceOp::kGather, ReduceType::kBytes, false};
  for (const ReductionKind& other : {kGather, kSum, kBarrier}) {
    Accumulator bundle(kUser);
    add_text(bundle, vnodes(0, 0), "");
    CHECK(bundle.add(other, {{vnodes(1, 1), Payload{}}}) == Added::kOtherKind);
    CHECK(bundle.complete(vnodes(0, 1)));

    Accumulator moved(kUser, bundle.parts(), bundle.misfit());
    const std::string why = "the contribution of vnodes 1 does not fit: it is for ";
    REQUIRE_FALSE(moved.take_values().ok());
    CHECK(moved.take_values().error().what.find(why) == 0);
    CHECK(bundle.take_values().error().what.find(why) == 0);
  }
  Accumulator empty(kSum);
  CHECK(empty.add(kSum, {{vnodes(0, 0), Payload{}}}) == Added::kTaken);
  CHECK(empty.add(kUser, {{vnodes(1, 1), Payload{}}}) == Added::kOtherKind);
  CHECK(
      Accumulator(kSum, empty.parts(), empty.misfit()).value().error().what ==
      "the contribution of vnodes 1 does not fit: it is for an operator of the program instead of "
      "sum of int64");
}

TEST_CASE("ordered: halves of a block are combined as soon as both are here, and nothing else") {
  Accumulator sum(kOrdered);
  const auto add = [&](std::uint64_t v) {
    return sum.add(kOrdered, {{vnodes(v, v), array_of(std::vector{1.0 + static_cast<double>(v)})}});
  };
  const auto covered = [&] {
    std::string text;
    for (const ReductionPart& part : sum.parts()) text += to_string(part.covered) + " ";
    return text;
  };

  for (const std::uint64_t v : {3U, 6U, 4U, 1U}) CHECK(add(v) == Added::kTaken);
  CHECK(covered() == "1 3 4 6 ");
  CHECK(add(2) == Added::kTaken);
  CHECK(covered() == "1 2-3 4 6 ");
  CHECK(sum.bytes() == 4 * sizeof(double));
  CHECK(add(0) == Added::kTaken);
  CHECK(covered() == "0-3 4 6 ");
  CHECK(add(5) == Added::kTaken);
  CHECK(covered() == "0-3 4-5 6 ");
  CHECK(sum.longest() == sizeof(double));
  CHECK(elements_of<double>(sum.value().value()) == std::vector{28.0});
}

TEST_CASE("ordered: all orders of arrival give the same bits, with parts that come combined") {
  constexpr std::uint64_t kVnodes = 37;
  const auto value = [](std::uint64_t v) {
    return array_of(std::vector{static_cast<double>(Rng(v).next())});
  };
  std::set<std::vector<double>> results;
  std::set<std::vector<double>> unordered;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const bool is_ordered : {true, false}) {
      ReductionKind kind = kOrdered;
      kind.ordered = is_ordered;
      Rng rng(seed);
      std::vector<Accumulator> sums(5, Accumulator(kind));
      std::vector<std::uint64_t> left(kVnodes);
      std::iota(left.begin(), left.end(), std::uint64_t{0});
      while (!left.empty()) {
        const auto at = left.begin() + static_cast<std::ptrdiff_t>(rng.below(left.size()));
        CHECK(sums[rng.below(5)].add(kind, {{vnodes(*at, *at), value(*at)}}) == Added::kTaken);
        left.erase(at);
      }
      Accumulator whole(kind);
      for (Accumulator& sum : sums) CHECK(whole.add(kind, sum.take_parts()) == Added::kTaken);
      REQUIRE(whole.complete(vnodes(0, kVnodes - 1)));
      (is_ordered ? results : unordered).insert(elements_of<double>(whole.value().value()));
    }
  }
  CHECK(results.size() == 1);
  CHECK(unordered.size() > 1);
}

TEST_CASE("ordered: what was combined in another order, or has another size, is an error") {
  Accumulator sum(kOrdered);
  CHECK(sum.add(kOrdered, {{vnodes(1, 2), array_of(std::vector{1.0})}}) == Added::kUnfit);
  CHECK(sum.value().error().what.find("in another order") != std::string::npos);

  Accumulator sizes(kOrdered);
  CHECK(sizes.add(kOrdered, {{vnodes(0, 0), array_of(std::vector{1.0})}}) == Added::kTaken);
  CHECK(sizes.add(kOrdered, {{vnodes(1, 1), array_of(std::vector{1.0, 2.0})}}) == Added::kUnfit);
  CHECK(sizes.value().error().what.find("has 16 bytes") != std::string::npos);
  // The error is found again by whoever gets its parts.
  CHECK_FALSE(Accumulator(kOrdered, sizes.take_parts()).value().ok());

  Accumulator kinds(kOrdered);
  ReductionKind other = kOrdered;
  other.ordered = false;
  CHECK(kinds.add(other, {{vnodes(0, 0), array_of(std::vector{1.0})}}) == Added::kOtherKind);
  CHECK_FALSE(kinds.value().ok());
}

TEST_CASE("ordered: integers are combined at once, because their sums are the same in any order") {
  ReductionKind kind = kSum;
  kind.ordered = true;
  Accumulator sum(kind);
  for (const std::uint64_t v : {1U, 4U, 6U}) {
    CHECK(sum.add(kind, sum_token(vnodes(v, v), 1).parts) == Added::kTaken);
  }
  CHECK(sum.parts().size() == 1);
}

TEST_SUITE_END();

}  // namespace phx::collectives::accumulator_test
