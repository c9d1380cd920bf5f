#include <algorithm>

#include "runtime/mpi/calls/requests.h"

namespace phx::mpi {
namespace {

/// The buffer of MPI_Buffer_attach. Its memory is not used: messages are copied in any case. What
/// it has room for counts.
struct Attached {
  void* memory = nullptr;
  MPI_Count size = 0;
};
Attached& attached() {
  static Attached buffer;
  return buffer;
}

/// Takes room for a buffered message, which is given back when it has left. For the program it is
/// done, but may be cancelled.
void take_room(Traffic& traffic, const Ref<SendRequest>& request, MPI_Count bytes) {
  if (request->is_done) return;
  traffic.on_buffered(bytes);
  request->when_done = [&traffic, bytes] { traffic.on_buffered(-bytes); };
  request->is_done = true;
}

}  // namespace

bool check_target(const Communicator& comm, int rank, int tag) {
  require(tag >= 0, MPI_ERR_TAG, "the tag is negative");
  if (rank == MPI_PROC_NULL) return false;
  require(rank >= 0 && rank < comm.peers()->size(), MPI_ERR_RANK,
          "there is no such rank in the communicator");
  return true;
}

Ref<Request> begin_send(const Sending& sending, const Buffer& buffer) {
  return begin_send(comm_of(sending.comm), sending, buffer);
}

Ref<Request> begin_send(Communicator& comm, const Sending& sending, const Buffer& buffer) {
  if (!check_target(comm, sending.to, sending.tag)) return nothing_to_do();
  return Process::current().call([&](Traffic& traffic) -> Ref<Request> {
    const bool is_buffered = sending.mode == Traffic::Mode::kBuffered;
    const MPI_Count bytes = buffer.bytes() + MPI_BSEND_OVERHEAD;
    require(!is_buffered || traffic.buffered() + bytes <= attached().size, MPI_ERR_BUFFER,
            "the attached buffer has no room for this message");
    const Ref<SendRequest> request =
        traffic.send(comm.messages(), sending.to, sending.tag, buffer, sending.mode);
    if (is_buffered) take_room(traffic, request, bytes);
    return Ref<Request>(request.get());
  });
}

bool send_at_once(const Communicator& comm, const Sending& sending, const Buffer& buffer) {
  if (!check_target(comm, sending.to, sending.tag)) return true;
  return Process::current().call([&](Traffic& traffic) {
    return traffic.send_at_once(comm.messages(), sending.to, sending.tag, buffer);
  });
}

}  // namespace phx::mpi

using namespace phx::mpi;
using Mode = Traffic::Mode;

namespace {

int blocking(const char* name, const Sending& sending, const void* buffer, int count,
             MPI_Datatype datatype) {
  return enter(name, sending.comm, [&] {
    Communicator& comm = comm_of(sending.comm);
    const Buffer bytes(buffer, count, datatype);
    if (sending.mode == Mode::kStandard && send_at_once(comm, sending, bytes)) return;
    wait_for(*begin_send(sending, bytes));
  });
}

struct Posted {
  const char* name;
  MPI_Request* request;
};
int posted(const Posted& call, const Sending& sending, const void* buffer, int count,
           MPI_Datatype datatype) {
  return enter(call.name, sending.comm, [&] {
    static_cast<void>(comm_of(sending.comm));
    give_request(begin_send(sending, Buffer(buffer, count, datatype)), sending.comm, call.request);
  });
}

}  // namespace

PHX_MPI_ENTRY(int, Send,
              (const void* buffer, int count, MPI_Datatype datatype, int to, int tag,
               MPI_Comm comm)) {
  return blocking("MPI_Send", {comm, to, tag}, buffer, count, datatype);
}
PHX_MPI_ENTRY(int, Ssend,
              (const void* buffer, int count, MPI_Datatype datatype, int to, int tag,
               MPI_Comm comm)) {
  return blocking("MPI_Ssend", {comm, to, tag, Mode::kSynchronous}, buffer, count, datatype);
}
PHX_MPI_ENTRY(int, Rsend,
              (const void* buffer, int count, MPI_Datatype datatype, int to, int tag,
               MPI_Comm comm)) {
  return blocking("MPI_Rsend", {comm, to, tag}, buffer, count, datatype);
}
PHX_MPI_ENTRY(int, Bsend,
              (const void* buffer, int count, MPI_Datatype datatype, int to, int tag,
               MPI_Comm comm)) {
  return blocking("MPI_Bsend", {comm, to, tag, Mode::kBuffered}, buffer, count, datatype);
}
PHX_MPI_ENTRY(int, Isend,
              (const void* buffer, int count, MPI_Datatype datatype, int to, int tag, MPI_Comm comm,
               MPI_Request* request)) {
  return posted({"MPI_Isend", request}, {comm, to, tag}, buffer, count, datatype);
}
PHX_MPI_ENTRY(int, Issend,
              (const void* buffer, int count, MPI_Datatype datatype, int to, int tag, MPI_Comm comm,
               MPI_Request* request)) {
  return posted({"MPI_Issend", request}, {comm, to, tag, Mode::kSynchronous}, buffer, count,
                datatype);
}
PHX_MPI_ENTRY(int, Irsend,
              (const void* buffer, int count, MPI_Datatype datatype, int to, int tag, MPI_Comm comm,
               MPI_Request* request)) {
  return posted({"MPI_Irsend", request}, {comm, to, tag}, buffer, count, datatype);
}
PHX_MPI_ENTRY(int, Ibsend,
              (const void* buffer, int count, MPI_Datatype datatype, int to, int tag, MPI_Comm comm,
               MPI_Request* request)) {
  return posted({"MPI_Ibsend", request}, {comm, to, tag, Mode::kBuffered}, buffer, count, datatype);
}

PHX_MPI_ENTRY(int, Buffer_attach, (void* buffer, int size)) {
  return enter("MPI_Buffer_attach", [&] {
    require(size >= 0, MPI_ERR_ARG, "the size is negative");
    Process::current().call([&](Traffic&) {
      require(attached().memory == nullptr, MPI_ERR_BUFFER, "there is an attached buffer already");
      attached() = {buffer, size};
    });
  });
}

PHX_MPI_ENTRY(int, Buffer_detach, (void* buffer, int* size)) {
  return enter("MPI_Buffer_detach", [&] {
    Process::current().wait([&](Traffic& traffic) { return traffic.buffered() == 0; },
                            [] { return "receives of what is in the buffer"; });
    Process::current().call([&](Traffic&) {
      *static_cast<void**>(buffer) = attached().memory;
      *size = static_cast<int>(attached().size);
      attached() = {};
    });
  });
}
