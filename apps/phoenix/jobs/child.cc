#include "apps/phoenix/jobs/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "runtime/tcp/open_files.h"

namespace phx::app {
namespace {

/// As exec() wants it; lives no longer than the words.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// And what this process has, but for those of a name that is there.
std::vector<std::string> with_ours(std::vector<std::string> environment) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_replaced = std::ranges::any_of(environment, [&](std::string_view other) {
      return other.substr(0, other.find('=')) == name;
    });
    if (!is_replaced) environment.emplace_back(text);
  }
  return environment;
}

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment) {
  std::vector<std::string> words{"phoenix"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return begin("/proc/self/exe", std::move(words), environment);
}

Result<Child> Child::start_program(const std::string& program,
                                   const std::vector<std::string>& arguments,
                                   const std::vector<std::string>& environment) {
  std::vector<std::string> words{std::filesystem::path(program).filename()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return begin(program, std::move(words), environment);
}

Result<Child> Child::begin(const std::string& program, std::vector<std::string> words,
                           const std::vector<std::string>& environment) {
  std::vector<std::string> settings = with_ours(environment);
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> envp = pointers_to(settings);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::kLimit, std::string("no pipe: ") + std::strerror(errno)};
  }
  tcp::Descriptor reading(ends[0]);
  const tcp::Descriptor writing(ends[1]);
  ::fcntl(reading.get(), F_SETFL, O_NONBLOCK);
  // Until it is another program, a signal that ends it would be taken by the handler of this one.
  sigset_t ending;
  sigset_t before;
  ::sigemptyset(&ending);
  ::sigaddset(&ending, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ending, &before);
  const pid_t process = ::fork();
  if (process == 0) ::signal(SIGTERM, SIG_DFL);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (process < 0) {
    return Error{ErrorCode::kLimit, std::string("no process: ") + std::strerror(errno)};
  }
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::dup2(writing.get(), STDOUT_FILENO);
    ::dup2(writing.get(), STDERR_FILENO);
    tcp::restore_open_files();
    ::execve(program.c_str(), argv.data(), envp.data());
    ::_exit(127);
  }
  return Child(process, std::move(reading));
}

Child::Child(Child&& other) noexcept
    : process_(std::exchange(other.process_, 0)),
      output_(std::move(other.output_)),
      begun_(std::move(other.begun_)),
      last_line_(std::move(other.last_line_)),
      exit_code_(other.exit_code_) {}

void Child::end() {
  if (process_ <= 0 || exit_code_ >= 0) return;
  ::kill(process_, SIGTERM);
  // What it still writes is taken: it would wait for that for ever.
  constexpr int kLookMs = 20;
  std::array<char, 4096> bytes{};
  while (!reap(WNOHANG)) {
    pollfd readable{output_.get(), POLLIN, 0};
    ::poll(&readable, 1, kLookMs);
    ssize_t size = 0;
    while ((size = ::read(output_.get(), bytes.data(), bytes.size())) > 0) {
    }
    if (size == 0) static_cast<void>(reap(0));  // Nobody writes any more.
  }
}

bool Child::reap(int options) {
  if (exit_code_ >= 0) return true;
  int status = 0;
  pid_t reaped = 0;
  while ((reaped = ::waitpid(process_, &status, options)) < 0 && errno == EINTR) {
  }
  if (reaped == 0) return false;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

bool Child::take(const std::function<void(const std::string&)>& on_line) {
  if (exit_code_ >= 0) return false;
  std::array<char, 4096> bytes{};
  ssize_t size = 0;
  while ((size = ::read(output_.get(), bytes.data(), bytes.size())) > 0) {
    for (const char c : std::string_view(bytes.data(), static_cast<std::size_t>(size))) {
      if (c != '\n') {
        begun_ += c;
        continue;
      }
      last_line_ = std::exchange(begun_, {});
      on_line(last_line_);
    }
  }
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  static_cast<void>(reap(0));
  return false;
}

}  // namespace phx::app
