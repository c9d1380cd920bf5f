#include "runtime/mpi/calls/waiting.h"

using namespace phx::mpi;

PHX_MPI_ENTRY(int, Grequest_start,
              (MPI_Grequest_query_function * query, MPI_Grequest_free_function* free,
               MPI_Grequest_cancel_function* cancel, void* extra, MPI_Request* request)) {
  return enter("MPI_Grequest_start", [&] {
    auto* made = new GeneralRequest;
    const Ref<Request> kept(made);
    made->query = query;
    made->free = free;
    made->cancel = cancel;
    made->extra = extra;
    // Until the program completes it, also when the handle is freed before.
    made->holders.fetch_add(1);
    give_request(kept, MPI_COMM_WORLD, request);
  });
}

PHX_MPI_ENTRY(int, Grequest_complete, (MPI_Request handle)) {
  return enter("MPI_Grequest_complete", [&] {
    auto* request = dynamic_cast<GeneralRequest*>(&request_of(handle));
    require(request != nullptr && !request->is_done, MPI_ERR_REQUEST,
            "this is not a generalized request that is under way");
    const Ref<Request> kept(request);
    const bool is_freed = Process::current().call([&](Traffic& traffic) {
      traffic.complete(*request);
      return request->is_freed;
    });
    request->holders.fetch_sub(1);
    if (!is_freed) return;
    requests().close(request);
    require_well(request->free == nullptr ? MPI_SUCCESS : request->free(request->extra));
  });
}
