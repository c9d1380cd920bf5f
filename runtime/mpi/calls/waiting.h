#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/mpi/calls/requests.h"

/// The families of MPI_Wait and MPI_Test, which wait for requests of every kind.
namespace phx::mpi {

/// What is waited for behind a handle: of a persistent request what it has begun; null if that is
/// nothing. With the lock.
[[nodiscard]] Request* pending(Request& request);
[[nodiscard]] inline bool is_over(Request& request) {
  const Request* const one = pending(request);
  return one == nullptr || one->is_done;
}

/// Fails with this error of a request, unless it is MPI_SUCCESS.
void require_well(int error);

/// REQUIRES that it is over. Fills the status, and frees what it has begun. Returns its error, of
/// which `reason` says more where that is known.
int collect(MPI_Request* handle, MPI_Status* status, std::string* reason);
/// The same, and fails with its error.
void collect_well(MPI_Request* handle, MPI_Status* status);

/// The requests of a program: those that are not MPI_REQUEST_NULL, nor inactive.
class Several {
 public:
  /// Fails with MPI_ERR_REQUEST.
  Several(int count, MPI_Request* handles, bool skips_inactive = true);
  [[nodiscard]] bool empty() const { return active_.empty(); }
  /// With the lock. Who is over stays so, and is not looked at again.
  [[nodiscard]] bool all();
  [[nodiscard]] int any() const;  ///< -1: none
  [[nodiscard]] std::vector<int> some() const;
  /// For a person: what the first one that is not over waits for, and how many there are.
  [[nodiscard]] std::string first_open() const;

 private:
  std::vector<std::pair<int, Request*>> active_;
  std::size_t over_ = 0;  ///< so many of the first are over
};

}  // namespace phx::mpi
