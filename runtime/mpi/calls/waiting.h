#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runtime/mpi/calls/requests.h"

/// The families of MPI_Wait and MPI_Test, which wait for requests of every kind.
namespace phx::mpi {

/// What is waited for behind a handle: of a persistent request what it has begun; null if that is
/// nothing. With the lock.
[[nodiscard]] inline Request* pending(Request& request) {
  if (request.kind != Request::Kind::kPersistent) [[likely]]
    return &request;
  return static_cast<PersistentRequest&>(request).active.get();
}
[[nodiscard]] inline bool is_over(Request& request) {
  const Request* const one = pending(request);
  return one == nullptr || one->is_done;
}

/// Whose error handler hears of errors of these requests.
[[nodiscard]] MPI_Comm comm_of_requests(int count, const MPI_Request* handles);

/// Fails with this error of a request, unless it is MPI_SUCCESS.
void require_well(int error);

/// REQUIRES that it is over. Fills the status, and frees what it has begun. Returns its error, of
/// which `reason` says more where that is known.
int collect(MPI_Request* handle, MPI_Status* status, std::string* reason);
/// The same, and fails with its error.
void collect_well(MPI_Request* handle, MPI_Status* status);

/// The requests of a program that one call is for: those that are not MPI_REQUEST_NULL, nor
/// inactive. A null costs a comparison, another one a look at its request, and nobody is looked at
/// again before something has been completed.
class Several {
 public:
  static constexpr int kOpen = -1;     ///< None is over.
  static constexpr int kNothing = -2;  ///< There is none, or one that is no request.

  /// Fails with MPI_ERR_COUNT or MPI_ERR_ARG. `handles` stay as they are until the last look.
  Several(int count, const MPI_Request* handles);
  /// Fails with MPI_ERR_REQUEST if there is one that is no request.
  void check() const;
  /// The same, of those that were looked at.
  void check_seen() const;

  // Looks: with the lock. `completions` are those of the traffic.
  /// Whether all are over, or one is no request. Who is over stays so.
  [[nodiscard]] bool all();
  /// The first one that is over, or kOpen or kNothing.
  [[nodiscard]] int any(std::uint64_t completions);
  /// All that are over, to `indices`, which has room for all: how many, or kOpen or kNothing.
  [[nodiscard]] int some(std::uint64_t completions, int* indices);

  /// For a person: what the first one that is not over waits for, and how many there are. With the
  /// lock.
  [[nodiscard]] std::string first_open() const;
  /// How often a request was looked at: what this costs.
  [[nodiscard]] std::uint64_t looks() const { return looks_; }

 private:
  template <class F>
  int look(std::uint64_t completions, F on_over);

  std::span<const MPI_Request> handles_;
  std::size_t over_ = 0;  ///< So many of the first are over; of all().
  std::optional<std::uint64_t> seen_;
  std::uint64_t looks_ = 0;
  bool is_wrong_ = false;  ///< One is no request.
};

}  // namespace phx::mpi
