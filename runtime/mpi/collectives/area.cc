#include "runtime/mpi/collectives/area.h"

#include <algorithm>

namespace phx::mpi {

Area Area::of(const void* address, MPI_Count count, MPI_Datatype handle) {
  require(address != MPI_IN_PLACE || count == 0, MPI_ERR_BUFFER,
          "MPI_IN_PLACE has no meaning for this buffer");
  static_cast<void>(Buffer(address, count, handle));  // checks
  return {const_cast<void*>(address), count, Ref<Datatype>(&datatype_of(handle))};
}

Area Area::of_bytes(std::byte* address, MPI_Count count) {
  return {address, count, Ref<Datatype>(&datatype_of(MPI_BYTE))};
}

Area Area::part(MPI_Count first, MPI_Count many) const {
  const auto begin = reinterpret_cast<MPI_Aint>(address) + first * datatype->layout().extent();
  return {reinterpret_cast<void*>(begin), many, datatype};
}

Area Area::like(Schedule& schedule) const {
  const Bounds& bounds = datatype->layout().bounds;
  const MPI_Aint last = count > 0 ? (count - 1) * datatype->layout().extent() : 0;
  const MPI_Aint begin = bounds.true_lb() + std::min<MPI_Aint>(0, last);
  const MPI_Aint end = bounds.true_ub() + std::max<MPI_Aint>(0, last);
  std::byte* const memory = schedule.memory(count > 0 ? end - begin : 0);
  return {reinterpret_cast<void*>(reinterpret_cast<MPI_Aint>(memory) - begin), count, datatype};
}

void copy(const Area& from, const Area& to) {
  if (from.address == to.address && from.datatype == to.datatype) return;
  const Buffer source = from.buffer();
  const Buffer target = to.buffer();
  copy(source, target, std::min(source.bytes(), target.bytes()));
}

void add_copy(Schedule& schedule, const Area& from, const Area& to) {
  schedule.run([&outcome = schedule.outcome, from, to] {
    if (from.bytes() > to.bytes()) outcome.error = MPI_ERR_TRUNCATE;
    copy(from, to);
  });
}

void combine(const Op& op, const Area& from, const Area& to) {
  if (to.count > 0) reduce(op, *to.datatype, from.address, to.address, to.count);
}

}  // namespace phx::mpi
