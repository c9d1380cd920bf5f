#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/mpi/calls/collective.h"

/// How the processes of a communicator agree on new ones.
namespace phx::mpi {

/// Runs a schedule to its end.
void run_now(const Ref<Schedule>& schedule);
[[nodiscard]] inline Ref<Schedule> schedule_in(const Scope& scope, int tag) {
  return Ref<Schedule>(new Schedule(scope, tag));
}

/// Makes communicators of a color each, ordered by key. MPI_UNDEFINED: none for this process.
void split(Communicator& comm, int color, int key, MPI_Comm* out);

/// What every process of the group says, by rank. Of an inter-communicator: of the other side, if
/// `of_others`.
template <class T>
std::vector<T> all_say(Communicator& comm, const T& mine, bool of_others = false);

/// Everybody of a communicator has what its rank 0, or of two sides that of the first one, has put
/// in. The side of the process with the lowest number at rank 0 is the first.
[[nodiscard]] bool is_first_side(const Communicator& comm);

/// The bytes of `mine` of all, one after the other. `comm` may be a side of an inter-communicator,
/// whose operations, and no others, give their tags to what happens there.
void gather_bytes(Communicator& comm, int tag, std::span<const std::byte> mine,
                  std::span<std::byte> all);
/// The bytes of rank 0 for everybody of this side; of `across` those of the other one's rank 0.
void swap_bytes(Communicator& comm, std::span<const std::byte> mine, std::span<std::byte> others);
void spread_bytes(Communicator& comm, int tag, std::span<std::byte> bytes);

template <class T>
std::vector<T> all_say(Communicator& comm, const T& mine, bool of_others) {
  std::vector<T> own(static_cast<std::size_t>(comm.size()));
  Communicator& side = comm.is_inter() ? *comm.local : comm;
  gather_bytes(side, comm.next_tag(), std::as_bytes(std::span(&mine, 1)),
               std::as_writable_bytes(std::span(own)));
  if (!of_others) return own;
  std::vector<T> others(static_cast<std::size_t>(comm.remote()->size()));
  swap_bytes(comm, std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(others)));
  spread_bytes(side, comm.next_tag(), std::as_writable_bytes(std::span(others)));
  return others;
}

/// Makes the communicator of a group that this process is in, and gives a handle of it out. The
/// error handler is that of `like`.
Ref<Communicator> make_comm(const Communicator& like, const Ref<Communicator>& made, MPI_Comm* out);

}  // namespace phx::mpi
