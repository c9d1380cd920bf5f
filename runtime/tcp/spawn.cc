#include "runtime/tcp/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "overlay/base/check.h"
#include "runtime/tcp/blocked_signals.h"
#include "runtime/tcp/open_files.h"

namespace phx::tcp {
namespace {

struct Pipe {
  Descriptor read;
  Descriptor write;
};

/// A socket pair, because a write to one whose reader is gone need not end this process.
Result<Pipe> make_socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{ErrorCode::kLimit, std::string("no socket pair: ") + std::strerror(errno)};
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Reads as empty.
Result<Pipe> open_nothing() {
  Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing.is_open()) return Pipe{std::move(nothing), Descriptor()};
  return Error{
      ErrorCode::kUnavailable,
      std::string("no standard input, for /dev/null cannot be opened on this processor: ") +
          std::strerror(errno)};
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::kLimit, std::string("no more pipes: ") + std::strerror(errno)};
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// The part of "NAME=value" before the value, "=" included.
std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('=') + 1);
}

std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> merged;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view name = name_of(*at);
    const bool replaced = std::any_of(added.begin(), added.end(),
                                      [&](const std::string& a) { return name_of(a) == name; });
    if (!replaced) merged.emplace_back(*at);
  }
  // Of several with one name the last counts, as it would for a shell.
  for (auto one = added.begin(); one != added.end(); ++one) {
    const bool is_last = std::none_of(one + 1, added.end(), [&](const std::string& later) {
      return name_of(later) == name_of(*one);
    });
    if (is_last) merged.push_back(*one);
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// Everything the child needs, made before the fork: between fork and exec nothing may allocate,
/// because other threads of an application that embeds us may hold the allocator's lock.
struct ChildPlan {
  std::vector<char*> argv;
  std::vector<char*> environment;
  const char* directory = nullptr;
  int input = -1;
  int output = -1;
  int errors = -1;
  int exec = -1;      ///< See exec_error(); closed by a success.
  int commands = -1;  ///< Of a keeper.
  pid_t parent = 0;
};

[[noreturn]] void give_up(int exec, int code) {
  [[maybe_unused]] const ssize_t written = ::write(exec, &code, sizeof(code));
  ::_exit(127);
}

[[noreturn]] void run_child(const ChildPlan& plan) {
  ::setpgid(0, 0);
  // No application outlives its daemon, which may have died before this took effect. A keeper sees
  // the end of its commands instead, and has to end others first.
  if (plan.commands < 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (plan.commands < 0 && ::getppid() != plan.parent) ::_exit(127);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGCHLD, SIG_DFL);
  restore_open_files();
  // Not sooner: the daemon's handlers would tell the daemon that the signal was meant for it.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(plan.input, 0) < 0 || ::dup2(plan.output, 1) < 0 || ::dup2(plan.errors, 2) < 0) {
    give_up(plan.exec, errno);
  }
  // Descriptors of libraries that forgot the flag, e.g. an application that embeds us.
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  if (plan.commands >= 0) {
    ::fcntl(plan.exec, F_SETFD, 0);
    ::fcntl(plan.commands, F_SETFD, 0);
  }
  // A directory that does not exist here is no error: the daemon's own is the fallback.
  [[maybe_unused]] const int moved = plan.directory != nullptr ? ::chdir(plan.directory) : 0;
  ::execvpe(plan.argv.front(), plan.argv.data(), plan.environment.data());
  give_up(plan.exec, plan.commands < 0 ? errno : -errno);
}

int shell_code(int error) {
  if (error == ENOENT || error == ENOTDIR || error == ELIBACC) return 127;
  const bool not_executable =
      error == EACCES || error == ENOEXEC || error == EPERM || error == EISDIR;
  return not_executable ? 126 : 125;
}

std::string from(const SpawnRequest& request) {
  return request.directory.empty() ? "" : " (from " + request.directory + ")";
}

std::string describe(const SpawnRequest& request, int error) {
  const std::string& program = request.command.front();
  const std::string where = from(request);
  if (error < 0) {
    return program + " could not be started" + where + ", because " + request.keeper +
           " of this installation cannot be executed on this processor: " + std::strerror(-error) +
           "; install it anew, then start its daemons again";
  }
  if (error == ENOENT) {
    return program + " was not found on this processor" + where +
           "; give a path that exists on every processor, or run on fewer";
  }
  if (error == ELIBACC) {
    return program +
           " is there, but not what it is to be run by (the program in its first line, "
           "or a loader) on this processor" +
           where;
  }
  if (error == EISDIR) return program + " is a folder on this processor" + where;
  if (error == EACCES || error == ENOEXEC) {
    return program + " is not executable on this processor" + where + ": " + std::strerror(error) +
           "; try `chmod +x`, or check that it was built for this machine";
  }
  return program + " could not be started" + where + ": " + std::strerror(error);
}

pid_t fork_child(const ChildPlan& plan) {
  const BlockedSignals blocked;
  const pid_t child = ::fork();
  if (child == 0) run_child(plan);
  return child;
}

}  // namespace

Result<Spawned> spawn(const SpawnRequest& request) {
  PHX_CHECK(!request.command.empty());
  Result<Pipe> output = make_pipe();
  if (!output.ok()) return output.error();
  Result<Pipe> errors = make_pipe();
  if (!errors.ok()) return errors.error();
  Result<Pipe> exec = make_pipe();
  if (!exec.ok()) return exec.error();
  Result<Pipe> input = request.has_input ? make_pipe() : open_nothing();
  if (!input.ok()) return input.error();
  const bool is_kept = !request.keeper.empty();
  Result<Pipe> commands = is_kept ? make_socket_pair() : Pipe{};
  if (!commands.ok()) return commands.error();

  std::vector<std::string> command = request.command;
  if (is_kept) {
    command.insert(command.begin(), {request.keeper, std::to_string(exec.value().write.get()),
                                     std::to_string(commands.value().read.get())});
  }
  std::vector<std::string> environment = merged_environment(request.environment);
  const ChildPlan plan{.argv = pointers(command),
                       .environment = pointers(environment),
                       .directory = request.directory.empty() ? nullptr : request.directory.c_str(),
                       .input = input.value().read.get(),
                       .output = output.value().write.get(),
                       .errors = errors.value().write.get(),
                       .exec = exec.value().write.get(),
                       .commands = commands.value().read.get(),
                       .parent = ::getpid()};
  const pid_t child = fork_child(plan);
  if (child < 0) {
    return Error{ErrorCode::kLimit, std::string("no more processes: ") + std::strerror(errno)};
  }
  ::setpgid(child, child);  // both sides do it, so that neither can be too late
  Descriptor ended(static_cast<int>(::syscall(SYS_pidfd_open, child, 0U)));
  if (!ended.is_open()) {
    const std::string what = std::string("pidfd_open: ") + std::strerror(errno);
    ::kill(child, SIGKILL);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return Error{ErrorCode::kUnavailable, what};
  }
  for (const Result<Pipe>* pipe : {&output, &errors, &exec}) {
    ::fcntl(pipe->value().read.get(), F_SETFL, O_NONBLOCK);
  }
  if (request.has_input) ::fcntl(input.value().write.get(), F_SETFL, O_NONBLOCK);
  return Spawned{child,
                 std::move(ended),
                 std::move(output.value().read),
                 std::move(errors.value().read),
                 std::move(input.value().write),
                 std::move(exec.value().read),
                 std::move(commands.value().write)};
}

std::optional<int> exec_error(const Descriptor& exec) {
  int code = 0;
  ssize_t size = 0;
  do {
    size = ::read(exec.get(), &code, sizeof(code));
  } while (size < 0 && errno == EINTR);
  if (size < 0 && errno == EAGAIN) return std::nullopt;
  return size == static_cast<ssize_t>(sizeof(code)) ? code : 0;
}

ExecFailure explain(const SpawnRequest& request, int error) {
  return {shell_code(error), describe(request, error)};
}

ExecFailure explain_limit(const SpawnRequest& request, Duration limit) {
  return {shell_code(ETIMEDOUT),
          request.command.front() + " could not be loaded within " + std::to_string(limit / 1ms) +
              " ms on this processor" + from(request) +
              " and was killed; does the file system that it lies on answer?"};
}

}  // namespace phx::tcp
