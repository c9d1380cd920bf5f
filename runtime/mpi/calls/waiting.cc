#include "runtime/mpi/calls/waiting.h"

#include <algorithm>

namespace phx::mpi {

Handles<Request>& requests() {
  static Handles<Request> all(Kind::kRequest);
  return all;
}

Request& request_of(MPI_Request handle) {
  Request* found = requests().find(handle);
  require(found != nullptr, MPI_ERR_REQUEST, "this is not a request");
  return *found;
}

void give_request(const Ref<Request>& request, MPI_Comm comm, MPI_Request* out) {
  require(out != nullptr, MPI_ERR_ARG, "the pointer to the request is null");
  request->comm = comm;
  *out = requests().open(request.get());
}

void close_request(MPI_Request* handle) {
  Request& request = request_of(*handle);
  *handle = MPI_REQUEST_NULL;
  requests().close(&request);
}

Ref<Request> nothing_to_do(const Outcome& outcome) {
  Ref<Request> request(new Request(Request::Kind::kSchedule));
  request->is_done = true;
  request->outcome = outcome;
  return request;
}

void set_status(MPI_Status* status, const Outcome& outcome) {
  if (status == MPI_STATUS_IGNORE || status == nullptr) return;
  status->MPI_SOURCE = outcome.source;
  status->MPI_TAG = outcome.tag;
  set_bytes(*status, outcome.bytes);
  set_cancelled(*status, outcome.is_cancelled);
}

MPI_Comm comm_of_requests(int count, const MPI_Request* handles) {
  for (int i = 0; i < count && handles != nullptr; ++i) {
    if (handles[i] == MPI_REQUEST_NULL) continue;
    const Request* request = requests().find(handles[i]);
    if (request != nullptr) return request->comm;
  }
  return MPI_COMM_WORLD;
}

void require_well(int error) {
  require(error == MPI_SUCCESS, error, "the operation has failed");
}

namespace {

/// Why a request has failed, for a person. What processes of a collective operation send is not
/// what programs call a message.
std::string why(const Request& request) {
  const auto* const schedule = dynamic_cast<const Schedule*>(&request);
  if (const ReceiveRequest* const misfit = schedule ? schedule->misfit() : nullptr) {
    return "rank " + std::to_string(misfit->outcome.source) + " sends " +
           std::to_string(misfit->sent) + " bytes where this one expects " +
           std::to_string(misfit->buffer.bytes()) +
           ": the ranks are in different collective operations of this communicator, or in one "
           "with different counts";
  }
  if (request.outcome.error != MPI_ERR_TRUNCATE) return "the operation has failed";
  return schedule ? "what this rank gives itself is longer than its place"
                  : "the message is longer than the buffer";
}

}  // namespace

void begin_schedule(const Ref<Schedule>& schedule) {
  if (schedule->is_empty()) {
    schedule->is_done = true;
  } else {
    Process::current().call([&](Traffic& traffic) { traffic.start(schedule); });
  }
}

void await_done(const Request& request) {
  if (request.is_done) return;
  Process::current().wait([&](Traffic&) -> bool { return request.is_done; },
                          [&] { return spell(request); });
}

void wait_for(Request& request) {
  await_done(request);
  const int error = request.outcome.error;
  if (error != MPI_SUCCESS) throw Failure(error, why(request));
}

namespace {

/// A generalized request asks the program for its status.
int collect_general(GeneralRequest& request, MPI_Status* status) {
  MPI_Status own{};
  set_status(&own, {});
  int error = request.query == nullptr ? MPI_SUCCESS : request.query(request.extra, &own);
  if (status != MPI_STATUS_IGNORE && status != nullptr) {
    own.MPI_ERROR = status->MPI_ERROR;
    *status = own;
  }
  const int freed = request.free == nullptr ? MPI_SUCCESS : request.free(request.extra);
  return error != MPI_SUCCESS ? error : freed;
}

}  // namespace

int collect(MPI_Request* handle, MPI_Status* status, std::string* reason) {
  Request& request = request_of(*handle);
  const Ref<Request> kept(&request);
  if (request.kind == Request::Kind::kGeneral) {
    close_request(handle);
    return collect_general(static_cast<GeneralRequest&>(request), status);
  }
  Ref<Request> done = kept;
  if (request.kind == Request::Kind::kPersistent) {
    done = std::exchange(static_cast<PersistentRequest&>(request).active, {});
  } else {
    close_request(handle);
  }
  set_status(status, done ? done->outcome : Outcome{});
  const int error = done ? done->outcome.error : MPI_SUCCESS;
  if (error != MPI_SUCCESS) *reason = why(*done);
  return error;
}

void collect_well(MPI_Request* handle, MPI_Status* status) {
  std::string reason = "the operation has failed";
  const int error = collect(handle, status, &reason);
  if (error != MPI_SUCCESS) throw Failure(error, reason);
}

Several::Several(int count, const MPI_Request* handles) {
  require(count >= 0, MPI_ERR_COUNT, "the count is negative");
  require(count == 0 || handles != nullptr, MPI_ERR_ARG, "the array of requests is null");
  handles_ = {handles, static_cast<std::size_t>(count)};
}

void Several::check() const {
  for (const MPI_Request handle : handles_) {
    if (handle != MPI_REQUEST_NULL) static_cast<void>(request_of(handle));
  }
}

void Several::check_seen() const {
  if (is_wrong_) check();
}

bool Several::all() {
  const Handles<Request>& table = requests();
  for (; over_ < handles_.size(); ++over_) {
    if (handles_[over_] == MPI_REQUEST_NULL) continue;
    ++looks_;
    Request* const request = table.find(handles_[over_]);
    is_wrong_ = request == nullptr;
    if (is_wrong_ || !is_over(*request)) return is_wrong_;
  }
  return true;
}

/// Calls `on_over` with the place of each one that is over, until it gives false. What any() gives.
template <class F>
int Several::look(std::uint64_t completions, F on_over) {
  if (seen_ == completions) return kOpen;
  seen_ = completions;
  const Handles<Request>& table = requests();
  int found = kNothing;
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    if (handles_[i] == MPI_REQUEST_NULL) continue;
    ++looks_;
    Request* const request = table.find(handles_[i]);
    is_wrong_ = request == nullptr;
    if (is_wrong_) return kNothing;
    const Request* const one = pending(*request);
    if (one == nullptr) continue;  // inactive
    if (found == kNothing) found = kOpen;
    if (!one->is_done) continue;
    found = std::max(found, static_cast<int>(i));
    if (!on_over(static_cast<int>(i))) return found;
  }
  return found;
}

int Several::any(std::uint64_t completions) {
  return look(completions, [](int) { return false; });
}

int Several::some(std::uint64_t completions, int* indices) {
  int count = 0;
  const int found = look(completions, [&](int i) {
    indices[count++] = i;
    return true;
  });
  return found < 0 ? found : count;
}

std::string Several::first_open() const {
  Request* first = nullptr;
  std::size_t count = 0;
  for (const MPI_Request handle : handles_) {
    Request* const request = handle == MPI_REQUEST_NULL ? nullptr : requests().find(handle);
    if (request == nullptr || is_over(*request)) continue;
    if (count++ == 0) first = request;
  }
  if (first == nullptr) return "nothing";
  const std::string words = spell(*first);
  return count == 1 ? words : words + ", the first of " + std::to_string(count) + " requests";
}

}  // namespace phx::mpi
