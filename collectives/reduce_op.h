#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "collectives/messages.h"
#include "overlay/base/payload.h"
#include "overlay/base/result.h"

/// The arithmetic of reductions: values are arrays of one element type in the byte order of the
/// machine, without alignment. All operators are commutative and associative, except that sums and
/// products of floating-point numbers may differ in the last bits with the order of combination
/// [Saito08 G16]. Sums and products of integers wrap around, signed ones too. Logical operators
/// take 0 for false, everything else for true, and give 0 or 1. A minimum or maximum with a NaN is
/// a NaN. Bit operators are for integers only. Thread rule: no state, callable from anywhere.
namespace phx::collectives {

/// Of calls that combine without an operator of the caller; errors name the call.
inline constexpr ReductionKind kBarrier{ReduceOp::kLogicalAnd, ReduceType::kUint8, true};
inline constexpr ReductionKind kSafePoint{ReduceOp::kMax, ReduceType::kUint64, true};

/// Whether values of this operator stay side by side, one per vnode.
[[nodiscard]] constexpr bool is_bundled(ReduceOp op) {
  return op == ReduceOp::kUser || op == ReduceOp::kGather;
}

/// Bytes of one element; 0 for kBytes and for a type that does not exist.
[[nodiscard]] std::size_t element_size(ReduceType type);

/// Whether values of this kind exist (an operator that exists for the type: kBytes only with
/// those that are bundled, no bits of floating-point numbers), and `value` is a whole number of
/// elements (anything, if bundled). The error is kBadInput and says what does not fit.
[[nodiscard]] Status check_value(const ReductionKind& kind, const Payload& value);

/// to[i] = left[i] op right[i] for all elements. Errors (kBadInput, nothing changed): a kind that
/// does not exist, or is bundled, different sizes, no whole number of elements. REQUIRES
/// to.size() == left.size().
[[nodiscard]] Status combine_to(const ReductionKind& kind, std::span<std::byte> to,
                                std::span<const std::byte> left, std::span<const std::byte> right);

/// The combination as a new value; errors as of combine_to().
[[nodiscard]] Result<Payload> combine(const ReductionKind& kind, const Payload& a,
                                      const Payload& b);

/// As people write them: "sum", "logical-and", "int64". "?" if it does not exist.
[[nodiscard]] std::string_view to_string(ReduceOp op);
[[nodiscard]] std::string_view to_string(ReduceType type);

}  // namespace phx::collectives
