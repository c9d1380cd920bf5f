#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "runtime/tcp/descriptor.h"

namespace phx::tcp {

/// What to start.
struct SpawnRequest {
  std::vector<std::string> command;      ///< argv. REQUIRES at least one.
  std::vector<std::string> environment;  ///< "NAME=value", replaces what this process has.
  std::string directory;                 ///< Falls back to this process's own.
  /// The program phoenix-keeper, which starts the command and leaves nothing of it behind; empty:
  /// the command is started by this process, and only its process group can be ended.
  std::string keeper = {};
  bool has_input = false;  ///< From `Spawned::input`; else its standard input is empty.
};

/// A started process: leader of its own process group, pipes not blocking at this end. It gets
/// SIGKILL when the thread that started it ends; with a keeper, so does all that it has started,
/// when this process ends or closes `commands`.
struct Spawned {
  pid_t process = 0;    ///< With a keeper: that one, which ends as the command does.
  Descriptor ended;     ///< Readable once the process has ended (pidfd).
  Descriptor output;    ///< What it writes to stdout.
  Descriptor errors;    ///< What it writes to stderr.
  Descriptor input;     ///< For its stdin, if that is wanted.
  Descriptor exec;      ///< See exec_error().
  Descriptor commands;  ///< To the keeper: a byte for each signal. Without one: none.
};

/// Starts a process. Does not wait until its program runs: loading that may take long, e.g. from a
/// file server that does not answer.
[[nodiscard]] Result<Spawned> spawn(const SpawnRequest& request);

/// How the exec of a spawned process went: 0 if its program runs, errno if it could not be
/// executed, -errno if its keeper could not (then the process ends by itself). Nothing yet: it is
/// still being loaded. Gives an error once.
[[nodiscard]] std::optional<int> exec_error(const Descriptor& exec);

/// Why a program does not run.
struct ExecFailure {
  int exit_code = 0;  ///< What a shell would give: 126 not executable, 127 not found, 125 else.
  std::string what;
};
[[nodiscard]] ExecFailure explain(const SpawnRequest& request, int error);
/// The same of one that was still being loaded after `limit`, and was killed.
[[nodiscard]] ExecFailure explain_limit(const SpawnRequest& request, Duration limit);

}  // namespace phx::tcp
