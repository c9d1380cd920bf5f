#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/mpi/datatypes/basics.h"

namespace phx::mpi {

/// A datatype as the standard defines it, written out element by element: what the library is
/// compared with.
struct Typemap {
  struct Element {
    const Basic* basic;
    MPI_Aint at;
  };
  std::vector<Element> elements;
  std::optional<MPI_Aint> lb_mark, ub_mark;

  static Typemap of(MPI_Datatype handle) { return {{{find_basic(handle), 0}}, {}, {}}; }

  [[nodiscard]] MPI_Aint lb() const { return lb_mark ? *lb_mark : true_lb(); }
  [[nodiscard]] MPI_Aint ub() const {
    if (ub_mark) return *ub_mark;
    MPI_Aint alignment = 1;
    for (const Element& e : elements) alignment = std::max<MPI_Aint>(alignment, e.basic->alignment);
    MPI_Aint end = true_ub();
    while ((end - lb()) % alignment != 0) ++end;
    return end;
  }
  [[nodiscard]] MPI_Aint true_lb() const {
    MPI_Aint begin = elements.empty() ? 0 : elements.front().at;
    for (const Element& e : elements) begin = std::min(begin, e.at);
    return begin;
  }
  [[nodiscard]] MPI_Aint true_ub() const {
    MPI_Aint end = elements.empty() ? 0 : elements.front().at + elements.front().basic->size;
    for (const Element& e : elements) end = std::max(end, e.at + e.basic->size);
    return end;
  }
  [[nodiscard]] MPI_Aint extent() const { return ub() - lb(); }

  /// Adds another one, moved, at the end.
  void add(const Typemap& other, MPI_Aint by) {
    for (const Element& e : other.elements) elements.push_back({e.basic, e.at + by});
    if (other.lb_mark)
      lb_mark = std::min(lb_mark.value_or(*other.lb_mark + by), *other.lb_mark + by);
    if (other.ub_mark)
      ub_mark = std::max(ub_mark.value_or(*other.ub_mark + by), *other.ub_mark + by);
  }
  [[nodiscard]] Typemap block(MPI_Count count, MPI_Aint stride) const {
    Typemap all;
    for (MPI_Count i = 0; i < count; ++i) all.add(*this, i * stride);
    return all;
  }
  [[nodiscard]] std::vector<std::byte> pack(const std::byte* base, MPI_Count count) const {
    std::vector<std::byte> out;
    for (const Element& e : block(count, extent()).elements)
      out.insert(out.end(), base + e.at, base + e.at + e.basic->size);
    return out;
  }
};

}  // namespace phx::mpi
