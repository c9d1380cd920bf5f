#include "runtime/mpi/calls/waiting.h"

#include <algorithm>

using namespace phx::mpi;

namespace {

MPI_Status* status_at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE || statuses == nullptr ? MPI_STATUS_IGNORE : &statuses[i];
}

void set_error(MPI_Status* status, int error) {
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
}

[[noreturn]] void fail_in_status(const std::string& reason) {
  throw Failure(MPI_ERR_IN_STATUS, "one of the operations has failed, see the statuses" +
                                       (reason.empty() ? "" : ": " + reason));
}

/// What each has ended with; none, if none has failed: then the field stays as it was.
void set_errors(const std::vector<int>& errors, MPI_Status* statuses, const std::string& reason) {
  if (errors.empty()) return;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    set_error(status_at(statuses, static_cast<int>(i)), errors[i]);
  }
  fail_in_status(reason);
}

/// All requests are over. Fails with MPI_ERR_IN_STATUS if one has failed.
void collect_all(int count, MPI_Request* handles, MPI_Status* statuses) {
  std::string reason;
  std::vector<int> errors;  // none, if none has failed
  for (int i = 0; i < count; ++i) {
    MPI_Status* status = status_at(statuses, i);
    set_status(status, {});
    if (handles[i] == MPI_REQUEST_NULL) continue;
    const int error = collect(&handles[i], status, &reason);
    if (error == MPI_SUCCESS) continue;
    errors.resize(static_cast<std::size_t>(count), MPI_SUCCESS);
    errors[static_cast<std::size_t>(i)] = error;
  }
  set_errors(errors, statuses, reason);
}

/// The first `count` of `indices` are over; a negative one: none.
void collect_some(int count, MPI_Request* handles, const int* indices, MPI_Status* statuses) {
  std::string reason;
  std::vector<int> errors;  // none, if none has failed
  for (int k = 0; k < count; ++k) {
    const int error = collect(&handles[indices[k]], status_at(statuses, k), &reason);
    if (error == MPI_SUCCESS) continue;
    errors.resize(static_cast<std::size_t>(count), MPI_SUCCESS);
    errors[static_cast<std::size_t>(k)] = error;
  }
  set_errors(errors, statuses, reason);
}

}  // namespace

PHX_MPI_ENTRY(int, Wait, (MPI_Request * request, MPI_Status* status)) {
  return enter("MPI_Wait", comm_of_requests(1, request), [&] {
    require(request != nullptr, MPI_ERR_ARG, "the pointer to the request is null");
    set_status(status, {});
    if (*request == MPI_REQUEST_NULL) return;
    Request& one = request_of(*request);
    Process::current().wait([&](Traffic&) { return is_over(one); }, [&] { return spell(one); });
    collect_well(request, status);
  });
}

PHX_MPI_ENTRY(int, Test, (MPI_Request * request, int* flag, MPI_Status* status)) {
  return enter("MPI_Test", comm_of_requests(1, request), [&] {
    require(request != nullptr && flag != nullptr, MPI_ERR_ARG, "a pointer is null");
    *flag = 1;
    if (*request == MPI_REQUEST_NULL) return set_status(status, {});
    Request& one = request_of(*request);
    *flag = Process::current().test([&](Traffic&) { return is_over(one); }) ? 1 : 0;
    if (*flag != 0) collect_well(request, status);
  });
}

PHX_MPI_ENTRY(int, Waitall, (int count, MPI_Request requests[], MPI_Status* statuses)) {
  return enter("MPI_Waitall", comm_of_requests(count, requests), [&] {
    Several several(count, requests);
    several.check();  // before it waits for others
    Process::current().wait([&](Traffic&) { return several.all(); },
                            [&] { return several.first_open(); });
    collect_all(count, requests, statuses);
  });
}

PHX_MPI_ENTRY(int, Testall, (int count, MPI_Request requests[], int* flag, MPI_Status* statuses)) {
  return enter("MPI_Testall", comm_of_requests(count, requests), [&] {
    Several several(count, requests);
    *flag = Process::current().test([&](Traffic&) { return several.all(); }) ? 1 : 0;
    several.check_seen();
    if (*flag != 0) collect_all(count, requests, statuses);
  });
}

PHX_MPI_ENTRY(int, Waitany, (int count, MPI_Request requests[], int* index, MPI_Status* status)) {
  return enter("MPI_Waitany", comm_of_requests(count, requests), [&] {
    Several several(count, requests);
    set_status(status, {});
    int found = Several::kOpen;
    const auto is_found = [&](Traffic& traffic) {
      found = several.any(traffic.completions());
      return found != Several::kOpen;
    };
    Process::current().wait(is_found, [&] { return several.first_open(); });
    several.check_seen();
    *index = found == Several::kNothing ? MPI_UNDEFINED : found;
    if (found != Several::kNothing) collect_well(&requests[found], status);
  });
}

PHX_MPI_ENTRY(int, Testany,
              (int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status)) {
  return enter("MPI_Testany", comm_of_requests(count, requests), [&] {
    Several several(count, requests);
    int found = Several::kOpen;
    const auto is_found = [&](Traffic& traffic) {
      found = several.any(traffic.completions());
      return found != Several::kOpen;
    };
    *flag = Process::current().test(is_found) ? 1 : 0;
    several.check_seen();
    *index = found < 0 ? MPI_UNDEFINED : found;
    if (found == Several::kNothing) set_status(status, {});
    if (found >= 0) collect_well(&requests[found], status);
  });
}

PHX_MPI_ENTRY(int, Waitsome,
              (int count, MPI_Request requests[], int* done, int indices[], MPI_Status* statuses)) {
  return enter("MPI_Waitsome", comm_of_requests(count, requests), [&] {
    Several several(count, requests);
    int found = Several::kOpen;
    const auto is_found = [&](Traffic& traffic) {
      found = several.some(traffic.completions(), indices);
      return found != Several::kOpen;
    };
    Process::current().wait(is_found, [&] { return several.first_open(); });
    several.check_seen();
    *done = found == Several::kNothing ? MPI_UNDEFINED : found;
    collect_some(found, requests, indices, statuses);
  });
}

PHX_MPI_ENTRY(int, Testsome,
              (int count, MPI_Request requests[], int* done, int indices[], MPI_Status* statuses)) {
  return enter("MPI_Testsome", comm_of_requests(count, requests), [&] {
    Several several(count, requests);
    int found = Several::kOpen;
    const auto is_found = [&](Traffic& traffic) {
      found = several.some(traffic.completions(), indices);
      return found != Several::kOpen;
    };
    static_cast<void>(Process::current().test(is_found));
    several.check_seen();
    *done = found == Several::kNothing ? MPI_UNDEFINED : std::max(found, 0);
    collect_some(found, requests, indices, statuses);
  });
}

PHX_MPI_ENTRY(int, Request_free, (MPI_Request * request)) {
  return enter("MPI_Request_free", comm_of_requests(1, request), [&] {
    require(request != nullptr, MPI_ERR_ARG, "the pointer to the request is null");
    Request& one = request_of(*request);
    if (one.kind != Request::Kind::kGeneral) return close_request(request);
    // Until the program has completed it, it names it by its handle.
    const Ref<Request> kept(&one);
    auto& general = static_cast<GeneralRequest&>(one);
    const bool is_done = Process::current().call([&](Traffic&) -> bool {
      general.is_freed = !one.is_done;
      return one.is_done;
    });
    if (!is_done) {
      *request = MPI_REQUEST_NULL;
      return;
    }
    close_request(request);
    if (general.free != nullptr) require_well(general.free(general.extra));
  });
}

PHX_MPI_ENTRY(int, Request_get_status, (MPI_Request request, int* flag, MPI_Status* status)) {
  return enter("MPI_Request_get_status", comm_of_requests(1, &request), [&] {
    *flag = 1;
    set_status(status, {});
    if (request == MPI_REQUEST_NULL) return;
    Request& one = request_of(request);
    *flag = Process::current().test([&](Traffic&) { return is_over(one); }) ? 1 : 0;
    if (*flag == 0) return;
    if (one.kind == Request::Kind::kGeneral) {
      auto& general = static_cast<GeneralRequest&>(one);
      MPI_Status own{};
      set_status(&own, {});
      if (general.query != nullptr) require_well(general.query(general.extra, &own));
      if (status != MPI_STATUS_IGNORE) *status = own;
      return;
    }
    const Request* const done = pending(one);
    if (done != nullptr) set_status(status, done->outcome);
  });
}

PHX_MPI_ENTRY(int, Cancel, (MPI_Request * request)) {
  return enter("MPI_Cancel", comm_of_requests(1, request), [&] {
    require(request != nullptr, MPI_ERR_ARG, "the pointer to the request is null");
    Request& one = request_of(*request);
    if (one.kind == Request::Kind::kGeneral) {
      auto& general = static_cast<GeneralRequest&>(one);
      if (general.cancel == nullptr) return;
      return require_well(general.cancel(general.extra, one.is_done ? 1 : 0));
    }
    Process::current().call([&](Traffic& traffic) {
      Request* const begun = pending(one);
      if (begun != nullptr) traffic.cancel(*begun);
    });
  });
}
