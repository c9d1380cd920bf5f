#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "overlay/base/result.h"
#include "runtime/tcp/descriptor.h"

namespace phx::tcp {

/// What to start.
struct SpawnRequest {
  std::vector<std::string> command;      ///< argv. REQUIRES at least one.
  std::vector<std::string> environment;  ///< "NAME=value", replaces what this process has.
  std::string directory;                 ///< Falls back to this process's own.
};

/// A started process: leader of its own process group, standard input empty, its output in pipes
/// (not blocking at this end). It gets SIGKILL when the thread that started it ends.
struct Spawned {
  pid_t process = 0;
  Descriptor ended;   ///< Readable once the process has ended (pidfd).
  Descriptor output;  ///< What it writes to stdout.
  Descriptor errors;  ///< What it writes to stderr.
};

/// Starts a process. Waits until its program runs or could not be executed. If it could not,
/// `exit_code` is what a shell would give: 126 not executable, 127 not found, 125 anything else.
[[nodiscard]] Result<Spawned> spawn(const SpawnRequest& request, int& exit_code);

}  // namespace phx::tcp
