#include "apps/phoenix/mpi/guard.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "apps/phoenix/mesh/interrupts.h"

namespace phx::app {
namespace {

/// Until `worker` has ended: how. `signals` are blocked.
int watch(pid_t worker, const sigset_t& signals) {
  while (true) {
    int status = 0;
    for (pid_t one = 0; (one = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (one == worker) return status;
    }
    const int number = ::sigwaitinfo(&signals, nullptr);
    if (number > 0 && number != SIGCHLD) ::kill(worker, number);
  }
}

}  // namespace

sigset_t taken_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  // The guard and its worker need these, whoever has started them.
  for (const int number : {SIGCHLD, SIGTERM}) ::sigaddset(&signals, number);
  for (const int number : {SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
    if (!is_ignored(number)) ::sigaddset(&signals, number);  // One that is blocked would come.
  }
  return signals;
}

std::optional<int> work_under_guard() {
  const sigset_t signals = taken_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::fflush(nullptr);
  const pid_t guard = ::getpid();
  const pid_t worker = ::fork();
  if (worker <= 0) {  // Without a process more it does without a guard.
    if (worker == 0) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (worker == 0 && ::getppid() != guard) ::raise(SIGTERM);
    if (worker == 0) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return std::nullopt;
  }
  const int status = watch(worker, signals);
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  constexpr int kSignalled = 128;
  signal_children(SIGKILL);
  while (::waitpid(-1, nullptr, 0) > 0) signal_children(SIGKILL);
  return kSignalled + WTERMSIG(status);
}

void signal_children(int signal) {
  const std::string self = std::to_string(::getpid());
  std::FILE* list = std::fopen(("/proc/" + self + "/task/" + self + "/children").c_str(), "r");
  if (list == nullptr) return;
  for (int process = 0; std::fscanf(list, "%d", &process) == 1;) ::kill(process, signal);
  std::fclose(list);
}

}  // namespace phx::app
