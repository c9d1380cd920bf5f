#include "apps/phoenixd/detach.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace phx::phoenixd {
namespace {

constexpr int kNoProcess = 2;
constexpr int kSignalled = 128;  ///< And the signal's number, as a shell gives it.

/// Whom the end is meant for that this process is asked for; it waits for what becomes of that.
volatile pid_t background_process = 0;
volatile std::sig_atomic_t is_unwanted = 0;  ///< Before it has said that it is a member.
volatile std::sig_atomic_t has_said = 0;

void pass_on(int signal) {
  if (has_said != 0) return;
  is_unwanted = 1;
  ::kill(background_process, signal);
}

/// While SIGTERM is held back it comes later.
void hold_end(bool is_held) {
  sigset_t end;
  ::sigemptyset(&end);
  ::sigaddset(&end, SIGTERM);
  ::sigprocmask(is_held ? SIG_BLOCK : SIG_UNBLOCK, &end, nullptr);
}

/// All of it or nothing, and not after the end was passed on. Whether it is said.
bool say(const char* words, std::size_t length) {
  hold_end(true);
  const auto size = static_cast<ssize_t>(length);
  if (is_unwanted == 0 && ::write(STDOUT_FILENO, words, length) == size) has_said = 1;
  hold_end(false);
  return has_said != 0;
}

/// The rest of the first process's life.
[[noreturn]] void relay(int ready, pid_t background) {
  std::signal(SIGPIPE, SIG_IGN);
  background_process = background;
  std::signal(SIGTERM, &pass_on);
  hold_end(false);
  std::array<char, 512> buffer{};
  ssize_t got = 0;
  while ((got = ::read(ready, buffer.data(), buffer.size())) > 0 || (got < 0 && errno == EINTR)) {
    // Nobody waits for it any more.
    if (got > 0 && !say(buffer.data(), static_cast<std::size_t>(got))) pass_on(SIGTERM);
  }
  if (has_said != 0) ::_exit(0);
  int status = 0;
  ::waitpid(background, &status, 0);
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  std::fprintf(stderr, "phoenixd: killed by signal %d (%s)\n", WTERMSIG(status),
               ::strsignal(WTERMSIG(status)));
  ::_exit(kSignalled + WTERMSIG(status));
}

}  // namespace

Background detach() {
  std::array<int, 2> ready{-1, -1};
  if (::pipe2(ready.data(), O_CLOEXEC) != 0) {
    std::perror("phoenixd: --detach");
    std::exit(kNoProcess);
  }
  hold_end(true);  // else it could end this process alone before it can be passed on
  const pid_t background = ::fork();
  if (background < 0) {
    std::perror("phoenixd: --detach");
    std::exit(kNoProcess);
  }
  if (background > 0) {
    ::close(ready[1]);
    relay(ready[0], background);
  }
  hold_end(false);
  ::close(ready[0]);
  ::setsid();
  return {ready[1]};
}

void let_go_of_terminal(const std::string& log) {
  const int nothing = ::open("/dev/null", O_RDWR);
  if (nothing < 0) return;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
  if (nothing > STDERR_FILENO) ::close(nothing);
  const int file = ::open(log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  ::dup2(file, STDERR_FILENO);
  ::close(file);
}

}  // namespace phx::phoenixd
