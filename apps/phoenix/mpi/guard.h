#pragma once

#include <signal.h>

#include <optional>

namespace phx::app {

/// What the tool takes while ranks run: by which it ends the job, or which it passes on. Not what
/// nohup or a shell ignores for it.
[[nodiscard]] sigset_t taken_signals();

/// Makes two processes of this one, of which neither can be killed and leave behind what is started
/// from now on: the new one gets SIGTERM when this one dies, and ends it; this one becomes the
/// parent of what the new one leaves, kills that, and passes signals on meanwhile.
/// Returns nothing in the new process, which does the work; in this one its exit code, as a shell
/// gives it, when it has ended. REQUIRES that there are no other threads.
[[nodiscard]] std::optional<int> work_under_guard();

/// Sends `signal` to each child of this process. Children of one that has ended become its own, if
/// it works under guard, or is the guard.
void signal_children(int signal);

}  // namespace phx::app
