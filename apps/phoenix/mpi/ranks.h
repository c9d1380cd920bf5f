#pragma once

#include <string>
#include <vector>

#include "overlay/base/result.h"

namespace phx::app {

/// One process of an MPI job on this machine.
struct MpiProcess {
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< "NAME=VALUE", beside that of this program
  std::string folder;                    ///< empty: this one
};

struct MpiOptions {
  bool tags_output = false;   ///< "[3] " in front of the lines of rank 3
  bool shares_memory = true;  ///< messages go through memory, not over TCP
  double timeout_s = 0;       ///< 0: none
  /// A program is: several processes fail if none calls our MPI_Init.
  bool is_of_other_mpi = false;
};

/// Starts the processes of an MPI job, a daemon inside each, and waits for their end. When one ends
/// badly, or calls MPI_Abort, all others are killed. Nothing that they have started outlives this.
/// Returns the exit code: 0, that of the first one that ended badly (128 and the signal if it was
/// one), or that of MPI_Abort. Says on stderr which one it was.
[[nodiscard]] int run_ranks(const std::vector<MpiProcess>& ranks, const MpiOptions& options);

}  // namespace phx::app
