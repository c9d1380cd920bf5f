#pragma once

#include <optional>
#include <utility>

#include "runtime/mpi/calls/requests.h"
#include "runtime/mpi/calls/showing.h"
#include "runtime/mpi/collectives/collectives.h"

namespace phx::mpi {

/// A collective call: blocking unless it has a place for a request.
struct Call {
  const char* name;
  MPI_Comm comm;
  MPI_Request* request = nullptr;
};

/// Fails with MPI_ERR_ROOT.
void check_root(const Communicator& comm, int root);

/// What the forms of one operation share.
struct Roots {
  Communicator& comm;
  Schedule& schedule;
  int root;

  void check() const { check_root(comm, root); }
  /// Of an inter-communicator: this side gives, or receives, at the rank that is the root.
  [[nodiscard]] bool is_root() const {
    return comm.is_inter() ? root == MPI_ROOT : root == comm.rank();
  }
  /// Of an inter-communicator: on the side of the root, and not the root.
  [[nodiscard]] bool is_idle() const { return comm.is_inter() && root == MPI_PROC_NULL; }
};

/// Starts what `build(comm, schedule)` makes; waits for it, or gives the request out. A blocking
/// call is over if `at_once(comm)` has done it.
template <class Build, class AtOnce>
int run(const Call& call, Build build, AtOnce at_once) {
  return enter(call.name, call.comm, [&] {
    Communicator& comm = comm_of(call.comm);
    if (call.request == nullptr && at_once(comm)) return;
    const Ref<Schedule> schedule(new Schedule(comm.collective()));
    build(comm, *schedule);
    schedule->set_tag(comm.next_tag());  // a call that fails takes no part, and may be repeated
    pass_board(comm);
    begin_schedule(schedule);
    if (call.request == nullptr) return wait_for(*schedule);
    give_request(Ref<Request>(schedule.get()), call.comm, call.request);
  });
}

template <class Build>
int run(const Call& call, Build build) {
  return run(call, build, [](const Communicator&) { return false; });
}

/// Whether there is nothing to do within one group, because all ranks have as many bytes as this
/// area, by what the operation demands: none. Who has nothing then waits for nobody.
[[nodiscard]] inline bool is_nothing(const Communicator& comm, const Area& equal) {
  return !comm.is_inter() && equal.bytes() == 0;
}

/// The half of an inter-communicator that is this side's own.
[[nodiscard]] inline Scope own_side(const Communicator& comm) {
  return comm.local->collective();
}

[[nodiscard]] inline bool is_in_place(const void* buffer) {
  return buffer == MPI_IN_PLACE;
}

/// What a rank sends; nothing: it stands where something is to come.
[[nodiscard]] inline std::optional<Area> sent(const void* buffer, MPI_Count count,
                                              MPI_Datatype datatype) {
  if (is_in_place(buffer)) return std::nullopt;
  return Area::of(buffer, count, datatype);
}

/// Of a call with a datatype for each part. Programs leave that of parts without elements out.
[[nodiscard]] inline Area typed_part(const void* buffer, MPI_Aint place, int count,
                                     MPI_Datatype datatype) {
  const auto address = reinterpret_cast<MPI_Aint>(buffer) + place;
  const bool is_nothing = count == 0 && datatype == MPI_DATATYPE_NULL;
  return Area::of(reinterpret_cast<const void*>(address), count, is_nothing ? MPI_BYTE : datatype);
}

/// Fails with MPI_ERR_BUFFER if what is sent is where something is to come.
inline void check_apart(const Area& from, const Area& to) {
  const bool is_same = from.address == to.address && from.datatype == to.datatype;
  const bool is_meant = from.address == MPI_BOTTOM || from.count == 0 || to.count == 0;
  require(!is_same || is_meant, MPI_ERR_BUFFER,
          "what is sent is where something is to come, and is not MPI_IN_PLACE");
}

/// The parts of a call with counts and displacements, in elements.
struct Parts {
  const void* buffer;
  const int* counts;
  const int* places;
  MPI_Datatype datatype;

  /// The arrays must live until the schedule is built.
  [[nodiscard]] Areas areas() const;
};

/// Between two groups: everybody to everybody of the other one.
void exchange(Communicator& comm, Schedule& schedule, const Areas& from, const Areas& to);

/// Defines the blocking and the other form of an operation, which differ in the request alone. What
/// follows makes the schedule from the communicator; and does it at once, where that is possible.
#define PHX_MPI_BOTH(name, begun, parameters, ...)                              \
  PHX_MPI_ENTRY(int, name, (PHX_MPI_LIST parameters)) {                         \
    return run({"MPI_" #name, comm}, __VA_ARGS__);                              \
  }                                                                             \
  PHX_MPI_ENTRY(int, begun, (PHX_MPI_LIST parameters, MPI_Request * request)) { \
    return run({"MPI_" #begun, comm, request}, __VA_ARGS__);                    \
  }
#define PHX_MPI_LIST(...) __VA_ARGS__

}  // namespace phx::mpi
