#include "runtime/mpi/calls/waiting.h"

using namespace phx::mpi;
using Mode = Traffic::Mode;

namespace {

/// Gives out a request that begins with `start`.
void prepare(MPI_Comm comm, MPI_Request* out, std::function<Ref<Request>()> start) {
  auto* request = new PersistentRequest;
  const Ref<Request> kept(request);
  request->start = std::move(start);
  give_request(kept, comm, out);
}

struct Prepared {
  const char* name;
  MPI_Request* request;
};
int prepare_send(const Prepared& call, const Sending& sending, const void* buffer, int count,
                 MPI_Datatype datatype) {
  return enter(call.name, sending.comm, [&] {
    const Ref<Communicator> comm(&comm_of(sending.comm));
    static_cast<void>(check_target(*comm, sending.to, sending.tag));
    prepare(sending.comm, call.request, [comm, sending, from = Buffer(buffer, count, datatype)] {
      return begin_send(*comm, sending, from);
    });
  });
}

void start_again(MPI_Request handle) {
  auto* request = dynamic_cast<PersistentRequest*>(&request_of(handle));
  require(request != nullptr && !request->active, MPI_ERR_REQUEST,
          "this is not an inactive persistent request");
  request->active = request->start();
  request->active->comm = request->comm;
}

}  // namespace

PHX_MPI_ENTRY(int, Send_init,
              (const void* buffer, int count, MPI_Datatype datatype, int to, int tag, MPI_Comm comm,
               MPI_Request* request)) {
  return prepare_send({"MPI_Send_init", request}, {comm, to, tag}, buffer, count, datatype);
}
PHX_MPI_ENTRY(int, Ssend_init,
              (const void* buffer, int count, MPI_Datatype datatype, int to, int tag, MPI_Comm comm,
               MPI_Request* request)) {
  return prepare_send({"MPI_Ssend_init", request}, {comm, to, tag, Mode::kSynchronous}, buffer,
                      count, datatype);
}
PHX_MPI_ENTRY(int, Rsend_init,
              (const void* buffer, int count, MPI_Datatype datatype, int to, int tag, MPI_Comm comm,
               MPI_Request* request)) {
  return prepare_send({"MPI_Rsend_init", request}, {comm, to, tag}, buffer, count, datatype);
}
PHX_MPI_ENTRY(int, Bsend_init,
              (const void* buffer, int count, MPI_Datatype datatype, int to, int tag, MPI_Comm comm,
               MPI_Request* request)) {
  return prepare_send({"MPI_Bsend_init", request}, {comm, to, tag, Mode::kBuffered}, buffer, count,
                      datatype);
}

PHX_MPI_ENTRY(int, Recv_init,
              (void* buffer, int count, MPI_Datatype datatype, int from, int tag, MPI_Comm comm,
               MPI_Request* request)) {
  return enter("MPI_Recv_init", comm, [&] {
    const Ref<Communicator> kept(&comm_of(comm));
    static_cast<void>(check_source(*kept, from, tag));
    const Receiving receiving{comm, from, tag};
    prepare(comm, request, [kept, receiving, into = Buffer(buffer, count, datatype)] {
      return begin_receive(*kept, receiving, into);
    });
  });
}

PHX_MPI_ENTRY(int, Start, (MPI_Request * request)) {
  return enter("MPI_Start", comm_of_requests(1, request), [&] {
    require(request != nullptr, MPI_ERR_ARG, "the pointer to the request is null");
    start_again(*request);
  });
}

PHX_MPI_ENTRY(int, Startall, (int count, MPI_Request requests[])) {
  return enter("MPI_Startall", comm_of_requests(count, requests), [&] {
    require(count >= 0, MPI_ERR_COUNT, "the count is negative");
    for (int i = 0; i < count; ++i) start_again(requests[i]);
  });
}
