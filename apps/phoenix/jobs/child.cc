#include "apps/phoenix/jobs/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/tcp/open_files.h"

namespace phx::app {

Result<Child> Child::start(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"phoenix"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::kLimit, std::string("no pipe: ") + std::strerror(errno)};
  }
  tcp::Descriptor reading(ends[0]);
  const tcp::Descriptor writing(ends[1]);
  ::fcntl(reading.get(), F_SETFL, O_NONBLOCK);
  const pid_t process = ::fork();
  if (process < 0) {
    return Error{ErrorCode::kLimit, std::string("no process: ") + std::strerror(errno)};
  }
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::dup2(writing.get(), STDOUT_FILENO);
    ::dup2(writing.get(), STDERR_FILENO);
    tcp::restore_open_files();
    ::execv("/proc/self/exe", argv.data());
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

Child::~Child() {
  if (process_ <= 0 || exit_code_ >= 0) return;
  ::kill(process_, SIGTERM);
  ::waitpid(process_, nullptr, 0);
}

bool Child::take(const std::function<void(const std::string&)>& on_line) {
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
  int status = 0;
  ::waitpid(process_, &status, 0);
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return false;
}

}  // namespace phx::app
