#include "apps/phoenix/mesh/starting.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <utility>

#include "overlay/base/signal_name.h"
#include "runtime/tcp/address.h"
#include "runtime/tcp/open_files.h"

namespace phx::app {
namespace {

using SteadyClock = std::chrono::steady_clock;

Error failed(const char* what) {
  return Error{ErrorCode::kLimit,
               std::string("cannot start a daemon: ") + what + ": " + std::strerror(errno) +
                   (errno == EMFILE ? "; ulimit -n 1024 allows more of them" : "")};
}

/// In words, how a process ended.
std::string end_of(int status) {
  if (WIFEXITED(status)) return "ended with exit code " + std::to_string(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  return "was killed by " + signal_name(number);
}

/// Whether this is what a daemon says when it is a member, and not what the shell of a remote user
/// says to everybody who comes.
bool is_announcement(const std::string& line, Launched& launched) {
  std::istringstream words(line);
  std::string more;
  const bool is_pair = (words >> launched.id >> launched.endpoint) && !(words >> more);
  const auto address = tcp::parse_address(launched.endpoint);
  return is_pair && address.ok() && address.value().port != 0;
}

}  // namespace

Result<Starting> Starting::start(Place place, const std::vector<std::string>& command,
                                 const std::string& input, int kept) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed("no pipe");
  tcp::Descriptor reading(ends[0]);
  const tcp::Descriptor writing(ends[1]);
  tcp::Descriptor complaints(::memfd_create("complaints", MFD_CLOEXEC));
  if (!complaints.is_open()) return failed("no memory for its messages");
  const pid_t process = ::fork();
  if (process < 0) return failed("no process");
  if (process == 0) {
    ::dup2(::open(input.c_str(), O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    ::dup2(writing.get(), STDOUT_FILENO);
    ::dup2(complaints.get(), STDERR_FILENO);
    tcp::restore_open_files();
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    if (kept >= 0) ::fcntl(kept, F_SETFD, 0);
    ::execvp(argv[0], argv.data());
    std::fprintf(stderr, "cannot run %s: %s\n", argv[0], std::strerror(errno));
    ::_exit(127);
  }
  return Starting(std::move(place), process, std::move(reading), std::move(complaints));
}

std::string Starting::name() const {
  return "the daemon " + (place_.host.empty() ? "here" : "on " + place_.host);
}

std::string Starting::last_complaint() const {
  std::string text;
  std::array<char, 4096> bytes{};
  ssize_t got = 0;
  while ((got = ::pread(complaints_.get(), bytes.data(), bytes.size(),
                        static_cast<off_t>(text.size()))) > 0) {
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  std::istringstream stream(text);
  std::string last;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

bool Starting::has_announced(Launched& launched) {
  bool is_member = false;
  for (auto end = said_.find('\n'); end != std::string::npos && !is_member;
       end = said_.find('\n')) {
    const std::string line = said_.substr(0, end);
    said_.erase(0, end + 1);
    is_member = is_announcement(line, launched);
    if (!line.empty()) other_ = line;
  }
  return is_member;
}

Result<bool> Starting::hear(Launched& launched) {
  std::array<char, 512> buffer{};
  const ssize_t got = ::read(ready_.get(), buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return false;
  if (got > 0) said_.append(buffer.data(), static_cast<std::size_t>(got));
  const bool is_member = has_announced(launched);
  if (got > 0 && !is_member) return false;
  int status = 0;
  ready_.reset();
  ::waitpid(process_, &status, 0);
  if (is_member) return true;
  std::string why = last_complaint();
  if (why.empty()) why = said_.empty() ? other_ : said_;
  return Error{ErrorCode::kUnavailable,
               name() + " did not start: " +
                   (why.empty() ? "it " + end_of(status) + ", without a word" : why)};
}

void Starting::ask_to_end() const {
  ::kill(process_, SIGTERM);
}

Starting::Last Starting::await_end(SteadyClock::time_point deadline, Launched& launched) {
  // Some may be in the background already: they have said that they are members, or ended, when
  // nobody holds the other end of the pipe; until then they write files.
  std::array<char, 512> buffer{};
  bool is_over = false;
  while (!is_over && SteadyClock::now() < deadline) {
    constexpr int kLookEveryMs = 200;
    pollfd polled{ready_.get(), POLLIN, 0};
    if (::poll(&polled, 1, kLookEveryMs) <= 0) continue;
    const ssize_t got = ::read(ready_.get(), buffer.data(), buffer.size());
    if (got > 0) said_.append(buffer.data(), static_cast<std::size_t>(got));
    is_over = got <= 0;
  }
  ready_.reset();
  ::waitpid(process_, nullptr, is_over ? 0 : WNOHANG);
  if (has_announced(launched)) return Last::kMember;
  return is_over ? Last::kEnded : Last::kNeither;
}

}  // namespace phx::app
