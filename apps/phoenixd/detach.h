#pragma once

#include <string>

namespace phx::phoenixd {

/// Where a process that goes into the background says that it is ready.
struct Background {
  int ready_fd = -1;
};

/// Goes into the background: the calling process stays, passes on the line that the background
/// process writes to `ready_fd` to standard output, and exits (0, or the other's exit code if that
/// ends without a line; if nobody reads the line, the other is asked to leave). Returns in the
/// background process, in a session of its own. REQUIRES a process with one thread.
[[nodiscard]] Background detach();

/// Lets go of the terminal: standard input and output are /dev/null from now on, and so is standard
/// error, unless there is a log, which gets last words that no sink has written.
void let_go_of_terminal(const std::string& log);

}  // namespace phx::phoenixd
