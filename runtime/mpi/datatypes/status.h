#pragma once

#include <cstdint>
#include <limits>

#include "runtime/mpi/include/mpi.h"

/// The two fields of a status that are the library's: the bytes received, and whether the request
/// was cancelled, which is the lowest bit.
namespace phx::mpi {

[[nodiscard]] inline MPI_Count bytes_in(const MPI_Status& status) {
  const auto high =
      static_cast<MPI_Count>(static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1U);
  return (high << 32) | static_cast<std::uint32_t>(status.count_lo);
}
[[nodiscard]] inline bool is_cancelled(const MPI_Status& status) {
  return (static_cast<std::uint32_t>(status.count_hi_and_cancelled) & 1U) != 0;
}
inline void set_bytes(MPI_Status& status, MPI_Count bytes) {
  const auto high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(bytes) >> 32U) << 1U;
  status.count_lo = static_cast<int>(static_cast<std::uint32_t>(bytes));
  status.count_hi_and_cancelled = static_cast<int>(high | (is_cancelled(status) ? 1U : 0U));
}
inline void set_cancelled(MPI_Status& status, bool cancelled) {
  const auto kept = static_cast<std::uint32_t>(status.count_hi_and_cancelled) & ~1U;
  status.count_hi_and_cancelled = static_cast<int>(kept | (cancelled ? 1U : 0U));
}

/// What the forms with an int say of a number that may be too large for it.
[[nodiscard]] inline int int_or_undefined(MPI_Count number) {
  return number > std::numeric_limits<int>::max() ? MPI_UNDEFINED : static_cast<int>(number);
}

}  // namespace phx::mpi
