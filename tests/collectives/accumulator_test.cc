#include "collectives/accumulator.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "tests/collectives/values.h"

namespace phx::collectives {
namespace {

using Added = Accumulator::Added;
constexpr ReductionKind kSum{ReduceOp::kSum, ReduceType::kInt64, false};
constexpr ReductionKind kUser{ReduceOp::kUser, ReduceType::kBytes, false};

Added add_sum(Accumulator& sum, const VnodeSet& covered, std::int64_t value) {
  return sum.add(kSum, std::move(sum_token(covered, value).parts));
}

Added add_text(Accumulator& sum, const VnodeSet& covered, std::string_view text) {
  return sum.add(kUser, {{covered, Payload::copy_of(text)}});
}

Payload joined(const Payload& left, const Payload& right) {
  return Payload::copy_of("(" + std::string(left.text()) + std::string(right.text()) + ")");
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
  CHECK_FALSE(Accumulator(kSum, sum.parts()).value().ok());  // still known after a move
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

TEST_CASE("user-defined operators are bundled and folded from the left in vnode order") {
  Accumulator bundle(kUser);
  CHECK(add_text(bundle, vnodes(2, 2), "c") == Added::kTaken);
  CHECK(add_text(bundle, vnodes(0, 0), "a") == Added::kTaken);
  CHECK(add_text(bundle, vnodes(3, 3), "ddd") == Added::kTaken);
  CHECK(add_text(bundle, vnodes(1, 1), "b") == Added::kTaken);

  CHECK(bundle.parts().size() == 4);
  CHECK(bundle.parts()[1].covered == vnodes(1, 1));
  CHECK(bundle.value(joined).value().text() == "(((ab)c)ddd)");
  CHECK_FALSE(bundle.value().ok());
}

TEST_CASE("a bundle with a value that stands for several vnodes cannot be folded") {
  Accumulator bundle(kUser);
  add_text(bundle, vnodes(0, 1), "ab");

  CHECK_FALSE(bundle.value(joined).ok());
}

TEST_SUITE_END();

}  // namespace phx::collectives
