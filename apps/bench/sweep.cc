#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "apps/bench/plain_tcp.h"
#include "apps/bench/workloads.h"

namespace bench {
namespace {

constexpr int kUncounted = 2;
constexpr int kClockTrips = 5;
constexpr phx::Tag kClock = 1;

/// Tells machines apart, and the namespaces of containers that have a clock, or a loopback, of
/// their own. Two may share it by chance, which has never been seen.
std::uint64_t number_of(const char* space) {
  std::ifstream stream("/proc/sys/kernel/random/boot_id");
  std::string text;
  stream >> text;
  std::error_code unknown;
  text += std::filesystem::read_symlink(space, unknown).string();
  return std::hash<std::string>()(text);
}

/// Whether it is the same for all processes of the job.
bool is_common(phx::Session& job, std::uint64_t number) {
  return job.allreduce(phx::min, number) == job.allreduce(phx::max, number);
}

/// The clock of vnode 0's machine. On one machine all have it; else it is asked for, and wrong by
/// half of what the two ways of the shortest of some round trips differ.
class CommonClock {
 public:
  CommonClock(phx::Session& job, phx::Vnode mine) {
    if (is_common(job, number_of("/proc/self/ns/time"))) return;
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

/// Blocking TCP over loopback from the root to the next vnode, and so on to the last one, which
/// cuts through in pieces: what broadcasts within a machine are compared with.
class PlainChain {
 public:
  PlainChain(phx::Session& job, phx::Vnode mine, phx::Vnode root)
      : place_((mine + job.vnodes() - root) % job.vnodes()), size_(job.vnodes()) {
    const std::uint16_t port = place_ > 0 ? before_.listen() : std::uint16_t{0};
    const auto ports = job.allgather([&](phx::Vnode) { return port; });
    if (place_ + 1 < size_) behind_.connect(ports[(mine + 1) % size_]);
    if (place_ > 0) before_.accept();
  }
  [[nodiscard]] bool is_first() const { return place_ == 0; }
  void pass(std::span<std::byte> bytes) {
    constexpr std::size_t kPiece = std::size_t{256} << 10U;
    for (std::size_t offset = 0; offset < bytes.size(); offset += kPiece) {
      const auto piece = bytes.subspan(offset, std::min(kPiece, bytes.size() - offset));
      if (place_ > 0) before_.read(piece);
      if (place_ + 1 < size_) behind_.write(piece);
    }
  }

 private:
  std::uint64_t place_;
  std::uint64_t size_;
  PlainTcp before_;
  PlainTcp behind_;
};

/// One process's part of the operations, each begun at a time that all have agreed on.
class Sweep {
 public:
  Sweep(phx::Session& job, const SweepOptions& options, phx::Vnode mine)
      : job_(job), options_(options), mine_(mine), clock_(job, mine) {}

  /// From the root's call, or in reductions from the beginning, until the last of those who get the
  /// result have it.
  [[nodiscard]] double time_one(std::uint64_t bytes, phx::Vnode root, bool ordered) {
    const phx::Payload block = phx::encode(phx::Bytes(mine_ == root ? bytes : 0, std::byte{7}));
    const bool is_reduced = options_.operation != "bcast";
    const bool is_whole = bytes % sizeof(double) == 0;
    const std::vector<double> numbers(is_reduced && is_whole ? bytes / sizeof(double) : 0, 1.0);
    const std::vector<std::uint8_t> small(is_reduced && !is_whole ? bytes : 0, 1);
    const double begin = agree_on_begin();
    const bool waits = is_reduced || mine_ == root;
    if (waits) sleep_until(begin);
    const double call = is_reduced ? begin : clock_.now_s();
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
    const double last = job_.allreduce(phx::max, end);
    return last - since(call, is_reduced || mine_ == root);
  }
  /// The same of a plain chain: all but the first one wait for bytes.
  [[nodiscard]] double time_chain(PlainChain& chain, phx::Bytes& block) {
    const double begin = agree_on_begin();
    if (chain.is_first()) sleep_until(begin);
    const double call = clock_.now_s();
    chain.pass(block);
    const double last = job_.allreduce(phx::max, clock_.now_s());
    return last - since(call, chain.is_first());
  }

 private:
  [[nodiscard]] double agree_on_begin() {
    job_.barrier();
    return job_.allreduce(phx::max, clock_.now_s()) + options_.pause_s;
  }
  /// When the one that begins had woken up, which takes some 50 us and is no part of the operation.
  [[nodiscard]] double since(double call, bool begins) {
    return job_.allreduce(phx::max, begins ? call : 0.0);
  }
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
  const bool has_chain = options.operation == "bcast" && job.vnodes() > 1 &&
                         is_common(job, number_of("/proc/self/ns/net"));
  for (const phx::Vnode root : options.roots) {
    if (root >= job.vnodes()) throw std::runtime_error("there is no v" + std::to_string(root));
    std::optional<PlainChain> chain;
    if (has_chain) chain.emplace(job, held.front(), root);
    for (const std::uint64_t bytes : options.bytes) {
      const std::string name =
          options.operation + "/" + std::to_string(bytes) + "/" + std::to_string(root);
      phx::Bytes block(chain ? bytes : 0);
      for (int round = -kUncounted; round < options.rounds; ++round) {
        const double time = sweep.time_one(bytes, root, false);
        const double ordered = options.ordered ? sweep.time_one(bytes, root, true) : 0;
        const double plain = chain ? sweep.time_chain(*chain, block) : 0;
        if (round < 0 || !job.holds(0)) continue;
        say(name, time);
        if (options.ordered) say(name + "/ordered", ordered);
        if (chain) say(name + "/chain", plain);
      }
    }
  }
}

}  // namespace bench
