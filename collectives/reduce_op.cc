#include "collectives/reduce_op.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace phx::collectives {
namespace {

constexpr std::array<std::pair<ReduceOp, std::string_view>, 12> kOps{{
    {ReduceOp::kSum, "sum"},
    {ReduceOp::kMin, "min"},
    {ReduceOp::kMax, "max"},
    {ReduceOp::kProduct, "product"},
    {ReduceOp::kLogicalAnd, "logical-and"},
    {ReduceOp::kLogicalOr, "logical-or"},
    {ReduceOp::kLogicalXor, "logical-xor"},
    {ReduceOp::kBitAnd, "bit-and"},
    {ReduceOp::kBitOr, "bit-or"},
    {ReduceOp::kBitXor, "bit-xor"},
    {ReduceOp::kUser, "an operator of the program"},
    {ReduceOp::kGather, "gather"},
}};

struct NamedType {
  ReduceType type;
  std::string_view name;
  std::size_t size;
};
constexpr std::array<NamedType, 11> kTypes{{
    {ReduceType::kInt8, "int8", 1},
    {ReduceType::kInt16, "int16", 2},
    {ReduceType::kInt32, "int32", 4},
    {ReduceType::kInt64, "int64", 8},
    {ReduceType::kUint8, "uint8", 1},
    {ReduceType::kUint16, "uint16", 2},
    {ReduceType::kUint32, "uint32", 4},
    {ReduceType::kUint64, "uint64", 8},
    {ReduceType::kFloat, "float", 4},
    {ReduceType::kDouble, "double", 8},
    {ReduceType::kBytes, "bytes", 0},
}};

bool is_bitwise(ReduceOp op) {
  return op == ReduceOp::kBitAnd || op == ReduceOp::kBitOr || op == ReduceOp::kBitXor;
}

Error bad(std::string what) {
  return Error{ErrorCode::kBadInput, std::move(what)};
}

/// Where integers are added and multiplied: unsigned, so that they wrap, and not narrower than
/// `unsigned`, because narrower ones are promoted to `int`, which does not wrap.
template <class T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

template <class T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  } else {
    return a + b;
  }
}

template <class T>
T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  } else {
    return a * b;
  }
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

// A NaN wins from either side, whatever the order: comparisons with it are false.
template <class T>
T smaller(T a, T b) {
  return (b < a || is_nan(b)) ? b : a;
}
template <class T>
T greater(T a, T b) {
  return (a < b || is_nan(b)) ? b : a;
}

/// Arrays of the same length; `to` may be one of the others.
struct Operands {
  std::span<std::byte> to;
  std::span<const std::byte> left;
  std::span<const std::byte> right;
};

/// Applies `f` to all elements, in blocks that are copied out first: that makes the inner loop free
/// of alignment and aliasing, so that the compiler vectorises it. `f` is a lambda, not the address
/// of a function, which would be called for each element.
template <class T, class F>
void for_elements(const Operands& with, F f) {
  constexpr std::size_t kBlock = 64;
  const std::size_t count = with.to.size() / sizeof(T);
  std::array<T, kBlock> a{};
  std::array<T, kBlock> b{};
  for (std::size_t done = 0; done < count; done += kBlock) {
    const std::size_t at = done * sizeof(T);
    const std::size_t bytes = std::min(kBlock, count - done) * sizeof(T);
    std::memcpy(a.data(), with.left.data() + at, bytes);
    std::memcpy(b.data(), with.right.data() + at, bytes);
    for (std::size_t i = 0; i < kBlock; ++i) a[i] = f(a[i], b[i]);
    std::memcpy(with.to.data() + at, a.data(), bytes);
  }
}

template <class T>
void apply_bits(ReduceOp op, const Operands& with) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (op) {
      case ReduceOp::kBitAnd:
        return for_elements<U>(with, [](U a, U b) { return static_cast<U>(a & b); });
      case ReduceOp::kBitOr:
        return for_elements<U>(with, [](U a, U b) { return static_cast<U>(a | b); });
      default:
        return for_elements<U>(with, [](U a, U b) { return static_cast<U>(a ^ b); });
    }
  }
}

/// REQUIRES an operator that exists for T.
template <class T>
void apply(ReduceOp op, const Operands& with) {
  constexpr T kZero{0};
  switch (op) {
    case ReduceOp::kSum:
      return for_elements<T>(with, [](T a, T b) { return add(a, b); });
    case ReduceOp::kProduct:
      return for_elements<T>(with, [](T a, T b) { return multiply(a, b); });
    case ReduceOp::kMin:
      return for_elements<T>(with, [](T a, T b) { return smaller(a, b); });
    case ReduceOp::kMax:
      return for_elements<T>(with, [](T a, T b) { return greater(a, b); });
    case ReduceOp::kLogicalAnd:
      return for_elements<T>(with,
                             [](T a, T b) { return static_cast<T>(a != kZero && b != kZero); });
    case ReduceOp::kLogicalOr:
      return for_elements<T>(with,
                             [](T a, T b) { return static_cast<T>(a != kZero || b != kZero); });
    case ReduceOp::kLogicalXor:
      return for_elements<T>(with,
                             [](T a, T b) { return static_cast<T>((a != kZero) != (b != kZero)); });
    default:
      return apply_bits<T>(op, with);
  }
}

/// Calls `f` with a value of the element type. REQUIRES an arithmetic type.
template <class F>
void with_type(ReduceType type, F f) {
  switch (type) {
    case ReduceType::kInt8:
      return f(std::int8_t{});
    case ReduceType::kInt16:
      return f(std::int16_t{});
    case ReduceType::kInt32:
      return f(std::int32_t{});
    case ReduceType::kInt64:
      return f(std::int64_t{});
    case ReduceType::kUint8:
      return f(std::uint8_t{});
    case ReduceType::kUint16:
      return f(std::uint16_t{});
    case ReduceType::kUint32:
      return f(std::uint32_t{});
    case ReduceType::kUint64:
      return f(std::uint64_t{});
    case ReduceType::kFloat:
      return f(float{});
    case ReduceType::kDouble:
      return f(double{});
    case ReduceType::kBytes:
      break;
  }
  PHX_CHECK(false);
}

Status check_kind(const ReductionKind& kind) {
  const std::string_view op = to_string(kind.op);
  const std::string_view type = to_string(kind.type);
  if (op == "?" || type == "?") return bad("no such operator or element type");
  if (is_bundled(kind.op)) return success();
  const bool is_float = kind.type == ReduceType::kFloat || kind.type == ReduceType::kDouble;
  if (kind.type == ReduceType::kBytes || (is_bitwise(kind.op) && is_float)) {
    return bad("there is no " + std::string(op) + " of " + std::string(type));
  }
  return success();
}

Status check_size(const ReductionKind& kind, std::size_t size) {
  const std::size_t element = element_size(kind.type);
  if (is_bundled(kind.op) || size % element == 0) return success();
  return bad("a value of " + std::to_string(size) + " bytes is no array of " +
             std::string(to_string(kind.type)));
}

}  // namespace

std::size_t element_size(ReduceType type) {
  const auto at = std::find_if(kTypes.begin(), kTypes.end(),
                               [type](const NamedType& named) { return named.type == type; });
  return at == kTypes.end() ? 0 : at->size;
}

Status check_value(const ReductionKind& kind, const Payload& value) {
  if (Status status = check_kind(kind); !status.ok()) return status;
  return check_size(kind, value.size());
}

Status combine_to(const ReductionKind& kind, std::span<std::byte> to,
                  std::span<const std::byte> left, std::span<const std::byte> right) {
  if (Status status = check_kind(kind); !status.ok()) return status;
  if (is_bundled(kind.op)) return bad("such values are put together at the target");
  if (Status status = check_size(kind, left.size()); !status.ok()) return status;
  if (left.size() != right.size()) {
    return bad("values of " + std::to_string(left.size()) + " and " + std::to_string(right.size()) +
               " bytes cannot be combined");
  }
  PHX_CHECK(to.size() == left.size());
  const Operands with{to, left, right};
  with_type(kind.type, [&](auto zero) { apply<decltype(zero)>(kind.op, with); });
  return success();
}

Result<Payload> combine(const ReductionKind& kind, const Payload& a, const Payload& b) {
  Bytes to(a.size());
  if (Status status = combine_to(kind, to, a.bytes(), b.bytes()); !status.ok()) {
    return status.error();
  }
  return Payload(std::move(to));
}

std::string_view to_string(ReduceOp op) {
  const auto at =
      std::find_if(kOps.begin(), kOps.end(), [op](const auto& named) { return named.first == op; });
  return at == kOps.end() ? "?" : at->second;
}

std::string_view to_string(ReduceType type) {
  const auto at = std::find_if(kTypes.begin(), kTypes.end(),
                               [type](const NamedType& named) { return named.type == type; });
  return at == kTypes.end() ? "?" : at->name;
}

}  // namespace phx::collectives
