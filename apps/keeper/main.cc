// phoenix-keeper: starts a program for a daemon, and leaves nothing of it behind.
//
//   phoenix-keeper EXEC COMMANDS PROGRAM [ARGUMENTS]
//
// EXEC gets errno if the program cannot be executed (see reason()), and is closed by a success.
// COMMANDS brings one byte per signal that the program's process group is to get; its end means
// that the daemon is gone. All that the program starts is below this process, which becomes the
// parent of those whose parents have ended, whatever sessions and groups they make. When the
// program has ended, or the daemon is gone, all of them are killed; then this process ends as the
// program did. Those of other users (by sudo), whom it may not kill, are left alone. Where /proc
// does not show this process's own children (there is none, or it is that of other processes), only
// the program's process group is killed.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace phx::keeper {
namespace {

constexpr int kNoProgram = 125;  ///< As a shell gives it for what is neither 126 nor 127.
constexpr useconds_t kLookAgainUs = 1000;
constexpr std::array kIgnored = {SIGTERM, SIGINT, SIGHUP, SIGPIPE};

/// The parent of a process, as /proc says; 0 if it is gone.
pid_t parent_of(const char* process) {
  const std::string path = std::string("/proc/") + process + "/stat";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 512> text{};
  const ssize_t size = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  if (size <= 0) return 0;
  // "PID (NAME) STATE PARENT ...", and a name may contain anything.
  const std::string line(text.data(), static_cast<std::size_t>(size));
  const std::size_t name_end = line.rfind(") ");
  return name_end == std::string::npos || line.size() < name_end + 4
             ? 0
             : static_cast<pid_t>(std::strtol(line.c_str() + name_end + 4, nullptr, 10));
}

/// What kill_children() has found.
struct Children {
  bool has_killed = false;  ///< One at least.
  bool has_others = false;  ///< Of another user (by sudo), who are not for this one to kill.
};

/// No child that has not been waited for can be mistaken for another process.
Children kill_children() {
  Children found;
  DIR* all = ::opendir("/proc");
  if (all == nullptr) return found;
  while (const dirent* one = ::readdir(all)) {
    const pid_t process = static_cast<pid_t>(std::strtol(one->d_name, nullptr, 10));
    if (process <= 0 || parent_of(one->d_name) != ::getpid()) continue;
    (::kill(process, SIGKILL) == 0 ? found.has_killed : found.has_others) = true;
  }
  ::closedir(all);
  return found;
}

/// Whether /proc tells numbers of processes as this one knows them: another one (unshare -p without
/// --mount-proc, the host's in a chroot) would name innocent ones.
bool has_own_proc() {
  std::array<char, 32> name{};
  const ssize_t size = ::readlink("/proc/self", name.data(), name.size() - 1);
  return size > 0 && std::strtol(name.data(), nullptr, 10) == ::getpid();
}

/// Until there is none left that can be killed: those below a killed one become children of this
/// process, perhaps while it looks for others.
void end_all() {
  while (true) {
    const Children found = kill_children();
    const pid_t ended = ::waitpid(-1, nullptr, found.has_killed ? 0 : WNOHANG);
    if (ended < 0 && errno == ECHILD) return;
    if (ended == 0 && found.has_others) return;
    if (ended == 0) ::usleep(kLookAgainUs);
    while (ended > 0 && ::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
}

/// A signal that comes for the program before it has its own handlers must not be lost.
void block(bool is_blocked) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(is_blocked ? SIG_BLOCK : SIG_UNBLOCK, &all, nullptr);
}

/// errno of an exec that failed; EISDIR: of a folder; ELIBACC: the file is there, but not what its
/// first line, or its format, wants to be run by.
int reason(const char* program, int error) {
  struct stat found {};
  const bool is_path = std::strchr(program, '/') != nullptr;
  if (!is_path || ::stat(program, &found) != 0) return error;
  if (S_ISDIR(found.st_mode)) return EISDIR;
  return error == ENOENT ? ELIBACC : error;
}

/// Says why there is no program, and gives the code for that.
int fail(int exec, int why) {
  [[maybe_unused]] const ssize_t written = ::write(exec, &why, sizeof(why));
  return kNoProgram;
}

[[noreturn]] void run(int exec, char** argv, pid_t keeper) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != keeper) ::_exit(kNoProgram);
  for (const int number : kIgnored) ::signal(number, SIG_DFL);
  block(false);
  ::execvp(argv[0], argv);
  ::_exit(fail(exec, reason(argv[0], errno)));
}

/// The program's process group, as far as it can be waited for: for a while only, because it cannot
/// be told from those who end whether there is one that cannot be killed. REQUIRES that the program
/// has not been waited for: until then the number of its group is nobody else's.
void end_group(pid_t program) {
  constexpr int kLooksMax = 5000;
  ::kill(-program, SIGKILL);
  ::kill(program, SIGKILL);  // It may have gone to another group.
  for (int looks = 0; looks < kLooksMax; ++looks) {
    pid_t ended = 0;
    while ((ended = ::waitpid(-program, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0) return;
    ::usleep(kLookAgainUs);
  }
}

/// How the program has ended. It can be waited for still.
int status_of(pid_t program) {
  siginfo_t how{};
  while (::waitid(P_PID, static_cast<id_t>(program), &how, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
  return how.si_code == CLD_EXITED ? W_EXITCODE(how.si_status, 0) : how.si_status;
}

/// Passes signals on until the program has ended, or, without a result, the daemon is gone.
std::optional<int> look_after(pid_t program, int commands) {
  const int ended = static_cast<int>(::syscall(SYS_pidfd_open, program, 0U));
  std::array<pollfd, 2> wanted = {pollfd{ended, POLLIN, 0}, pollfd{commands, POLLIN, 0}};
  while (true) {
    if (::poll(wanted.data(), wanted.size(), -1) < 0) continue;
    if (wanted[0].revents != 0) break;
    unsigned char number = 0;
    const ssize_t size = ::read(commands, &number, 1);
    if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN)) return std::nullopt;
    if (size == 1 && ::kill(-program, number) != 0) ::kill(program, number);
  }
  return status_of(program);
}

[[noreturn]] void end_like(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(WTERMSIG(status), SIG_DFL);
  ::raise(WTERMSIG(status));
  ::_exit(128 + WTERMSIG(status));
}

}  // namespace
}  // namespace phx::keeper

int main(int argc, char** argv) {
  using namespace phx::keeper;
  constexpr int kFirstWord = 3;
  if (argc <= kFirstWord) {
    std::fprintf(stderr, "phoenix-keeper: it is started by phoenixd\n");
    return kNoProgram;
  }
  const int exec = std::atoi(argv[1]);
  const int commands = std::atoi(argv[2]);
  for (const int descriptor : {exec, commands}) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  for (const int number : kIgnored) ::signal(number, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t keeper = ::getpid();
  block(true);
  const pid_t program = ::fork();
  if (program == 0) run(exec, argv + kFirstWord, keeper);
  block(false);
  if (program < 0) return fail(exec, errno);
  ::setpgid(program, program);
  // Who reads the output waits for the end of all who write.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, exec}) {
    ::close(descriptor);
  }
  const std::optional<int> status = look_after(program, commands);
  if (has_own_proc()) {
    end_all();
  } else {
    end_group(program);
  }
  end_like(status.value_or(SIGKILL));
}
