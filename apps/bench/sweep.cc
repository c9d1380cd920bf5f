#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "apps/bench/workloads.h"

namespace bench {
namespace {

constexpr int kUncounted = 2;
constexpr int kClockTrips = 5;
constexpr phx::Tag kClock = 1;

/// What tells clocks apart: machines, and the namespaces of containers that have a clock of their
/// own. Two may share it by chance, which has never been seen.
std::uint64_t clock_number() {
  std::ifstream stream("/proc/sys/kernel/random/boot_id");
  std::string text;
  stream >> text;
  std::error_code unknown;
  text += std::filesystem::read_symlink("/proc/self/ns/time", unknown).string();
  return std::hash<std::string>()(text);
}

/// The clock of vnode 0's machine. On one machine all have it; else it is asked for, and wrong by
/// half of what the two ways of the shortest of some round trips differ.
class CommonClock {
 public:
  CommonClock(phx::Session& job, phx::Vnode mine) {
    const std::uint64_t number = clock_number();
    if (job.allreduce(phx::min, number) == job.allreduce(phx::max, number)) return;
    if (mine == 0) {
      for (phx::Vnode v = 1; v < job.vnodes(); ++v) answer(job, v);
    } else {
      ask(job, mine);
    }
  }
  [[nodiscard]] double now_s() const { return clock_s() + ahead_s_; }

 private:
  static void answer(phx::Session& job, phx::Vnode asker) {
    for (int i = 0; i < kClockTrips; ++i) {
      static_cast<void>(job.recv({.at = 0, .from = asker, .tag = kClock}));
      job.send(0, asker, clock_s(), kClock);
    }
  }
  void ask(phx::Session& job, phx::Vnode mine) {
    double shortest = 1e9;
    for (int i = 0; i < kClockTrips; ++i) {
      const double begin = clock_s();
      job.send(mine, 0, begin, kClock);
      const auto theirs = job.recv<double>({.at = mine, .from = 0, .tag = kClock});
      const double end = clock_s();
      if (end - begin >= shortest) continue;
      shortest = end - begin;
      ahead_s_ = theirs - (begin + end) / 2;
    }
  }

  double ahead_s_ = 0;
};

/// One process's part of the operations, each begun at a time that all have agreed on.
class Sweep {
 public:
  Sweep(phx::Session& job, const SweepOptions& options, phx::Vnode mine)
      : job_(job), options_(options), mine_(mine), clock_(job, mine) {}

  /// From the beginning until the last of those who get the result have it.
  [[nodiscard]] double time_one(std::uint64_t bytes, phx::Vnode root, bool ordered) {
    const phx::Payload block = phx::encode(phx::Bytes(mine_ == root ? bytes : 0, std::byte{7}));
    const bool is_reduced = options_.operation != "bcast";
    const bool is_whole = bytes % sizeof(double) == 0;
    const std::vector<double> numbers(is_reduced && is_whole ? bytes / sizeof(double) : 0, 1.0);
    const std::vector<std::uint8_t> small(is_reduced && !is_whole ? bytes : 0, 1);
    job_.barrier();
    const double begin = job_.allreduce(phx::max, clock_.now_s()) + options_.pause_s;
    const bool waits = is_reduced || mine_ == root;
    if (waits) sleep_until(begin);
    bool gets = true;
    if (!is_reduced) {
      const auto got = job_.broadcast(root, [&] { return block; });
      check(got.size() == bytes && (got.empty() || got.bytes().back() == std::byte{7}));
    } else {
      const auto sum = [&](const auto& values) {
        return ordered ? reduce(values, root, phx::ordered(phx::sum))
                       : reduce(values, root, phx::sum);
      };
      gets = is_whole ? sum(numbers) : sum(small);
    }
    const double end = gets ? clock_.now_s() : 0;
    return job_.allreduce(phx::max, end) - begin;
  }

 private:
  static void check(bool is_right) {
    if (!is_right) throw std::runtime_error("a result is wrong");
  }
  void sleep_until(double when) const {
    const double wait = when - clock_.now_s();
    if (wait > 0) std::this_thread::sleep_for(std::chrono::duration<double>(wait));
  }
  /// Whether the result is for this process.
  template <class T, class Op>
  bool reduce(const std::vector<T>& values, phx::Vnode root, Op op) {
    const T sum = static_cast<T>(job_.vnodes());
    if (options_.operation == "allreduce") {
      const std::vector<T> got = job_.allreduce(op, values);
      check(got.size() == values.size() && (got.empty() || got.back() == sum));
      return true;
    }
    const auto got = job_.reduce(root, op, values);
    check(!got || (got->size() == values.size() && (got->empty() || got->back() == sum)));
    return got.has_value();
  }

  phx::Session& job_;
  const SweepOptions& options_;
  phx::Vnode mine_;
  CommonClock clock_;
};

}  // namespace

void sweep(phx::Session& job, const SweepOptions& options) {
  if (!job.safe_point()) return;
  const auto held = job.held();
  const bool is_alone = held.size() == 1;
  if (job.allreduce(phx::logical_and, static_cast<std::uint8_t>(is_alone)) == 0) {
    throw std::runtime_error("each process needs one vnode of its own");
  }
  Sweep sweep(job, options, held.front());
  for (const phx::Vnode root : options.roots) {
    if (root >= job.vnodes()) throw std::runtime_error("there is no v" + std::to_string(root));
    for (const std::uint64_t bytes : options.bytes) {
      const std::string name =
          options.operation + "/" + std::to_string(bytes) + "/" + std::to_string(root);
      for (int round = -kUncounted; round < options.rounds; ++round) {
        const double time = sweep.time_one(bytes, root, false);
        const double ordered = options.ordered ? sweep.time_one(bytes, root, true) : 0;
        if (round < 0 || !job.holds(0)) continue;
        say(name, time);
        if (options.ordered) say(name + "/ordered", ordered);
      }
    }
  }
}

}  // namespace bench
