#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/mpi/engine/request.h"

/// What threads wait for, as a person reads it.
namespace phx::mpi {

/// "a message of rank 1 with tag 7"; the rank is one of the communicator.
[[nodiscard]] std::string spell(const Wanted& wanted);
/// With the lock.
[[nodiscard]] std::string spell(const Request& request);

/// Says to the launcher what a thread waits for when that takes long, and when it goes on. Mesh
/// jobs have no launcher: there the daemon is told, by whoever asks for the words. Thread rule: its
/// own thread.
class LongWait {
 public:
  using What = std::function<std::string()>;

  /// `what` is called with the lock, and lives longer.
  explicit LongWait(const What& what) : what_(what) {}
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;
  ~LongWait() { go_on(); }

  /// It takes long. The function that the thread is in, and what it waits for: "MPI_Recv (...)".
  std::string tell();
  /// Something has come, or it is over.
  void go_on();

 private:
  const What& what_;
  std::uint64_t number_ = 0;  ///< 0: not told
};

}  // namespace phx::mpi
