#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives/reduce_op.h"
#include "runtime/api/values.h"

namespace phx {

/// The built-in operators: on numbers and, element by element, on vectors and arrays of numbers.
// NOLINTBEGIN(readability-identifier-naming): words of the language that applications write.
inline constexpr auto sum = collectives::ReduceOp::kSum;
inline constexpr auto min = collectives::ReduceOp::kMin;
inline constexpr auto max = collectives::ReduceOp::kMax;
inline constexpr auto product = collectives::ReduceOp::kProduct;
inline constexpr auto logical_and = collectives::ReduceOp::kLogicalAnd;
inline constexpr auto logical_or = collectives::ReduceOp::kLogicalOr;
inline constexpr auto logical_xor = collectives::ReduceOp::kLogicalXor;
inline constexpr auto bit_and = collectives::ReduceOp::kBitAnd;
inline constexpr auto bit_or = collectives::ReduceOp::kBitOr;
inline constexpr auto bit_xor = collectives::ReduceOp::kBitXor;
// NOLINTEND(readability-identifier-naming)

/// A built-in operator whose floating-point results have the same bits, whoever holds which vnode,
/// joins or leaves. Costs: collectives/README.md, "Ordered". Operators of one's own are so anyway.
struct Ordered {
  collectives::ReduceOp op;
};
[[nodiscard]] constexpr Ordered ordered(collectives::ReduceOp op) {
  return {op};
}

template <class Op>
concept BuiltIn = std::is_same_v<Op, collectives::ReduceOp> || std::is_same_v<Op, Ordered>;

/// What is combined, and how: made by reduction<T>().
struct Reduction {
  /// The values of all vnodes in their order, one or more, as one.
  using Fold = std::function<Payload(const std::vector<Payload>& values)>;
  collectives::ReductionKind kind;
  std::size_t element_bytes = 0;  ///< Where values may be cut; 0: nowhere.
  Fold fold;                      ///< Of a user-defined operator.
};

template <class T>
struct ElementOf {
  using type = T;
};
template <class T>
concept Elementwise = PlainArray<T> && !Plain<T> && !std::is_same_v<T, std::string>;
template <Elementwise T>
struct ElementOf<T> {
  using type = std::remove_cvref_t<decltype(*std::span(std::declval<const T&>()).data())>;
};
/// Of an array its element; of anything else, also of a text, itself.
template <class T>
using Element = typename ElementOf<T>::type;

template <class E>
[[nodiscard]] constexpr collectives::ReduceType reduce_type() {
  using enum collectives::ReduceType;
  static_assert(std::is_arithmetic_v<E> && sizeof(E) <= 8,
                "the built-in operators are for numbers");
  constexpr std::size_t kSize = std::bit_width(sizeof(E)) - 1;  // 1, 2, 4, 8 bytes
  constexpr std::array kSigned = {kInt8, kInt16, kInt32, kInt64};
  constexpr std::array kUnsigned = {kUint8, kUint16, kUint32, kUint64};
  if constexpr (std::is_floating_point_v<E>) return std::array{kFloat, kDouble}[kSize - 2];
  return std::is_signed_v<E> ? kSigned[kSize] : kUnsigned[kSize];
}

/// Folds arrays of elements E of the same length, element by element.
template <class E, class Op>
[[nodiscard]] Payload fold_elements(const std::vector<Payload>& values, const Op& op) {
  if constexpr (std::is_same_v<E, bool>) {  // A vector of them is no array.
    const auto on_bytes = [&](char a, char b) -> char { return op(a != 0, b != 0) ? 1 : 0; };
    return fold_elements<char>(values, on_bytes);
  }
  auto folded = decode<std::vector<E>>(values.front());
  for (std::size_t n = 1; n < values.size(); ++n) {
    const auto next = decode<std::vector<E>>(values[n]);
    if (folded.size() != next.size()) {
      throw Failure(ErrorCode::kBadInput, "arrays of " + std::to_string(folded.size()) + " and " +
                                              std::to_string(next.size()) +
                                              " elements cannot be combined");
    }
    for (std::size_t i = 0; i < folded.size(); ++i) folded[i] = op(folded[i], next[i]);
  }
  return encode(folded);
}
template <class T, class Op>
[[nodiscard]] Payload fold_values(const std::vector<Payload>& values, const Op& op) {
  auto folded = decode<T>(values.front());
  const auto others = std::span(values).subspan(1);
  for (const Payload& next : others) folded = op(std::move(folded), decode<T>(next));
  return encode(folded);
}

/// Says that an operator is for whole values, also of arrays: whole(op)(T, T) -> T.
template <class Op>
struct Whole {
  Op op;
};
template <class Op>
[[nodiscard]] Whole<Op> whole(Op op) {
  return {std::move(op)};
}
template <class Op>
inline constexpr bool kIsWhole = false;
template <class Op>
inline constexpr bool kIsWhole<Whole<Op>> = true;

/// `op` is one of the operators above, ordered() or not, or a callable (E, E) -> E for the
/// elements, or whole() of a callable (T, T) -> T. It must be associative; it is applied in the
/// order of the vnodes.
template <class T, class Op>
[[nodiscard]] Reduction reduction(Op op, bool to_all) {
  using E = Element<T>;
  const collectives::ReductionKind kind{collectives::ReduceOp::kUser,
                                        collectives::ReduceType::kBytes, to_all};
  if constexpr (std::is_same_v<Op, collectives::ReduceOp>) {
    if (collectives::is_bundled(op)) {
      throw Failure(ErrorCode::kBadInput, "for an operator of your own give the function itself");
    }
    if (std::is_same_v<E, bool> && op == collectives::ReduceOp::kSum) {
      throw Failure(ErrorCode::kBadInput, "no sum is a bool: take phx::logical_or, or count ints");
    }
    return {{op, reduce_type<E>(), to_all}, sizeof(E), {}};
  } else if constexpr (std::is_same_v<Op, Ordered>) {
    Reduction result = reduction<T>(op.op, to_all);
    result.kind.ordered = true;
    return result;
  } else if constexpr (kIsWhole<Op>) {
    return {kind, 0, [op](const auto& values) { return fold_values<T>(values, op.op); }};
  } else if constexpr (Plain<E>) {
    return {kind, sizeof(E), [op](const auto& values) { return fold_elements<E>(values, op); }};
  } else {
    return {kind, 0,
            [op](const std::vector<Payload>& values) { return fold_values<T>(values, op); }};
  }
}

}  // namespace phx
