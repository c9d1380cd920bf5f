#pragma once

#include <algorithm>

#include "runtime/mpi/include/mpi.h"

namespace phx::mpi {

/// One end of a datatype; there is none where there is nothing.
struct End {
  MPI_Aint at = 0;
  bool is_known = false;
};

/// Where a datatype begins and ends: its data, and the marks that resizing set, which count more.
struct Bounds {
  End lower_mark, upper_mark;
  End first, last;  ///< the first byte of data, and the one behind the last
  MPI_Aint alignment = 1;

  [[nodiscard]] MPI_Aint true_lb() const { return first.at; }
  [[nodiscard]] MPI_Aint true_ub() const { return last.at; }
  [[nodiscard]] MPI_Aint lb() const { return lower_mark.is_known ? lower_mark.at : first.at; }
  /// Without a mark the extent is a multiple of the alignment.
  [[nodiscard]] MPI_Aint ub() const {
    if (upper_mark.is_known) return upper_mark.at;
    const MPI_Aint rest = (last.at - lb()) % alignment;
    return rest > 0 ? last.at + alignment - rest : last.at;
  }
  [[nodiscard]] MPI_Aint extent() const { return ub() - lb(); }

  /// Takes in `count` others, the first moved by `by` bytes, each next by `stride` more.
  void add(const Bounds& other, MPI_Aint by, MPI_Count count, MPI_Aint stride) {
    if (count == 0) return;
    for (const MPI_Aint place : {by, by + (count - 1) * stride}) {
      add(lower_mark, other.lower_mark, place, true);
      add(upper_mark, other.upper_mark, place, false);
      add(first, other.first, place, true);
      add(last, other.last, place, false);
    }
    alignment = std::max(alignment, other.alignment);
  }

 private:
  static void add(End& end, const End& other, MPI_Aint by, bool is_lower) {
    if (!other.is_known) return;
    const MPI_Aint at = other.at + by;
    const bool is_further = is_lower ? at < end.at : at > end.at;
    if (!end.is_known || is_further) end = {.at = at, .is_known = true};
  }
};

}  // namespace phx::mpi
