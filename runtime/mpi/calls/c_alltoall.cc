#include <optional>
#include <vector>

#include "runtime/mpi/calls/collective.h"

using namespace phx::mpi;

namespace {

/// Both sides of an exchange.
struct Exchange {
  Areas from;
  Areas to;
};

/// What is sent lies where something else will come: it is copied before.
Areas copied(Schedule& schedule, const Areas& parts) {
  auto all = std::make_shared<std::vector<Area>>();
  for (int i = 0; i < schedule.scope().size(); ++i) {
    const Area part = parts(i);
    all->push_back(Area::of_bytes(schedule.memory(part.bytes()), part.bytes()));
    copy(part, all->back());
  }
  return [all](int rank) { return (*all)[static_cast<std::size_t>(rank)]; };
}

void alltoall(Communicator& comm, Schedule& schedule, const Exchange& what) {
  for (int i = 0; i < comm.peers()->size(); ++i) check_apart(what.from(i), what.to(i));
  if (comm.is_inter()) return exchange(comm, schedule, what.from, what.to);
  add_alltoall(schedule, what.from, what.to);
}

/// `from`: of this rank, the first of equal parts; none if they stand where others are to come.
void alltoall_equal(Communicator& comm, Schedule& schedule, const std::optional<Area>& from,
                    const Area& to) {
  if (is_nothing(comm, to) && (!from || from->bytes() == 0)) return;
  const bool is_short = !comm.is_inter() && goes_by_row(schedule, to);
  if (is_short && from) check_apart(*from, to);
  if (is_short) return add_alltoall_by_row(schedule, from.value_or(to), to);
  const Areas places = equal_parts(to);
  alltoall(comm, schedule, {from ? equal_parts(*from) : copied(schedule, places), places});
}

/// The parts of a call with a datatype for each rank; displacements are bytes.
Areas typed_parts(const void* buffer, const int* counts, const int* places,
                  const MPI_Datatype* datatypes) {
  require(counts != nullptr && places != nullptr && datatypes != nullptr, MPI_ERR_ARG,
          "an array is null");
  return [=](int rank) { return typed_part(buffer, places[rank], counts[rank], datatypes[rank]); };
}

}  // namespace

PHX_MPI_BOTH(
    Alltoall, Ialltoall,
    (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
     MPI_Datatype in_type, MPI_Comm comm),
    [&](Communicator& all, Schedule& schedule) {
      const std::optional<Area> from = sent(out, out_count, out_type);
      alltoall_equal(all, schedule, from, Area::of(in, in_count, in_type));
    },
    [&](const Communicator& all) {
      if (!has_board(all)) return false;
      const std::optional<Area> from = sent(out, out_count, out_type);
      const Area to = Area::of(in, in_count, in_type);
      if (from && to.bytes() > 0) check_apart(*from, to);
      return show_alltoall(all, from, to);
    })

PHX_MPI_BOTH(Alltoallv, Ialltoallv,
             (const void* out, const int out_counts[], const int out_places[],
              MPI_Datatype out_type, void* in, const int in_counts[], const int in_places[],
              MPI_Datatype in_type, MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               const Areas to = Parts{in, in_counts, in_places, in_type}.areas();
               const Areas from = is_in_place(out)
                                      ? copied(schedule, to)
                                      : Parts{out, out_counts, out_places, out_type}.areas();
               alltoall(all, schedule, {from, to});
             })

PHX_MPI_BOTH(Alltoallw, Ialltoallw,
             (const void* out, const int out_counts[], const int out_places[],
              const MPI_Datatype out_types[], void* in, const int in_counts[],
              const int in_places[], const MPI_Datatype in_types[], MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               const Areas to = typed_parts(in, in_counts, in_places, in_types);
               const Areas from = is_in_place(out)
                                      ? copied(schedule, to)
                                      : typed_parts(out, out_counts, out_places, out_types);
               alltoall(all, schedule, {from, to});
             })
