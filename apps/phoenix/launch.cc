#include "apps/phoenix/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "apps/phoenix/interrupts.h"

namespace phx::app {
namespace fs = std::filesystem;
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr auto kStartTimeout = std::chrono::seconds(30);
constexpr auto kLastWordTimeout = std::chrono::seconds(5);
constexpr std::int64_t kLookEveryMs = 200;  // For an interrupt that came between two waits.

/// A daemon that has been started and has not yet said that it is a member.
struct Starting {
  Place place;
  pid_t process = -1;
  int ready = -1;    ///< Here it writes "ID ENDPOINT".
  fs::path log;      ///< What it writes on stderr until then.
  std::string said;  ///< Of the line so far.
};

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

/// `word` so that a remote shell takes it as one word.
std::string quoted(const std::string& word) {
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string last_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string last;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

/// The command that starts a daemon at `place`, as argv.
std::vector<std::string> command_for(const MeshDir& dir, const Place& place,
                                     const std::vector<std::string>& join,
                                     const LaunchOptions& options) {
  const bool here = place.host.empty();
  std::vector<std::string> daemon = {
      here || options.remote_daemon.empty() ? program_path("phoenixd") : options.remote_daemon};
  for (const std::string& option : options.daemon_options) daemon.push_back(option);
  if (here) {
    daemon.insert(daemon.end(), {"--mesh-dir", dir.path(), "--key", dir.key_file()});
  } else {
    daemon.insert(daemon.end(), {"--mesh", dir.name(), "--key", "-", "--name", place.host});
  }
  const std::string anywhere = here ? "127.0.0.1:0" : "0.0.0.0:0";
  daemon.insert(daemon.end(), {"--listen", place.listen.empty() ? anywhere : place.listen});
  daemon.push_back("--detach");
  for (const std::string& endpoint : join) daemon.insert(daemon.end(), {"--join", endpoint});
  if (here) return daemon;
  std::vector<std::string> command = words(options.remote_shell);
  command.push_back(place.host);
  std::string line;
  for (const std::string& word : daemon) line += (line.empty() ? "" : " ") + quoted(word);
  command.push_back(line);
  return command;
}

Result<Starting> start(const MeshDir& dir, const Place& place, const std::vector<std::string>& join,
                       const LaunchOptions& options) {
  static std::uint32_t count = 0;
  Starting starting{place, -1, -1, {}, {}};
  starting.log =
      dir.path() / ("start-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
  const std::vector<std::string> command = command_for(dir, place, join, options);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  int ready[2] = {-1, -1};
  if (::pipe2(ready, O_CLOEXEC) != 0) {
    return Error{ErrorCode::kUnavailable, "no pipe: " + std::generic_category().message(errno)};
  }
  const std::string key = dir.key_file();
  starting.process = ::fork();
  if (starting.process == 0) {
    const int input = ::open(place.host.empty() ? "/dev/null" : key.c_str(), O_RDONLY);
    const int log = ::open(starting.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(input, 0);
    ::dup2(ready[1], 1);
    ::dup2(log, 2);
    ::execvp(argv[0], argv.data());
    std::fprintf(stderr, "cannot run %s: %s\n", argv[0],
                 std::generic_category().message(errno).c_str());
    ::_exit(127);
  }
  ::close(ready[1]);
  starting.ready = ready[0];
  return starting;
}

/// Reads what there is. True when the daemon is a member; an error when it gave up.
Result<bool> hear(Starting& starting, Launched& launched) {
  char buffer[512];
  const ssize_t got = ::read(starting.ready, buffer, sizeof buffer);
  if (got > 0) starting.said.append(buffer, static_cast<std::size_t>(got));
  const std::size_t end = starting.said.find('\n');
  if (end != std::string::npos) {
    std::istringstream line(starting.said.substr(0, end));
    if (line >> launched.id >> launched.endpoint) return true;
  }
  if (got > 0) return false;
  const std::string where = starting.place.host.empty() ? "here" : "on " + starting.place.host;
  const std::string why = last_line(starting.log);
  return Error{ErrorCode::kUnavailable, "the daemon " + where + " did not start: " +
                                            (why.empty() ? "it ended without a word" : why)};
}

void clean_up(Starting& starting) {
  ::close(starting.ready);
  // The daemon has gone into the background by itself; this is its parent, or the remote shell.
  ::waitpid(starting.process, nullptr, 0);
  std::error_code failure;
  fs::remove(starting.log, failure);
}

/// None of them is wanted any more. Some may be in the background already: they have said that they
/// are members, or ended, when nobody holds the other end of the pipe; until then they write files.
void give_up(std::vector<Starting>& running) {
  for (const Starting& one : running) ::kill(one.process, SIGTERM);
  const auto deadline = SteadyClock::now() + kLastWordTimeout;
  for (Starting& one : running) {
    pollfd polled{one.ready, POLLIN, 0};
    char buffer[512];
    while (SteadyClock::now() < deadline) {
      if (::poll(&polled, 1, static_cast<int>(kLookEveryMs)) <= 0) continue;
      if (::read(one.ready, buffer, sizeof buffer) <= 0) break;
    }
    clean_up(one);
  }
  running.clear();
}

/// Waits until one of `running` is a member, and takes it out.
Result<Launched> wait_for_one(std::vector<Starting>& running, SteadyClock::time_point deadline) {
  while (true) {
    std::vector<pollfd> polled;
    for (const Starting& one : running) polled.push_back({one.ready, POLLIN, 0});
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (Interrupts::take() != 0) {
      give_up(running);
      return Error{ErrorCode::kAborted, "interrupted"};
    }
    const auto wait = std::clamp<std::int64_t>(left.count(), 0, kLookEveryMs);
    const int found = ::poll(polled.data(), polled.size(), static_cast<int>(wait));
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0 && left.count() > 0) continue;
    if (found <= 0) {
      const Place place = running.front().place;
      give_up(running);
      return Error{ErrorCode::kTimeout,
                   "the daemon " + (place.host.empty() ? "here" : "on " + place.host) +
                       " has not become a member in time; can it reach the others?"};
    }
    for (std::size_t i = 0; i < running.size(); ++i) {
      if (polled[i].revents == 0) continue;
      Launched launched;
      const Result<bool> heard = hear(running[i], launched);
      if (heard.ok() && !heard.value()) continue;
      clean_up(running[i]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      if (!heard.ok()) return heard.error();
      return launched;
    }
  }
}

}  // namespace

std::string program_path(const std::string& name) {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  const fs::path here = self.parent_path();
  const fs::path beside = here.parent_path();
  for (const fs::path& folder : {here, beside / name, beside / "libexec" / "phoenix"}) {
    const fs::path candidate = folder / name;
    if (fs::is_regular_file(candidate, failure)) return candidate;
  }
  return name;
}

Result<std::vector<Launched>> launch(const MeshDir& dir, const std::vector<Place>& places,
                                     std::vector<std::string> join, const LaunchOptions& options) {
  const bool talks = !options.quiet && ::isatty(2) != 0;
  std::vector<Launched> members;
  std::vector<Starting> running;
  std::optional<Error> failed;
  std::size_t next = 0;
  while (!failed && members.size() < places.size()) {
    // The founder must be there before anybody can join it.
    const std::size_t at_once = join.empty() ? 1 : options.at_once;
    while (next < places.size() && running.size() < at_once) {
      Result<Starting> one = start(dir, places[next++], join, options);
      if (!one.ok()) return one.error();
      running.push_back(std::move(one).value());
    }
    const Result<Launched> member = wait_for_one(running, SteadyClock::now() + kStartTimeout);
    if (!member.ok()) {
      failed = member.error();
      break;
    }
    members.push_back(member.value());
    if (join.empty()) join.push_back(member.value().endpoint);
    if (talks) {
      std::fprintf(stderr, "\r%zu of %zu daemons started", members.size(), places.size());
      if (members.size() == places.size()) std::fprintf(stderr, "\r\033[K");
    }
  }
  while (!running.empty()) {
    // Also after a failure: those that have been started may become members.
    const Result<Launched> member = wait_for_one(running, SteadyClock::now() + kStartTimeout);
    if (member.ok()) members.push_back(member.value());
  }
  if (failed) {
    failed->what += " (" + std::to_string(members.size()) + " of " + std::to_string(places.size()) +
                    " daemons started)";
    return *failed;
  }
  return members;
}

Result<std::vector<Place>> read_hosts(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) return Error{ErrorCode::kNotFound, "cannot read the hosts file " + file};
  std::vector<Place> places;
  std::uint32_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const std::vector<std::string> parts = words(line.substr(0, line.find('#')));
    if (parts.empty()) continue;
    Place place{parts.front(), {}};
    unsigned long slots = 1;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const bool is_slots = parts[i].starts_with("slots=");
      const bool is_listen = parts[i].starts_with("listen=");
      if (is_slots) slots = std::strtoul(parts[i].c_str() + 6, nullptr, 10);
      if (is_listen) place.listen = parts[i].substr(7);
      if ((!is_slots && !is_listen) || slots == 0 || slots > 1024) {
        return Error{ErrorCode::kBadInput, file + ":" + std::to_string(number) + ": '" + parts[i] +
                                               "'; a line is HOST [slots=N] [listen=ADDRESS]"};
      }
    }
    for (unsigned long i = 0; i < slots; ++i) places.push_back(place);
  }
  if (places.empty()) return Error{ErrorCode::kBadInput, file + " names no host"};
  return places;
}

}  // namespace phx::app
