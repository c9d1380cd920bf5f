#include "collectives/reduce_op.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "overlay/base/rng.h"
#include "tests/collectives/values.h"

namespace phx::collectives::reduce_op_test {
namespace {

constexpr std::size_t kCount = 131;  // not a multiple of anything

std::vector<ReduceOp> all_ops() {
  using enum ReduceOp;
  return {kSum,       kMin,        kMax,    kProduct, kLogicalAnd,
          kLogicalOr, kLogicalXor, kBitAnd, kBitOr,   kBitXor};
}

bool is_bits(ReduceOp op) {
  return op == ReduceOp::kBitAnd || op == ReduceOp::kBitOr || op == ReduceOp::kBitXor;
}

/// What `op` means for one pair of elements, written as plainly as possible.
template <class T>
T plain(ReduceOp op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    if (op == ReduceOp::kSum) return static_cast<T>(x + y);
    if (op == ReduceOp::kProduct) return static_cast<T>(x * y);
    if (op == ReduceOp::kBitAnd) return static_cast<T>(x & y);
    if (op == ReduceOp::kBitOr) return static_cast<T>(x | y);
    if (op == ReduceOp::kBitXor) return static_cast<T>(x ^ y);
  }
  const bool p = a != T{0};
  const bool q = b != T{0};
  switch (op) {
    case ReduceOp::kSum:
      return static_cast<T>(a + b);
    case ReduceOp::kProduct:
      return static_cast<T>(a * b);
    case ReduceOp::kMin:
      return a < b ? a : b;
    case ReduceOp::kMax:
      return a > b ? a : b;
    case ReduceOp::kLogicalAnd:
      return T(p && q ? 1 : 0);
    case ReduceOp::kLogicalOr:
      return T(p || q ? 1 : 0);
    default:
      return T(p != q ? 1 : 0);
  }
}

template <class T>
std::vector<T> draw(Rng& rng) {
  std::vector<T> elements;
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::uint64_t bits = rng.chance(0.2) ? 0 : rng.next();  // zeros for the logical ones
    if constexpr (std::is_integral_v<T>) {
      elements.push_back(static_cast<T>(bits));
    } else {
      elements.push_back(static_cast<T>(static_cast<std::int64_t>(bits)) / T{3});
    }
  }
  return elements;
}

template <class T>
void check_all_ops(ReduceType type) {
  CAPTURE(std::string(to_string(type)));
  CHECK(element_size(type) == sizeof(T));
  Rng rng(17);
  const std::vector<T> a = draw<T>(rng);
  const std::vector<T> b = draw<T>(rng);
  for (const ReduceOp op : all_ops()) {
    CAPTURE(std::string(to_string(op)));
    const ReductionKind kind{op, type, false};
    if (is_bits(op) && !std::is_integral_v<T>) {
      CHECK_FALSE(check_value(kind, Payload{}).ok());
      CHECK_FALSE(combine(kind, array_of(a), array_of(b)).ok());
      continue;
    }
    std::vector<T> expected;
    for (std::size_t i = 0; i < kCount; ++i) expected.push_back(plain(op, a[i], b[i]));

    CHECK(elements_of<T>(combine(kind, array_of(a), array_of(b)).value()) == expected);
    CHECK(elements_of<T>(combine(kind, array_of(b), array_of(a)).value()) == expected);
  }
}

constexpr ReductionKind kSumOfInt32{ReduceOp::kSum, ReduceType::kInt32, false};

}  // namespace

TEST_SUITE_BEGIN("collectives/reduce_op");

TEST_CASE("every operator on every type equals the plain loop") {
  check_all_ops<std::int8_t>(ReduceType::kInt8);
  check_all_ops<std::int16_t>(ReduceType::kInt16);
  check_all_ops<std::int32_t>(ReduceType::kInt32);
  check_all_ops<std::int64_t>(ReduceType::kInt64);
  check_all_ops<std::uint8_t>(ReduceType::kUint8);
  check_all_ops<std::uint16_t>(ReduceType::kUint16);
  check_all_ops<std::uint32_t>(ReduceType::kUint32);
  check_all_ops<std::uint64_t>(ReduceType::kUint64);
  check_all_ops<float>(ReduceType::kFloat);
  check_all_ops<double>(ReduceType::kDouble);
}

TEST_CASE("sums and products of integers wrap around") {
  const auto most = std::numeric_limits<std::int32_t>::max();
  const Payload a = array_of<std::int32_t>({most, -most - 1});
  const Payload b = array_of<std::int32_t>({1, -1});

  const auto sum = elements_of<std::int32_t>(combine(kSumOfInt32, a, b).value());
  CHECK(sum == std::vector<std::int32_t>{-most - 1, most});

  const ReductionKind product{ReduceOp::kProduct, ReduceType::kUint16, false};
  const Payload wide = array_of<std::uint16_t>({65535});
  CHECK(elements_of<std::uint16_t>(combine(product, wide, wide).value()) ==
        std::vector<std::uint16_t>{1});
}

TEST_CASE("a minimum or maximum with a NaN is a NaN, from either side") {
  const Payload number = array_of<double>({1.0});
  const Payload nan = array_of<double>({std::nan("")});
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
    const ReductionKind kind{op, ReduceType::kDouble, false};
    CHECK(std::isnan(elements_of<double>(combine(kind, number, nan).value())[0]));
    CHECK(std::isnan(elements_of<double>(combine(kind, nan, number).value())[0]));
  }
}

TEST_CASE("values need no alignment") {
  Bytes bytes(1 + 3 * sizeof(double));
  const std::vector<double> elements{1.5, 2.5, 3.5};
  std::memcpy(bytes.data() + 1, elements.data(), 3 * sizeof(double));
  const Payload shifted = Payload(std::move(bytes)).slice(1, 3 * sizeof(double));

  const auto sum = combine({ReduceOp::kSum, ReduceType::kDouble, false}, shifted, shifted);

  CHECK(elements_of<double>(sum.value()) == std::vector<double>{3, 5, 7});
}

TEST_CASE("empty arrays combine to an empty array") {
  CHECK(combine(kSumOfInt32, Payload{}, Payload{}).value().empty());
}

TEST_CASE("sizes that differ or are no whole number of elements are errors") {
  const Payload one = array_of<std::int32_t>({1});
  const Payload two = array_of<std::int32_t>({1, 2});
  const Payload odd = Payload::copy_of("abcde");

  CHECK(combine(kSumOfInt32, one, two).error().code == ErrorCode::kBadInput);
  CHECK(combine(kSumOfInt32, one, two).error().what ==
        "values of 4 and 8 bytes cannot be combined");
  CHECK(combine(kSumOfInt32, odd, odd).error().what == "a value of 5 bytes is no array of int32");
  CHECK_FALSE(check_value(kSumOfInt32, odd).ok());
  CHECK(check_value(kSumOfInt32, two).ok());
}

TEST_CASE("user-defined operators take any bytes and are never combined here") {
  const ReductionKind user{ReduceOp::kUser, ReduceType::kBytes, false};
  CHECK(check_value(user, Payload::copy_of("abc")).ok());
  CHECK_FALSE(combine(user, Payload{}, Payload{}).ok());
  CHECK_FALSE(check_value({ReduceOp::kSum, ReduceType::kBytes, false}, Payload{}).ok());
}

TEST_CASE("operators and types that do not exist are errors, not crashes") {
  const auto op = static_cast<ReduceOp>(200);
  const auto type = static_cast<ReduceType>(200);
  CHECK_FALSE(check_value({op, ReduceType::kInt8, false}, Payload{}).ok());
  CHECK_FALSE(combine({ReduceOp::kSum, type, false}, Payload{}, Payload{}).ok());
  CHECK(element_size(type) == 0);
  CHECK(to_string(op) == "?");
}

TEST_SUITE_END();

}  // namespace phx::collectives::reduce_op_test
