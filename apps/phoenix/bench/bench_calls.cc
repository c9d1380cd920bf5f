#include "apps/phoenix/bench/bench_calls.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "apps/phoenix/bench/bench.h"

namespace phx::app {
namespace fs = std::filesystem;
namespace {

/// Of /proc/PID/stat: "PID (name) state parent ...".
struct Relation {
  std::string name;
  pid_t parent = 0;
};

std::map<pid_t, Relation> all_processes() {
  std::map<pid_t, Relation> processes;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator("/proc", failure)) {
    const auto process = static_cast<pid_t>(std::atol(entry.path().filename().c_str()));
    std::ifstream stream(entry.path() / "stat");
    std::string line;
    if (process <= 0 || !std::getline(stream, line)) continue;
    const auto begin = line.find('(');
    const auto end = line.rfind(')');
    if (begin == std::string::npos || end == std::string::npos || end + 4 >= line.size()) continue;
    processes[process] = {line.substr(begin + 1, end - begin - 1),
                          static_cast<pid_t>(std::atol(line.c_str() + end + 4))};
  }
  return processes;
}

std::vector<pid_t> threads_of(const std::vector<pid_t>& processes) {
  std::vector<pid_t> threads;
  for (const pid_t process : processes) {
    std::error_code failure;
    const fs::path tasks = fs::path("/proc") / std::to_string(process) / "task";
    for (const auto& entry : fs::directory_iterator(tasks, failure)) {
      threads.push_back(static_cast<pid_t>(std::atol(entry.path().filename().c_str())));
    }
  }
  return threads;
}

/// Holds threads as strace does. All on one thread of ours: the system wants it so.
class Tracer {
 public:
  explicit Tracer(const std::vector<pid_t>& threads) {
    for (const pid_t thread : threads) {
      if (::ptrace(PTRACE_SEIZE, thread, nullptr, PTRACE_O_TRACESYSGOOD) != 0) continue;
      held_.push_back(thread);
      ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
    }
    is_complete_ = held_.size() == threads.size() && !threads.empty();
  }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer() {
    for (const pid_t thread : held_) {
      ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
      int status = 0;
      if (::waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status)) continue;
      ::ptrace(PTRACE_DETACH, thread, nullptr, signal_of(status));
    }
  }

  [[nodiscard]] bool is_complete() const { return is_complete_; }

  /// Lets them go on, and counts the calls that were begun since the last time.
  std::uint64_t step() {
    std::uint64_t calls = 0;
    for (const pid_t thread : held_) {
      int status = 0;
      if (::waitpid(thread, &status, __WALL | WNOHANG) != thread || !WIFSTOPPED(status)) continue;
      if (WSTOPSIG(status) == kCallStop) {
        struct __ptrace_syscall_info call {};
        ::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(call), &call);
        if (call.op == PTRACE_SYSCALL_INFO_ENTRY) ++calls;
      }
      ::ptrace(PTRACE_SYSCALL, thread, nullptr, signal_of(status));
    }
    return calls;
  }

 private:
  static constexpr int kCallStop = SIGTRAP | 0x80;
  /// What the thread was stopped by and still has to get; 0: nothing, that was us.
  static long signal_of(int status) {
    const bool is_ours = WSTOPSIG(status) == kCallStop || (status >> 16) != 0;
    return is_ours ? 0 : WSTOPSIG(status);
  }

  std::vector<pid_t> held_;
  bool is_complete_ = false;
};

}  // namespace

std::vector<pid_t> descendants(pid_t ancestor, const char* name) {
  const auto processes = all_processes();
  std::vector<pid_t> found;
  for (const auto& [process, relation] : processes) {
    if (relation.name != name) continue;
    auto at = processes.find(process);
    while (at != processes.end() && at->first != ancestor) at = processes.find(at->second.parent);
    if (at != processes.end()) found.push_back(process);
  }
  return found;
}

std::optional<CallCount> count_calls(const std::vector<pid_t>& processes, double seconds) {
  Tracer tracer(threads_of(processes));
  if (!tracer.is_complete()) return std::nullopt;
  CallCount count;
  count.begin = bench_clock_s();
  for (count.end = count.begin; count.end < count.begin + seconds; count.end = bench_clock_s()) {
    count.calls += tracer.step();
  }
  return count;
}

}  // namespace phx::app
