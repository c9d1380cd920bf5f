#include "apps/phoenix/mesh/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/starting.h"
#include "apps/phoenix/mesh/waiting.h"
#include "runtime/tcp/address.h"

namespace phx::app {
namespace fs = std::filesystem;
namespace {

constexpr unsigned long kSlotsMost = 1024;  // Of a machine.
using SteadyClock = std::chrono::steady_clock;
constexpr auto kStartTimeout = std::chrono::seconds(30);
constexpr auto kLastWordTimeout = std::chrono::seconds(5);
constexpr int kLookEveryMs = 200;  // For an interrupt that came between two waits.

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

bool is_digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// How many this says; 0: it is no number of slots that a machine may have.
unsigned long slots_in(const std::string& text) {
  constexpr std::size_t kDigitsMost = 4;
  if (!is_digits(text) || text.size() > kDigitsMost) return 0;
  const unsigned long slots = std::stoul(text);
  return slots > kSlotsMost ? 0 : slots;
}

/// `word` so that a remote shell takes it as one word.
std::string quoted(const std::string& word) {
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// The command that starts a daemon at `place`, as argv.
std::vector<std::string> command_for(const MeshDir& dir, const Place& place,
                                     const std::vector<std::string>& join,
                                     const LaunchOptions& options) {
  const bool here = place.host.empty();
  std::vector<std::string> daemon = {
      here || options.remote_daemon.empty() ? program_path("phoenixd") : options.remote_daemon};
  if (options.binds) {
    daemon.insert(daemon.end(),
                  {"--bind", std::to_string(place.slot) + "/" + std::to_string(place.slots)});
  }
  for (const std::string& option : options.daemon_options) daemon.push_back(option);
  if (here) {
    daemon.insert(daemon.end(), {"--mesh-dir", dir.path(), "--key", dir.key_file()});
    if (options.lifeline >= 0) {
      daemon.insert(daemon.end(), {"--end-with", std::to_string(options.lifeline)});
    }
  } else {
    daemon.insert(daemon.end(), {"--mesh", dir.name(), "--key", "-", "--name", place.host});
  }
  const std::string anywhere = here ? "127.0.0.1:0" : "0.0.0.0:0";
  daemon.insert(daemon.end(), {"--listen", place.listen.empty() ? anywhere : place.listen});
  daemon.push_back("--detach");
  for (const std::string& endpoint : join) daemon.insert(daemon.end(), {"--join", endpoint});
  if (here) return daemon;
  std::vector<std::string> command = {"/bin/sh", "-c"};
  if (!options.remote_shell.empty() || !is_this_machine(place.host)) {
    command = words(options.remote_shell.empty() ? kSsh : options.remote_shell);
    command.push_back(place.host);
  }
  std::string line;
  for (const std::string& word : daemon) line += (line.empty() ? "" : " ") + quoted(word);
  command.push_back(line);
  return command;
}

/// Those that are being started together, and what has become of the others.
class Launch {
 public:
  Launch(const MeshDir& dir, const LaunchOptions& options) : dir_(dir), options_(options) {}

  [[nodiscard]] std::size_t running() const { return running_.size(); }
  [[nodiscard]] bool has_failed() const { return failed_.has_value(); }
  [[nodiscard]] std::vector<Launched>& members() { return members_; }

  void start(const Place& place, const std::vector<std::string>& join);
  /// Until one has become a member, or anything has gone wrong.
  void wait_for_one();
  /// What has gone wrong, all of it. REQUIRES has_failed().
  [[nodiscard]] Error error(std::size_t wanted) const;

 private:
  /// Of many daemons the same is said once.
  struct Said {
    std::string what;
    std::size_t times = 0;
  };

  void fail(const Error& error);
  void take(std::size_t at);
  void give_up(const Error& why);

  const MeshDir& dir_;
  const LaunchOptions& options_;
  std::vector<Starting> running_;
  std::vector<Launched> members_;
  std::optional<ErrorCode> failed_;  ///< The first.
  std::vector<Said> said_;
};

void Launch::fail(const Error& error) {
  if (!failed_) failed_ = error.code;
  const auto same = std::ranges::find(said_, error.what, &Said::what);
  if (same == said_.end()) {
    said_.push_back({error.what, 1});
  } else {
    ++same->times;
  }
}

void Launch::start(const Place& place, const std::vector<std::string>& join) {
  const bool here = place.host.empty();
  Result<Starting> one =
      Starting::start(place, command_for(dir_, place, join, options_),
                      here ? "/dev/null" : dir_.key_file(), here ? options_.lifeline : -1);
  if (!one.ok()) return fail(one.error());
  running_.push_back(std::move(one).value());
}

/// None of those that are being started is wanted any more.
void Launch::give_up(const Error& why) {
  fail(why);
  for (const Starting& one : running_) one.ask_to_end();
  const auto deadline = SteadyClock::now() + kLastWordTimeout;
  for (Starting& one : running_) {
    Launched launched;
    const Starting::Last last = one.await_end(deadline, launched);
    if (last == Starting::Last::kMember) members_.push_back(std::move(launched));
    if (last == Starting::Last::kNeither) fail({why.code, one.name() + " has not ended"});
  }
  running_.clear();
}

void Launch::take(std::size_t at) {
  Launched launched;
  const Result<bool> heard = running_[at].hear(launched);
  if (heard.ok() && !heard.value()) return;
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
  if (!heard.ok()) return fail(heard.error());
  members_.push_back(std::move(launched));
}

void Launch::wait_for_one() {
  const std::size_t before = running_.size();
  const auto deadline = SteadyClock::now() + kStartTimeout;
  Waiting waiting(kStartTimeout);
  while (running_.size() == before) {
    std::string names = running_.front().name();
    if (before > 1) names += " and " + std::to_string(before - 1) + " more";
    if (Interrupts::take() != 0) return give_up({ErrorCode::kAborted, "interrupted"});
    if (SteadyClock::now() >= deadline) {
      return give_up(
          {ErrorCode::kTimeout, "within " + std::to_string(kStartTimeout.count()) + " s " + names +
                                    " did not become a member; can it reach the others?"});
    }
    waiting.look(names + " to become a member");
    std::vector<pollfd> polled;
    polled.reserve(running_.size());
    for (const Starting& one : running_) polled.push_back({one.descriptor(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), kLookEveryMs) <= 0) continue;
    const auto ready = std::find_if(polled.begin(), polled.end(),
                                    [](const pollfd& one) { return one.revents != 0; });
    take(static_cast<std::size_t>(ready - polled.begin()));
  }
}

Error Launch::error(std::size_t wanted) const {
  Error error{*failed_, ""};
  for (const auto& [what, times] : said_) {
    error.what += (error.what.empty() ? "" : "; ") + what +
                  (times > 1 ? " (" + std::to_string(times) + " times)" : "");
  }
  error.what +=
      " (" + std::to_string(members_.size()) + " of " + std::to_string(wanted) + " daemons started";
  for (const Launched& one : members_)
    error.what += (&one == &members_.front() ? ": p" : " p") + std::to_string(one.id);
  error.what += ")";
  return error;
}

/// What is told next stands in a line of its own.
void clear_progress() {
  if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K");
}

void show_progress(std::size_t members, std::size_t wanted) {
  if (::isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r%zu of %zu daemons started", members, wanted);
  if (members == wanted) clear_progress();
}

}  // namespace

bool is_this_machine(const std::string& host) {
  std::array<char, 256> name{};
  const bool has_name = ::gethostname(name.data(), name.size() - 1) == 0;
  return host.empty() || tcp::is_loopback(host) || (has_name && host == name.data());
}

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
  Launch launch(dir, options);
  for (auto next = places.begin(); next != places.end() || launch.running() > 0;) {
    // The founder must be there before anybody can join it. After a failure nobody is started any
    // more, but those that have been may become members.
    const std::size_t at_once = join.empty() ? 1 : options.at_once;
    while (next != places.end() && launch.running() < at_once && !launch.has_failed()) {
      launch.start(*next++, join);
    }
    if (launch.has_failed()) next = places.end();
    if (launch.running() == 0) continue;
    launch.wait_for_one();
    const std::vector<Launched>& members = launch.members();
    if (join.empty() && !members.empty()) join.push_back(members.front().endpoint);
    if (!options.quiet && !launch.has_failed()) show_progress(members.size(), places.size());
  }
  if (!options.quiet && launch.has_failed()) clear_progress();
  // They answer in any order.
  std::ranges::sort(launch.members(), {}, &Launched::id);
  if (launch.has_failed()) {
    // Else nobody would find those on other machines again.
    std::vector<std::string> endpoints = dir.known_endpoints();
    for (const Launched& one : launch.members()) endpoints.push_back(one.endpoint);
    if (!launch.members().empty()) dir.remember_endpoints(endpoints);
    return launch.error(places.size());
  }
  return std::move(launch.members());
}

int lifeline() {
  // Above the standard ones, which may be closed here, and which daemons use for something else.
  constexpr int kLowest = 10;
  static const int daemons_end = [] {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
    // The daemons get this end; the other one is closed by our death.
    const int theirs = ::fcntl(ends[0], F_DUPFD, kLowest);
    ::close(ends[0]);
    const int ours = ::fcntl(ends[1], F_DUPFD_CLOEXEC, kLowest);
    ::close(ends[1]);
    return ours < 0 ? -1 : theirs;
  }();
  return daemons_end;
}

Result<std::vector<Place>> slots_of(Place place) {
  const std::size_t colon = place.host.find(':');
  const std::string count = colon == std::string::npos ? "" : place.host.substr(colon + 1);
  if (is_digits(count)) {  // else it is an address of IPv6
    const unsigned long slots = slots_in(count);
    if (slots == 0) {
      return Error{ErrorCode::kBadInput, "'" + place.host +
                                             "': HOST:N is a number of daemons, from 1 to 1024; "
                                             "listen=ADDRESS:PORT says the port"};
    }
    place.host.resize(colon);
    place.slots = static_cast<std::uint32_t>(slots);
  }
  std::vector<Place> places;
  for (; place.slot < place.slots; ++place.slot) places.push_back(place);
  return places;
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
    Place place{.host = parts.front(), .listen = {}};
    unsigned long slots = 1;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const bool is_slots = parts[i].starts_with("slots=");
      const bool is_listen = parts[i].starts_with("listen=");
      if (is_slots) slots = slots_in(parts[i].substr(6));
      if (is_listen) place.listen = parts[i].substr(7);
      if ((!is_slots && !is_listen) || slots == 0) {
        return Error{ErrorCode::kBadInput, file + ":" + std::to_string(number) + ": '" + parts[i] +
                                               "'; a line is HOST[:N] [slots=N] [listen=ADDRESS]"};
      }
    }
    place.slots = static_cast<std::uint32_t>(slots);
    const auto of_line = slots_of(std::move(place));
    if (!of_line.ok()) {
      return Error{ErrorCode::kBadInput,
                   file + ":" + std::to_string(number) + ": " + of_line.error().what};
    }
    places.insert(places.end(), of_line.value().begin(), of_line.value().end());
  }
  if (places.empty()) return Error{ErrorCode::kBadInput, file + " names no host"};
  return places;
}

}  // namespace phx::app
