#include "runtime/tcp/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "overlay/base/check.h"

namespace phx::tcp {
namespace {

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::kLimit, std::string("no pipe for its output: ") + std::strerror(errno)};
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
  merged.insert(merged.end(), added.begin(), added.end());
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
  int null = -1;
  int output = -1;
  int errors = -1;
  int failure = -1;  ///< Gets errno if the program cannot be executed; closed by a success.
  pid_t parent = 0;
};

[[noreturn]] void give_up(int failure, int code) {
  [[maybe_unused]] const ssize_t written = ::write(failure, &code, sizeof(code));
  ::_exit(127);
}

[[noreturn]] void run_child(const ChildPlan& plan) {
  ::setpgid(0, 0);
  // No application outlives its daemon. The daemon may have died before this took effect.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGCHLD, SIG_DFL);
  if (::dup2(plan.null, 0) < 0 || ::dup2(plan.output, 1) < 0 || ::dup2(plan.errors, 2) < 0) {
    give_up(plan.failure, errno);
  }
  // Descriptors of libraries that forgot the flag, e.g. an application that embeds us.
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  // A directory that does not exist here is no error: the daemon's own is the fallback.
  [[maybe_unused]] const int moved = plan.directory != nullptr ? ::chdir(plan.directory) : 0;
  ::execvpe(plan.argv.front(), plan.argv.data(), plan.environment.data());
  give_up(plan.failure, errno);
}

int shell_code(int error) {
  if (error == ENOENT || error == ENOTDIR) return 127;
  const bool not_executable = error == EACCES || error == ENOEXEC || error == EPERM;
  return not_executable ? 126 : 125;
}

std::string describe(const SpawnRequest& request, int error) {
  const std::string& program = request.command.front();
  const std::string where = request.directory.empty() ? "" : " (from " + request.directory + ")";
  if (error == ENOENT) {
    return program + " was not found on this processor" + where +
           "; give a path that exists on every processor, or run on fewer";
  }
  if (error == EACCES || error == ENOEXEC) {
    return program + " is not executable on this processor" + where + ": " + std::strerror(error) +
           "; try `chmod +x`, or check that it was built for this machine";
  }
  return program + " could not be started" + where + ": " + std::strerror(error);
}

/// errno of the child's exec; 0 if it runs.
int read_failure(int fd) {
  int code = 0;
  ssize_t size = 0;
  do {
    size = ::read(fd, &code, sizeof(code));
  } while (size < 0 && errno == EINTR);
  return size == static_cast<ssize_t>(sizeof(code)) ? code : 0;
}

void reap(pid_t process) {
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<Spawned> spawn(const SpawnRequest& request, int& exit_code) {
  PHX_CHECK(!request.command.empty());
  exit_code = 125;
  Result<Pipe> output = make_pipe();
  if (!output.ok()) return output.error();
  Result<Pipe> errors = make_pipe();
  if (!errors.ok()) return errors.error();
  Result<Pipe> failure = make_pipe();
  if (!failure.ok()) return failure.error();
  const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));

  std::vector<std::string> command = request.command;
  std::vector<std::string> environment = merged_environment(request.environment);
  const ChildPlan plan{.argv = pointers(command),
                       .environment = pointers(environment),
                       .directory = request.directory.empty() ? nullptr : request.directory.c_str(),
                       .null = null.get(),
                       .output = output.value().write.get(),
                       .errors = errors.value().write.get(),
                       .failure = failure.value().write.get(),
                       .parent = ::getpid()};
  const pid_t child = ::fork();
  if (child == 0) run_child(plan);
  if (child < 0) {
    return Error{ErrorCode::kLimit, std::string("no more processes: ") + std::strerror(errno)};
  }
  ::setpgid(child, child);  // both sides do it, so that neither can be too late
  Descriptor ended(static_cast<int>(::syscall(SYS_pidfd_open, child, 0U)));
  failure.value().write.reset();
  const int error = read_failure(failure.value().read.get());
  if (error != 0 || !ended.is_open()) {
    const std::string what =
        error != 0 ? describe(request, error) : std::string("pidfd_open: ") + std::strerror(errno);
    ::kill(child, SIGKILL);
    reap(child);
    exit_code = shell_code(error);
    return Error{ErrorCode::kUnavailable, what};
  }
  for (const Descriptor* read : {&output.value().read, &errors.value().read}) {
    ::fcntl(read->get(), F_SETFL, O_NONBLOCK);
  }
  return Spawned{child, std::move(ended), std::move(output.value().read),
                 std::move(errors.value().read)};
}

}  // namespace phx::tcp
