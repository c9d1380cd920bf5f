#include "apps/phoenix/jobs/detach.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/mesh/interrupts.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/tcp/open_files.h"

namespace phx::app {
namespace {

using tcp::Descriptor;

constexpr int kLookMs = 100;

/// In the new process.
int work_apart(Descriptor pipe, const std::function<int(const GiveBack&)>& work) {
  ::setsid();
  tcp::close_inherited({pipe.get()});
  const auto give_back = [&pipe](const std::string& text, const std::string& advice, int log) {
    std::fflush(nullptr);
    std::fputs(advice.c_str(), stderr);
    // Short, so it is written as a whole; if nobody reads it, the terminal is gone already.
    static_cast<void>(!::write(pipe.get(), text.data(), text.size()));
    pipe = Descriptor();
    const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (nothing.is_open()) ::dup2(nothing.get(), STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
  };
  return work(give_back);
}

/// Until the pipe is closed at the other end: what came.
std::string read_all(const Descriptor& pipe, pid_t process) {
  std::string text;
  while (true) {
    if (const int number = Interrupts::take(); number != 0) ::kill(process, number);
    pollfd ready{pipe.get(), POLLIN, 0};
    if (::poll(&ready, 1, kLookMs) <= 0) continue;
    char buffer[512];
    const ssize_t size = ::read(pipe.get(), buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(size));
  }
}

}  // namespace

int detach(const std::function<int(const GiveBack&)>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(std::string("--detach: ") + std::strerror(errno));
  Descriptor here(ends[0]);
  Descriptor there(ends[1]);
  std::fflush(nullptr);
  const pid_t process = ::fork();
  if (process < 0) return fail(std::string("--detach: ") + std::strerror(errno));
  if (process == 0) {
    here = Descriptor();
    return work_apart(std::move(there), work);
  }
  there = Descriptor();
  const std::string text = read_all(here, process);
  if (!text.empty()) {
    // Now: later a signal may end this process with what is still in its buffer, and the job, of
    // which nobody has heard then, goes on.
    if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return kOk;
    const std::string why = std::strerror(errno);
    return fail(text.substr(0, text.find('\n')) + " goes on, but cannot be told: " + why);
  }
  int how = 0;
  while (::waitpid(process, &how, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

}  // namespace phx::app
