#include "runtime/mpi/datatypes/external32.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace phx::mpi {
namespace {

constexpr std::size_t kLongest = 16;
using Number = std::array<std::byte, kLongest>;  ///< little-endian, as long as it may be

/// The number as long as it may be: integers keep their value, the extended format becomes IEEE's.
Number widened(const Basic& basic, const std::byte* native, std::size_t size) {
  Number number{};
  if (basic.format == Format::kExtended) {
    long double value = 0;
    std::memcpy(&value, native, sizeof value);
    const Quad quad = value;
    std::memcpy(number.data(), &quad, sizeof quad);
    return number;
  }
  const bool is_negative =
      basic.format == Format::kSigned && (native[size - 1] & std::byte{0x80}) != std::byte{0};
  number.fill(is_negative ? std::byte{0xFF} : std::byte{0});
  std::memcpy(number.data(), native, size);
  return number;
}

void narrow(const Basic& basic, Number number, std::byte* native, std::size_t size,
            std::size_t written) {
  if (basic.format == Format::kExtended) {
    Quad quad = 0;
    std::memcpy(&quad, number.data(), sizeof quad);
    const auto value = static_cast<long double>(quad);
    std::memcpy(native, &value, sizeof value);
    return;
  }
  const bool is_negative =
      basic.format == Format::kSigned && (number[written - 1] & std::byte{0x80}) != std::byte{0};
  for (std::size_t i = written; i < kLongest && is_negative; ++i) number[i] = std::byte{0xFF};
  std::memcpy(native, number.data(), size);
}

/// How long one part of an element is on this machine and in external32.
struct Lengths {
  std::size_t native, external;
};
Lengths lengths_of(const Basic& basic) {
  return {static_cast<std::size_t>(basic.size / basic.parts),
          static_cast<std::size_t>(basic.external / basic.parts)};
}

template <class Convert>
void for_each_part(const Signature& signature, MPI_Count count, Convert convert) {
  for (MPI_Count i = 0; i < count; ++i) {
    signature.for_each([&](const Basic& basic, MPI_Count elements) {
      const Lengths lengths = lengths_of(basic);
      for (MPI_Count part = 0; part < elements * basic.parts; ++part) convert(basic, lengths);
    });
  }
}

}  // namespace

void to_external32(const Signature& signature, MPI_Count count, const void* packed, void* out) {
  const auto* native = static_cast<const std::byte*>(packed);
  auto* external = static_cast<std::byte*>(out);
  for_each_part(signature, count, [&](const Basic& basic, Lengths lengths) {
    const Number number = widened(basic, native, lengths.native);
    for (std::size_t i = 0; i < lengths.external; ++i)
      external[i] = number[lengths.external - 1 - i];
    native += lengths.native;
    external += lengths.external;
  });
}

void from_external32(const Signature& signature, MPI_Count count, const void* in, void* packed) {
  const auto* external = static_cast<const std::byte*>(in);
  auto* native = static_cast<std::byte*>(packed);
  for_each_part(signature, count, [&](const Basic& basic, Lengths lengths) {
    Number number{};
    for (std::size_t i = 0; i < lengths.external; ++i)
      number[lengths.external - 1 - i] = external[i];
    narrow(basic, number, native, lengths.native, lengths.external);
    native += lengths.native;
    external += lengths.external;
  });
}

}  // namespace phx::mpi
