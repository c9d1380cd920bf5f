#include "apps/phoenix/mpi/ranks.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <utility>

#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/mesh/private_mesh.h"
#include "apps/phoenix/mpi/guard.h"
#include "apps/phoenix/mpi/mpi_waits.h"
#include "apps/phoenix/mpi/streams.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/tcp/library_path.h"
#include "runtime/tcp/memory_kills.h"
#include "runtime/tcp/open_files.h"
#include "runtime/tcp/steady_now.h"

namespace phx::app {
namespace {

using tcp::Descriptor;
using SteadyClock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kMercy = 300ms;  ///< between SIGTERM and SIGKILL
constexpr std::array kStreams{STDOUT_FILENO, STDERR_FILENO};
constexpr auto kStates = 2s;  ///< Between two looks at the states of processes, while some wait

struct Started {
  pid_t process = 0;       ///< 0: it has ended
  bool has_begun = false;  ///< has called MPI_Init, which may still wait for others
  pid_t program = 0;       ///< The process that has called MPI_Init; a child, if a script began
  bool is_inside = false;  ///< between MPI_Init and MPI_Finalize
  bool is_done = false;    ///< has called MPI_Finalize
  Lines control;
  std::array<Lines, 2> outputs;
};

/// `kills`: tcp::memory_kills() before it began.
std::string words_of_end(int status, std::uint64_t kills) {
  if (WIFSIGNALED(status)) {
    const std::string hint = WTERMSIG(status) == SIGKILL ? tcp::memory_kill_hint(kills) : "";
    return "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
           ::strsignal(WTERMSIG(status)) + ")" + (hint.empty() ? "" : ": " + hint);
  }
  return "ended with code " + std::to_string(WEXITSTATUS(status));
}

int code_of_end(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// All processor time that it has had; none if it is over.
Duration processor_time_of(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (process <= 0 || ::clock_getcpuclockid(process, &clock) != 0) return {};
  if (::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) +
         std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(time.tv_nsec));
}

/// By a signal, or in a debugger: the letter behind the name, which may have blanks and brackets.
bool is_stopped(pid_t process) {
  if (process <= 0) return false;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos || end_of_name + 2 >= line.size()) return false;
  const char state = line[end_of_name + 2];
  return state == 'T' || state == 't';
}

/// What a rank's process begins with: after fork().
struct Beginning {
  int number;
  int control;
  int near;
  int signals_of_ours;
  std::array<int, 2> outputs;
  sigset_t mask;
};

[[noreturn]] void become(const MpiProcess& spec, const Beginning& beginning, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  // SIGINT and SIGHUP stay as they are: nohup and shells ignore them for what they start.
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &beginning.mask, nullptr);
  if (beginning.number > 0) {
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::close(nothing);
  }
  for (const int stream : {0, 1}) {
    const int output = beginning.outputs[static_cast<std::size_t>(stream)];
    if (output >= 0) ::dup2(output, stream + STDOUT_FILENO);
  }
  for (const int kept : {beginning.control, beginning.near}) ::fcntl(kept, F_SETFD, 0);
  for (const std::string& setting : spec.environment) ::putenv(::strdup(setting.c_str()));
  if (!spec.folder.empty() && ::chdir(spec.folder.c_str()) != 0) {
    std::fprintf(stderr, "phoenix: there is no folder %s\n", spec.folder.c_str());
    ::_exit(kUsage);
  }
  std::vector<char*> words;
  for (const std::string& word : spec.command) words.push_back(::strdup(word.c_str()));
  words.push_back(nullptr);
  tcp::restore_open_files();  // Not sooner: the numbers that it leaves may all be taken.
  ::execvp(words.front(), words.data());
  const int why = errno;
  struct stat found {};
  const bool is_beside = std::strchr(words.front(), '/') == nullptr &&
                         ::stat(words.front(), &found) == 0 && S_ISREG(found.st_mode) &&
                         ::access(words.front(), X_OK) == 0;
  std::fprintf(stderr, "phoenix: cannot start %s: %s%s%s\n", words.front(), std::strerror(why),
               is_beside ? "; here is ./" : "", is_beside ? words.front() : "");
  ::_exit(why == ENOENT ? 127 : 126);
}

class Ranks {
 public:
  /// `mask`: of the processes. REQUIRES that signals are blocked.
  Ranks(const std::vector<MpiProcess>& specs, const MpiOptions& options, std::string key_file,
        const sigset_t& mask)
      : options_(options),
        key_file_(std::move(key_file)),
        mask_(mask),
        ranks_(specs.size()),
        waits_(specs.size()) {
    const sigset_t taken = taken_signals();
    signals_ = Descriptor(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
    if (options.shares_memory) near_ = Descriptor(::memfd_create("phoenix-mpi", MFD_CLOEXEC));
    if (options.timeout_s > 0) {
      time_is_up_at_ = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                                std::chrono::duration<double>(options.timeout_s));
    }
    for (std::size_t i = 0; i < specs.size(); ++i) start(i, specs[i]);
  }

  int run() {
    while (living_ > 0) turn();
    signal_children(SIGKILL);
    while (::waitpid(-1, nullptr, 0) > 0) signal_children(SIGKILL);  // what ranks have left behind
    for (std::size_t i = 0; i < ranks_.size(); ++i) take_output(i);
    show_rest();
    const bool is_ours = std::ranges::any_of(ranks_, [](const Started& r) { return r.has_begun; });
    const bool has_failed = options_.is_of_other_mpi && !is_ours && ranks_.size() > 1;
    return has_failed && code_ == kOk ? kFailed : code_;
  }

 private:
  void start(std::size_t i, const MpiProcess& wanted) {
    std::array<int, 2> control{};
    Beginning beginning{static_cast<int>(i), -1, near_.get(), signals_.get(), {-1, -1}, mask_};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control.data()) != 0)
      return fail_to(i);
    // Its end may be held by what the rank has started, when the rank has ended.
    ::fcntl(control[0], F_SETFL, O_NONBLOCK);
    Started& rank = ranks_[i];
    rank.control = Lines(Descriptor(control[0]));
    const Descriptor theirs(control[1]);
    beginning.control = theirs.get();
    std::array<Descriptor, 2> ends;
    for (std::size_t stream = 0; options_.tags_output && stream < 2; ++stream) {
      std::array<int, 2> pipe{};
      if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return fail_to(i);
      rank.outputs[stream] = Lines(Descriptor(pipe[0]));
      ends[stream] = Descriptor(pipe[1]);
      beginning.outputs[stream] = pipe[1];
    }
    MpiProcess spec = wanted;
    for (const std::string& one :
         {"PHOENIX_MPI_RANK=" + std::to_string(i),
          "PHOENIX_MPI_SIZE=" + std::to_string(ranks_.size()),
          "PHOENIX_MPI_CONTROL=" + std::to_string(theirs.get()),
          "PHOENIX_MPI_NEAR=" + std::to_string(near_.get()), "PHOENIX_KEY_FILE=" + key_file_}) {
      spec.environment.push_back(one);
    }
    if (!mpi_folder_.empty()) {
      spec.environment.push_back(tcp::library_path(mpi_folder_, spec.environment));
    }
    const pid_t parent = ::getpid();
    rank.process = ::fork();
    if (rank.process == 0) become(spec, beginning, parent);
    if (rank.process < 0) return fail_to(i);
    ++living_;
  }

  void fail_to(std::size_t i) {
    ranks_[i].process = 0;
    end("rank " + std::to_string(i) + " cannot be started: " + std::strerror(errno), kFailed);
  }

  void say(const std::string& what) { shown_.add(STDERR_FILENO, "phoenix: " + what + "\n"); }

  /// The job ends for this reason, unless it does already.
  void end(const std::string& why, int code) {
    if (std::exchange(is_ending_, true)) return;
    code_ = code;
    say(why);
    if (living_ > 0) signal_children(SIGTERM);
    give_up_at_ = SteadyClock::now() + kMercy;
  }

  /// The same, wanted from outside: who reads the output is not waited for any more either.
  void break_off(const std::string& why, int code) {
    if (std::exchange(is_broken_off_, true)) return;
    const bool tells_waits = !is_ending_ && living_ > 0;
    if (tells_waits) look_at_states(tcp::steady_now());
    end(why, code);
    if (tells_waits) shown_.add(STDERR_FILENO, waits_.said());
    give_up_at_ = SteadyClock::now() + kMercy;
  }

  void turn() {
    // Three for each rank, and the last ones. What is negative is not waited for.
    std::vector<pollfd> waiting;
    for (const Started& rank : ranks_) {
      waiting.push_back({rank.control.descriptor(), POLLIN, 0});
      for (std::size_t stream = 0; stream < 2; ++stream) {
        const bool is_full = shown_.is_full(kStreams[stream]);
        waiting.push_back({is_full ? -1 : rank.outputs[stream].descriptor(), POLLIN, 0});
      }
    }
    wait(waiting);
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const auto ready = std::span(waiting).subspan(3 * i, 3);
      if (ready[0].revents != 0) {
        ranks_[i].control.take([&](const std::string& line) { hear(i, line); });
      }
      for (std::size_t stream = 0; stream < 2; ++stream) {
        if (ready[1 + stream].revents != 0) take_output(i, stream);
      }
    }
    look_outside();
    tell_standstill();
    if (!give_up_at_ || SteadyClock::now() < *give_up_at_) return;
    signal_children(SIGKILL);
    give_up_at_ = SteadyClock::now() + kMercy;
  }

  /// For something of `sources`, for room for what is to be shown, for signals or a time.
  void wait(std::vector<pollfd>& sources) {
    for (const int stream : kStreams) sources.push_back(shown_.room(stream));
    sources.push_back({signals_.get(), POLLIN, 0});
    ::poll(sources.data(), sources.size(), patience_ms());
    shown_.write();
  }

  void look_outside() {
    if (options_.tags_output && shown_.is_unread()) {
      end("nobody reads the job's output any more; ending the job", kUnread);
    }
    take_signals();
    if (!time_is_up_at_ || SteadyClock::now() < *time_is_up_at_) return;
    time_is_up_at_.reset();
    break_off("the time is up", kTimedOut);
  }

  /// All have ended, and somebody may still read what they have printed.
  void show_rest() {
    look_outside();
    if (!is_broken_off_) give_up_at_.reset();
    while (!shown_.is_empty() && !(give_up_at_ && SteadyClock::now() >= *give_up_at_)) {
      std::vector<pollfd> none;
      wait(none);
      look_outside();
    }
    if (shown_.loss().empty()) return;
    say("some of the output is lost: " + shown_.loss());
    if (code_ == kOk) code_ = kFailed;
  }

  void tell_standstill() {
    const Instant now = tcp::steady_now();
    if (is_ending_) return;
    if (now >= states_due_) look_at_states(now);
    if (now < waits_.due().value_or(Instant::max())) return;
    std::vector<Duration> used;
    for (const Started& rank : ranks_) used.push_back(processor_time_of(rank.program));
    const std::string said = waits_.look(now, used);
    if (said.empty()) return;
    const auto most = std::chrono::duration_cast<std::chrono::seconds>(MpiWaits::kStandstill);
    say("nothing has happened for " + std::to_string(most.count()) + " s:");
    shown_.add(STDERR_FILENO, said);
  }

  void look_at_states(Instant now) {
    states_due_ = now + kStates;
    for (const std::size_t i : waits_.looked_at()) {
      waits_.on_state(i, is_stopped(ranks_[i].program), now);
    }
  }

  [[nodiscard]] int patience_ms() const {
    using std::chrono::milliseconds;
    constexpr milliseconds kMost = 60s;
    milliseconds left = kMost;
    for (const auto& at : {time_is_up_at_, give_up_at_}) {
      if (at) left = std::min(left, std::chrono::ceil<milliseconds>(*at - SteadyClock::now()));
    }
    if (const auto due = waits_.due(); due && !is_ending_) {
      left = std::min(left, std::chrono::ceil<milliseconds>(*due - tcp::steady_now()));
    }
    if (!is_ending_ && !waits_.looked_at().empty()) {
      left = std::min(left, std::chrono::ceil<milliseconds>(states_due_ - tcp::steady_now()));
    }
    return static_cast<int>(std::clamp<milliseconds>(left, 0ms, kMost).count());
  }

  void take_signals() {
    signalfd_siginfo signal{};
    while (::read(signals_.get(), &signal, sizeof(signal)) == sizeof(signal)) {
      if (signal.ssi_signo == SIGCHLD) continue;
      if (signal.ssi_signo == SIGUSR1 || signal.ssi_signo == SIGUSR2) {
        pass_on(static_cast<int>(signal.ssi_signo));
        continue;
      }
      break_off("interrupted", 128 + static_cast<int>(signal.ssi_signo));
    }
    int status = 0;
    for (pid_t process = 0; (process = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = std::find_if(ranks_.begin(), ranks_.end(),
                                      [&](const Started& rank) { return rank.process == process; });
      if (found == ranks_.end()) continue;
      const auto i = static_cast<std::size_t>(found - ranks_.begin());
      found->control.take([&](const std::string& line) { hear(i, line); });
      found->process = 0;
      --living_;
      waits_.on_ended(i, tcp::steady_now());
      if (status == 0) end_without_some();
      if (i == 0 && endpoint_.empty()) tell_others("");
      if (status == 0 && found->is_inside) {
        end("rank " + std::to_string(i) + " ended without MPI_Finalize", kFailed);
      }
      if (status == 0 || is_ending_) continue;  // We ended it, and have said why.
      if (found->is_done) {  // The others do not need it any more, and may still write results.
        say("rank " + std::to_string(i) + " " + words_of_end(status, memory_kills_) +
            ", in or after MPI_Finalize");
        if (code_ == kOk) code_ = code_of_end(status);
        continue;
      }
      end("rank " + std::to_string(i) + " (process " + std::to_string(process) + ") " +
              words_of_end(status, memory_kills_) + "; all others are ended",
          code_of_end(status));
    }
  }

  void pass_on(int signal) const {
    for (const Started& rank : ranks_) {
      if (rank.process > 0) ::kill(rank.process, signal);
    }
  }

  /// Who has ended well and not called MPI_Init will never be there for those that have. If none
  /// calls it, this is no MPI program, which is no error.
  void end_without_some() {
    const auto has_begun = [](const Started& rank) { return rank.has_begun; };
    const auto is_missing = [](const Started& rank) {
      return rank.process == 0 && !rank.has_begun;
    };
    const auto missing = std::ranges::find_if(ranks_, is_missing);
    if (missing == ranks_.end() || std::ranges::none_of(ranks_, has_begun)) return;
    end("rank " + std::to_string(missing - ranks_.begin()) +
            " ended with exit code 0 without having called MPI_Init, as others of the job have",
        kFailed);
  }

  /// A line of a rank's library.
  void hear(std::size_t i, const std::string& line) {
    const Instant now = tcp::steady_now();
    if (line.starts_with("waits ")) return waits_.on_waits(i, line.substr(6), now);
    if (line.starts_with("goes on ")) return waits_.on_goes_on(i, line.substr(8), now);
    if (line == "begins") {
      ranks_[i].has_begun = true;
      return end_without_some();
    }
    if (line.starts_with("at ")) {
      endpoint_ = line.substr(3);
      tell_others(endpoint_ + "\n");
    } else if (line.starts_with("begun ")) {
      ranks_[i].is_inside = true;
      ranks_[i].program = static_cast<pid_t>(std::atoi(line.c_str() + 6));
      waits_.on_begun(i, now);
    } else if (line == "ended") {
      ranks_[i].is_inside = false;
      ranks_[i].is_done = true;
      waits_.on_finalizes(i, now);
      if (++ended_ < ranks_.size()) return;
      for (const Started& rank : ranks_) tell(rank, "over\n");
    } else if (line.starts_with("abort ")) {
      const std::size_t end_of_code = line.find(' ', 6);
      const std::string text = end_of_code == std::string::npos ? "" : line.substr(end_of_code + 1);
      end("rank " + std::to_string(i) + " aborted the job: " + text, std::atoi(line.c_str() + 6));
    }
  }

  /// Nothing: rank 0 will never be there.
  void tell_others(const std::string& line) {
    for (std::size_t i = 1; i < ranks_.size(); ++i) {
      tell(ranks_[i], line);
    }
  }
  static void tell(const Started& rank, const std::string& line) {
    const int control = rank.control.descriptor();
    if (control < 0) return;
    if (line.empty()) {
      ::shutdown(control, SHUT_WR);
    } else {
      static_cast<void>(::send(control, line.data(), line.size(), MSG_NOSIGNAL));
    }
  }

  void take_output(std::size_t i, std::size_t stream) {
    ranks_[i].outputs[stream].take([&](const std::string& line) {
      shown_.add(kStreams[stream], "[" + std::to_string(i) + "] " + line + "\n");
    });
  }
  void take_output(std::size_t i) {
    for (std::size_t stream = 0; stream < 2; ++stream) {
      while (ranks_[i].outputs[stream].descriptor() >= 0) take_output(i, stream);
    }
  }

  MpiOptions options_;
  std::string key_file_;
  sigset_t mask_;
  const std::string mpi_folder_ = tcp::mpi_folder();
  Descriptor signals_;
  Descriptor near_;  ///< memory for all ranks; none: they do without
  std::vector<Started> ranks_;
  const std::uint64_t memory_kills_ = tcp::memory_kills();  ///< Before they began.
  MpiWaits waits_;
  Instant states_due_{};
  std::size_t living_ = 0;
  std::size_t ended_ = 0;  ///< have called MPI_Finalize
  std::string endpoint_;   ///< of rank 0, once it is known
  bool is_ending_ = false;
  bool is_broken_off_ = false;
  int code_ = kOk;
  Shown shown_;
  std::optional<SteadyClock::time_point> time_is_up_at_;
  std::optional<SteadyClock::time_point> give_up_at_;  ///< What is left then is ended.
};

}  // namespace

int run_ranks(const std::vector<MpiProcess>& ranks, const MpiOptions& options) {
  tcp::raise_open_files();  // One for each rank, and with `-l` two more.
  remove_abandoned();
  const auto own = PrivateMesh::make(PrivateMesh::Use::kRanks);
  if (!own.ok()) return fail(own.error().what, kUsage);
  const MeshDir& dir = own.value().dir();
  const Status key = dir.make_key();
  if (!key.ok()) {
    dir.remove();
    return fail(key.error().what, kUsage);
  }
  sigset_t mask;
  const sigset_t taken = taken_signals();
  ::sigprocmask(SIG_BLOCK, &taken, &mask);
  if (const auto code = work_under_guard(); code) {
    dir.remove();
    return *code;
  }
  ::signal(SIGPIPE, SIG_IGN);  // of the lines with ranks in front: a write says it
  const int code = Ranks(ranks, options, dir.key_file(), mask).run();
  dir.remove();
  return code;
}

}  // namespace phx::app
