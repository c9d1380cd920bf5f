#include "runtime/mpi/calls/requests.h"

namespace phx::mpi {

bool check_source(const Communicator& comm, int rank, int tag) {
  require(tag >= 0 || tag == MPI_ANY_TAG, MPI_ERR_TAG, "the tag is negative");
  if (rank == MPI_PROC_NULL) return false;
  require(rank == MPI_ANY_SOURCE || (rank >= 0 && rank < comm.peers()->size()), MPI_ERR_RANK,
          "there is no such rank in the communicator");
  return true;
}

Ref<Request> begin_receive(const Receiving& receiving, const Buffer& buffer) {
  return begin_receive(comm_of(receiving.comm), receiving, buffer);
}

Ref<Request> begin_receive(Communicator& comm, const Receiving& receiving, const Buffer& buffer) {
  if (!check_source(comm, receiving.from, receiving.tag)) return nothing_to_do(kFromNobody);
  return Process::current().call([&](Traffic& traffic) {
    const Wanted wanted{comm.context(), receiving.from, receiving.tag};
    return Ref<Request>(traffic.receive(wanted, buffer).get());
  });
}

namespace {

/// The second half of MPI_Sendrecv, and waits for both.
void send_and_finish(const Sending& sending, const Buffer& sent, Request& receive,
                     MPI_Status* status) {
  Communicator& comm = comm_of(sending.comm);
  if (send_at_once(comm, sending, sent)) {
    await_done(receive);
    set_status(status, receive.outcome);
    return wait_for(receive);
  }
  const Ref<Request> send = begin_send(comm, sending, sent);
  Process::current().wait([&](Traffic&) { return send->is_done && receive.is_done; },
                          [&] { return spell(receive.is_done ? *send : receive); });
  set_status(status, receive.outcome);
  wait_for(*send);
  wait_for(receive);
}

}  // namespace
}  // namespace phx::mpi

using namespace phx::mpi;

PHX_MPI_ENTRY(int, Recv,
              (void* buffer, int count, MPI_Datatype datatype, int from, int tag, MPI_Comm comm,
               MPI_Status* status)) {
  return enter("MPI_Recv", comm, [&] {
    static_cast<void>(comm_of(comm));
    const Ref<Request> request = begin_receive({comm, from, tag}, Buffer(buffer, count, datatype));
    await_done(*request);
    set_status(status, request->outcome);
    wait_for(*request);
  });
}

PHX_MPI_ENTRY(int, Irecv,
              (void* buffer, int count, MPI_Datatype datatype, int from, int tag, MPI_Comm comm,
               MPI_Request* request)) {
  return enter("MPI_Irecv", comm, [&] {
    static_cast<void>(comm_of(comm));
    give_request(begin_receive({comm, from, tag}, Buffer(buffer, count, datatype)), comm, request);
  });
}

PHX_MPI_ENTRY(int, Sendrecv,
              (const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
               int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
               MPI_Status* status)) {
  return enter("MPI_Sendrecv", comm, [&] {
    const Communicator& both = comm_of(comm);
    static_cast<void>(check_target(both, to, out_tag));
    const Buffer sent(out, out_count, out_type);
    const Ref<Request> receive = begin_receive({comm, from, in_tag}, Buffer(in, in_count, in_type));
    send_and_finish({comm, to, out_tag}, sent, *receive, status);
  });
}

PHX_MPI_ENTRY(int, Sendrecv_replace,
              (void* buffer, int count, MPI_Datatype datatype, int to, int out_tag, int from,
               int in_tag, MPI_Comm comm, MPI_Status* status)) {
  return enter("MPI_Sendrecv_replace", comm, [&] {
    const Communicator& both = comm_of(comm);
    static_cast<void>(check_target(both, to, out_tag));
    const Buffer place(buffer, count, datatype);
    std::vector<std::byte> copy(static_cast<std::size_t>(place.bytes()));
    place.pack(0, place.bytes(), copy.data());
    const Ref<Request> receive = begin_receive({comm, from, in_tag}, place);
    const Buffer sent(copy.empty() ? &copy : static_cast<void*>(copy.data()), place.bytes(),
                      MPI_BYTE);
    send_and_finish({comm, to, out_tag}, sent, *receive, status);
  });
}
