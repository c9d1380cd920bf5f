#pragma once

#include "runtime/mpi/base/entry.h"
#include "runtime/mpi/comm/communicator.h"
#include "runtime/mpi/engine/process.h"

/// What the functions of the interface have in common.
namespace phx::mpi {

/// All requests with an open handle.
Handles<Request>& requests();
/// The request behind a handle; fails with MPI_ERR_REQUEST.
Request& request_of(MPI_Request handle);

/// Gives the program a handle of a request; errors of it are those of `comm`.
void give_request(const Ref<Request>& request, MPI_Comm comm, MPI_Request* out);
/// The handle names nothing any more, and the variable of the program says so.
void close_request(MPI_Request* handle);
/// Of an operation with MPI_PROC_NULL: done.
[[nodiscard]] Ref<Request> nothing_to_do(const Outcome& outcome = {});
inline const Outcome kFromNobody{MPI_PROC_NULL, MPI_ANY_TAG, 0, false, MPI_SUCCESS};

/// What a status says; `status` may be MPI_STATUS_IGNORE. MPI_ERROR is left alone.
void set_status(MPI_Status* status, const Outcome& outcome);

/// Fails with MPI_ERR_TAG or MPI_ERR_RANK. False: to or from MPI_PROC_NULL.
bool check_target(const Communicator& comm, int rank, int tag);
bool check_source(const Communicator& comm, int rank, int tag);

/// Starts it; of one in which nothing is left to do that is all, and needs no lock.
void begin_schedule(const Ref<Schedule>& schedule);
/// Waits until it is done.
void await_done(const Request& request);
/// The same, and fails with its error.
void wait_for(Request& request);

/// The sends of the four modes. `to` may be MPI_PROC_NULL.
struct Sending {
  MPI_Comm comm;
  int to;
  int tag;
  Traffic::Mode mode = Traffic::Mode::kStandard;
};
[[nodiscard]] Ref<Request> begin_send(const Sending& sending, const Buffer& buffer);
/// The same, also when the program has freed the handle of `comm` meanwhile.
[[nodiscard]] Ref<Request> begin_send(Communicator& comm, const Sending& sending,
                                      const Buffer& buffer);
/// A short message of the standard mode leaves without a request. False: it was not sent.
bool send_at_once(const Communicator& comm, const Sending& sending, const Buffer& buffer);
/// `from` may be MPI_PROC_NULL.
struct Receiving {
  MPI_Comm comm;
  int from;
  int tag;
};
[[nodiscard]] Ref<Request> begin_receive(const Receiving& receiving, const Buffer& buffer);
[[nodiscard]] Ref<Request> begin_receive(Communicator& comm, const Receiving& receiving,
                                         const Buffer& buffer);

}  // namespace phx::mpi
