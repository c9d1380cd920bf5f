#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "runtime/mpi/datatypes/pack.h"
#include "runtime/mpi/datatypes/runs.h"

namespace phx::mpi {
namespace {

/// Copies between memory and the packed form, which moves on as it is filled or read. The address
/// of memory is a number, because it may be an offset from MPI_BOTTOM.
template <bool kPacks>
class Copier {
 public:
  explicit Copier(std::byte* packed) : packed_(packed) {}

  void part(const Piece& piece, MPI_Aint base, MPI_Count from, MPI_Count to) {
    base += piece.offset;
    MPI_Count turn = from / piece.unit;
    const MPI_Count skipped = from - turn * piece.unit;
    if (skipped > 0) {
      const MPI_Count end = std::min(piece.unit, skipped + (to - from));
      part_of_turn(piece, base + turn * piece.stride, skipped, end);
      ++turn;
    }
    const MPI_Count full = to / piece.unit;
    if (full > turn) {
      turns(piece, base + turn * piece.stride, full - turn);
      turn = full;
    }
    const MPI_Count rest = to - turn * piece.unit;
    if (turn == full && rest > 0) part_of_turn(piece, base + turn * piece.stride, 0, rest);
  }

 private:
  void part_of_turn(const Piece& piece, MPI_Aint base, MPI_Count from, MPI_Count to) {
    if (piece.inner == nullptr) {
      run(base + from, static_cast<std::size_t>(to - from));
      return;
    }
    const auto& starts = piece.inner->starts();
    const auto& pieces = piece.inner->pieces();
    auto i = static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), from) -
                                      starts.begin() - 1);
    for (; i < pieces.size() && starts[i] < to; ++i) {
      part(pieces[i], base, std::max<MPI_Count>(from - starts[i], 0),
           std::min(to, starts[i + 1]) - starts[i]);
    }
  }

  void turns(const Piece& piece, MPI_Aint base, MPI_Count count) {
    if (piece.inner != nullptr) {
      for (MPI_Count i = 0; i < count; ++i, base += piece.stride) {
        for (const Piece& p : piece.inner->pieces()) turns(p, base + p.offset, p.count);
      }
      return;
    }
    switch (piece.unit) {
      case 1:
        return equal_runs<1>(base, count, piece.stride);
      case 2:
        return equal_runs<2>(base, count, piece.stride);
      case 4:
        return equal_runs<4>(base, count, piece.stride);
      case 8:
        return equal_runs<8>(base, count, piece.stride);
      case 12:
        return equal_runs<12>(base, count, piece.stride);
      case 16:
        return equal_runs<16>(base, count, piece.stride);
      case 24:
        return equal_runs<24>(base, count, piece.stride);
      case 32:
        return equal_runs<32>(base, count, piece.stride);
      default:
        break;
    }
    for (MPI_Count i = 0; i < count; ++i, base += piece.stride)
      run(base, static_cast<std::size_t>(piece.unit));
  }

  /// The length is a constant, so that a copy is a few instructions. Runs of eight bytes are moved
  /// by twos, because a processor loads more often than it stores.
  template <std::size_t kBytes>
  void equal_runs(MPI_Aint base, MPI_Count count, MPI_Aint stride) {
    std::byte* packed = packed_;
    MPI_Count i = 0;
    if constexpr (kPacks && kBytes == sizeof(double)) {
      for (; i + 4 <= count; i += 4, base += 4 * stride, packed += 4 * kBytes) {
        const Two low{at(base), at(base + stride)};
        const Two high{at(base + 2 * stride), at(base + 3 * stride)};
        std::memcpy(packed, &low, sizeof low);
        std::memcpy(packed + sizeof low, &high, sizeof high);
      }
    }
    for (; i < count; ++i, base += stride, packed += kBytes) {
      auto* memory = reinterpret_cast<std::byte*>(base);
      std::memcpy(kPacks ? packed : memory, kPacks ? memory : packed, kBytes);
    }
    packed_ = packed;
  }

  using Two = double __attribute__((vector_size(16)));
  static double at(MPI_Aint address) {
    double value = 0;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(address), sizeof value);
    return value;
  }

  void run(MPI_Aint base, std::size_t bytes) {
    auto* memory = reinterpret_cast<std::byte*>(base);
    std::memcpy(kPacks ? packed_ : memory, kPacks ? memory : packed_, bytes);
    packed_ += bytes;
  }

  std::byte* packed_;
};

}  // namespace

void pack_bytes(const Piece& piece, MPI_Aint base, MPI_Count from, MPI_Count to, void* out) {
  if (from < to) Copier<true>(static_cast<std::byte*>(out)).part(piece, base, from, to);
}

void unpack_bytes(const Piece& piece, MPI_Aint base, MPI_Count from, MPI_Count to, const void* in) {
  if (from >= to) return;
  auto* packed = const_cast<std::byte*>(static_cast<const std::byte*>(in));
  Copier<false>(packed).part(piece, base, from, to);
}

void copy(const Buffer& from, const Buffer& to, MPI_Count bytes) {
  if (bytes == 0) return;
  if (from.as_is() != nullptr) return to.unpack(0, bytes, from.as_is());
  if (to.as_is() != nullptr) return from.pack(0, bytes, to.as_is());
  std::vector<std::byte> between(static_cast<std::size_t>(bytes));
  from.pack(0, bytes, between.data());
  to.unpack(0, bytes, between.data());
}

}  // namespace phx::mpi
