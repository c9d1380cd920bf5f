#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/mpi/base/handles.h"
#include "runtime/mpi/datatypes/pack.h"
#include "runtime/mpi/datatypes/status.h"

/// What MPI_Request names. Everything in here is guarded by the lock of the process until it is
/// done.
namespace phx::mpi {

class Schedule;

/// What became of an operation, as a status says it.
struct Outcome {
  int source = MPI_ANY_SOURCE;
  int tag = MPI_ANY_TAG;
  MPI_Count bytes = 0;
  bool is_cancelled = false;
  int error = MPI_SUCCESS;
};

/// Whether an operation is over. Set with the lock, after all that the operation changes; whoever
/// sees it, also without the lock, sees that too.
class Done {
 public:
  Done& operator=(bool is_over) {
    is_over_.store(is_over, std::memory_order_release);
    return *this;
  }
  operator bool() const { return is_over_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> is_over_ = false;
};

class Request : public Object {
 public:
  enum class Kind { kSend, kReceive, kSchedule, kGeneral, kPersistent, kMessage };
  explicit Request(Kind of) : kind(of) {}

  const Kind kind;
  Done is_done;
  Outcome outcome;
  MPI_Comm comm = MPI_COMM_WORLD;  ///< whose error handler is called
  Schedule* part_of = nullptr;     ///< of a collective operation, which waits for it
  std::function<void()> when_done;
};

struct SendRequest : Request {
  SendRequest(const Buffer& from, int process) : Request(Kind::kSend), buffer(from), to(process) {}
  Buffer buffer;
  std::vector<std::byte> copy;  ///< of a buffered send: what `buffer` names
  int to;                       ///< process
  std::uint64_t number = 0;     ///< 0: to nobody
  std::uint64_t context = 0;
  bool is_withdrawing = false;  ///< MPI_Cancel was called, and asks once.
};

/// Which messages a receive or a probe is for.
struct Wanted {
  std::uint64_t context = 0;
  int source = MPI_ANY_SOURCE;
  int tag = MPI_ANY_TAG;
};

struct ReceiveRequest : Request {
  ReceiveRequest(const Buffer& into, const Wanted& what)
      : Request(Kind::kReceive), buffer(into), wanted(what) {}
  Buffer buffer;
  Wanted wanted;
  std::uint32_t number = 0;  ///< of one that gets a long message
  int from = 0;              ///< process
  std::uint64_t sender = 0;  ///< number of the send there
  MPI_Count expected = 0;    ///< bytes that come
  MPI_Count received = 0;
  MPI_Count sent = 0;      ///< bytes of the message that it has met
  bool must_fill = false;  ///< of a schedule: less than there is room for is an error
  bool is_awaited = false;  ///< by its sender, until it has all bytes
};

/// MPI_Grequest_start.
struct GeneralRequest : Request {
  GeneralRequest() : Request(Kind::kGeneral) {}
  MPI_Grequest_query_function* query = nullptr;
  MPI_Grequest_free_function* free = nullptr;
  MPI_Grequest_cancel_function* cancel = nullptr;
  void* extra = nullptr;
  bool is_freed = false;  ///< by the program, which has not completed it yet
};

/// MPI_Send_init and the like: `start` begins the operation anew.
struct PersistentRequest : Request {
  PersistentRequest() : Request(Kind::kPersistent) {}
  std::function<Ref<Request>()> start;
  Ref<Request> active;  ///< none: inactive
};

}  // namespace phx::mpi
