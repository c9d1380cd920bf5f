#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives/messages.h"
#include "runtime/api/message.h"
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

/// What is combined, and how: made by reduction<T>().
struct Reduction {
  using Fold = std::function<Payload(const Payload& left, const Payload& right)>;
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
  constexpr bool kIsFloating = std::is_floating_point_v<E>;
  constexpr std::array kFloating = {kFloat, kDouble};
  constexpr std::array kSigned = {kInt8, kInt16, kInt32, kInt64};
  constexpr std::array kUnsigned = {kUint8, kUint16, kUint32, kUint64};
  if constexpr (kIsFloating) return kFloating[kSize - 2];
  return std::is_signed_v<E> ? kSigned[kSize] : kUnsigned[kSize];
}

/// Folds two arrays of elements E of the same length, element by element.
template <class E, class Op>
[[nodiscard]] Payload fold_elements(const Payload& left, const Payload& right, const Op& op) {
  auto a = decode<std::vector<E>>(left);
  const auto b = decode<std::vector<E>>(right);
  if (a.size() != b.size()) {
    throw Failure(ErrorCode::kBadInput, "arrays of " + std::to_string(a.size()) + " and " +
                                            std::to_string(b.size()) +
                                            " elements cannot be combined");
  }
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = op(a[i], b[i]);
  return encode(a);
}

/// What vnode `v` contributes: `of(v)`, or `of` itself if that is no function of a vnode.
template <class Of>
[[nodiscard]] decltype(auto) value_of(const Of& of, Vnode v) {
  if constexpr (std::is_invocable_v<const Of&, Vnode>) {
    return of(v);
  } else {
    return (of);
  }
}
template <class Of>
using ValueOf = std::remove_cvref_t<decltype(value_of(std::declval<const Of&>(), Vnode{}))>;

/// What each vnode gives, as bytes.
using VnodeValues = std::vector<std::pair<Vnode, Payload>>;
template <class Of>
[[nodiscard]] VnodeValues values_of(const std::vector<Vnode>& vnodes, const Of& of) {
  VnodeValues values;
  for (const Vnode v : vnodes) values.emplace_back(v, encode(value_of(of, v)));
  return values;
}

/// `op` is one of the operators above, or a callable (E, E) -> E for the elements, which must be
/// associative; it is applied in the order of the vnodes.
template <class T, class Op>
[[nodiscard]] Reduction reduction(Op op, bool to_all) {
  using E = Element<T>;
  if constexpr (std::is_same_v<Op, collectives::ReduceOp>) {
    if (op == collectives::ReduceOp::kUser) {
      throw Failure(ErrorCode::kBadInput, "for an operator of your own give the function itself");
    }
    return {{op, reduce_type<E>(), to_all}, sizeof(E), {}};
  } else {
    const collectives::ReductionKind kind{collectives::ReduceOp::kUser,
                                          collectives::ReduceType::kBytes, to_all};
    if constexpr (Plain<E>) {
      return {kind, sizeof(E), [op](const Payload& left, const Payload& right) {
                return fold_elements<E>(left, right, op);
              }};
    } else {
      return {kind, 0, [op](const Payload& left, const Payload& right) {
                return encode(op(decode<T>(left), decode<T>(right)));
              }};
    }
  }
}

}  // namespace phx
