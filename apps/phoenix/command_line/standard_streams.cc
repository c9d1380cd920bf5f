#include "apps/phoenix/command_line/standard_streams.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "apps/phoenix/command_line/verb.h"

namespace phx::app {

using namespace std::string_literals;

void mend_what_is_inherited() {
  // Whoever ignores it and starts this program would take the exit codes of what that starts away.
  ::signal(SIGCHLD, SIG_DFL);
  // Else the number of a standard stream that is closed would be that of the next connection, and
  // what is printed would go there. What is written to these fails.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
}

int end_output(int code) {
  const bool has_failed = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !has_failed) return code;
  fail("cannot write to standard output" + (has_failed ? "" : ": "s + std::strerror(errno)));
  return code == kOk ? kFailed : code;
}

}  // namespace phx::app
