#include "runtime/mpi/calls/requests.h"

using namespace phx::mpi;

namespace {

Outcome outcome_of(const Arrived& arrived) {
  return {arrived.head.source, arrived.head.tag, static_cast<MPI_Count>(arrived.head.bytes), false,
          MPI_SUCCESS};
}

/// What MPI_Message names: a message that was taken out, to be received. It is never done.
struct Message : Request {
  explicit Message(Arrived one) : Request(Kind::kMessage), arrived(std::move(one)) {}
  Arrived arrived;
};

struct Probing {
  MPI_Comm comm;
  int from;
  int tag;
  bool waits;
};

/// Looks, or waits, until `f(traffic, wanted)` has found something. False: nothing there.
template <class F>
bool probe(const Probing& probing, F f) {
  const Wanted wanted{comm_of(probing.comm).context(), probing.from, probing.tag};
  const auto look = [&](Traffic& traffic) { return f(traffic, wanted); };
  if (!probing.waits) return Process::current().test(look);
  Process::current().wait(look, [&] { return spell(wanted); });
  return true;
}

bool probed(const Probing& probing, MPI_Status* status) {
  if (!check_source(comm_of(probing.comm), probing.from, probing.tag)) {
    set_status(status, kFromNobody);
    return true;
  }
  return probe(probing, [&](Traffic& traffic, const Wanted& wanted) {
    const Arrived* const found = traffic.look(wanted);
    if (found != nullptr) set_status(status, outcome_of(*found));
    return found != nullptr;
  });
}

bool taken(const Probing& probing, MPI_Message* message, MPI_Status* status) {
  if (!check_source(comm_of(probing.comm), probing.from, probing.tag)) {
    set_status(status, kFromNobody);
    *message = MPI_MESSAGE_NO_PROC;
    return true;
  }
  std::optional<Arrived> arrived;
  *message = MPI_MESSAGE_NULL;
  const bool is_there = probe(probing, [&](Traffic& traffic, const Wanted& wanted) {
    arrived = traffic.take(wanted);
    return arrived.has_value();
  });
  if (!is_there) return false;
  set_status(status, outcome_of(*arrived));
  give_request(Ref<Request>(new Message(std::move(*arrived))), probing.comm, message);
  return true;
}

/// Begins to receive a message that was taken out; the handle names nothing any more.
Ref<Request> receive_taken(MPI_Message* message, const Buffer& buffer) {
  if (*message == MPI_MESSAGE_NO_PROC) {
    *message = MPI_MESSAGE_NULL;
    return nothing_to_do(kFromNobody);
  }
  auto* found = dynamic_cast<Message*>(requests().find(*message));
  require(found != nullptr, MPI_ERR_REQUEST, "this is not a message");
  Arrived arrived = std::move(found->arrived);
  close_request(message);
  return Process::current().call([&](Traffic& traffic) {
    return Ref<Request>(traffic.receive_taken(std::move(arrived), buffer).get());
  });
}

MPI_Comm comm_of_message(const MPI_Message* message) {
  const Request* found = message == nullptr ? nullptr : requests().find(*message);
  return found == nullptr ? MPI_COMM_WORLD : found->comm;
}

}  // namespace

PHX_MPI_ENTRY(int, Probe, (int from, int tag, MPI_Comm comm, MPI_Status* status)) {
  return enter("MPI_Probe", comm, [&] {
    static_cast<void>(probed({comm, from, tag, true}, status));
  });
}

PHX_MPI_ENTRY(int, Iprobe, (int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status)) {
  return enter("MPI_Iprobe", comm, [&] {
    *flag = probed({comm, from, tag, false}, status) ? 1 : 0;
  });
}

PHX_MPI_ENTRY(int, Mprobe,
              (int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status)) {
  return enter("MPI_Mprobe", comm, [&] {
    static_cast<void>(taken({comm, from, tag, true}, message, status));
  });
}

PHX_MPI_ENTRY(int, Improbe,
              (int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
               MPI_Status* status)) {
  return enter("MPI_Improbe", comm, [&] {
    *flag = taken({comm, from, tag, false}, message, status) ? 1 : 0;
  });
}

PHX_MPI_ENTRY(int, Mrecv,
              (void* buffer, int count, MPI_Datatype datatype, MPI_Message* message,
               MPI_Status* status)) {
  return enter("MPI_Mrecv", comm_of_message(message), [&] {
    const Ref<Request> request = receive_taken(message, Buffer(buffer, count, datatype));
    await_done(*request);
    set_status(status, request->outcome);
    wait_for(*request);
  });
}

PHX_MPI_ENTRY(int, Imrecv,
              (void* buffer, int count, MPI_Datatype datatype, MPI_Message* message,
               MPI_Request* request)) {
  const MPI_Comm comm = comm_of_message(message);
  return enter("MPI_Imrecv", comm, [&] {
    give_request(receive_taken(message, Buffer(buffer, count, datatype)), comm, request);
  });
}
