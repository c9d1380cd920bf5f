#include <cstddef>
#include <filesystem>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

#include "apps/bench/workloads.h"

namespace bench {
namespace {

constexpr phx::Tag kAck = 1;
constexpr phx::Tag kGo = 2;
constexpr int kWayTrips = 5;     ///< Of which the shortest counts.
constexpr int kBroadcasts = 50;  ///< At least so many, as in the source.
constexpr int kAckSamples = 9;   ///< Reductions to each root, of which the middle one counts.

/// What acknowledged broadcasts took, in seconds.
struct Acknowledged {
  std::vector<double> times;  ///< Without the reduction's own time.
  std::vector<double> noise;  ///< Of that time, of each root.
};

/// One process's part of broadcasts from each vnode in turn, in some order.
class Round {
 public:
  Round(phx::Session& job, std::uint64_t bytes, std::vector<phx::Vnode> roots)
      : job_(job), block_(bytes, std::byte{7}), roots_(std::move(roots)) {}

  /// As in the source: nobody waits between broadcasts, and the longest of all times counts. Per
  /// broadcast.
  [[nodiscard]] double time_overlapping(int rounds) {
    job_.barrier();
    const double begin = clock_s();
    for (int round = 0; round < rounds; ++round) {
      for (const phx::Vnode root : roots_) broadcast(root);
    }
    const double took = job_.allreduce(phx::max, clock_s() - begin);
    return took / static_cast<double>(rounds) / static_cast<double>(roots_.size());
  }

  /// V2: until the root has heard by a reduction that all have it, without the reduction's own
  /// time; then the next root may begin. Of each broadcast, at its root. Below the noise such a
  /// time says nothing; it may be negative.
  [[nodiscard]] Acknowledged time_acknowledged(int rounds) {
    Acknowledged all;
    for (const phx::Vnode root : roots_) {
      const double ack = time_ack(root, all.noise);
      for (int round = 0; round < rounds; ++round) {
        take_turn(root);
        const double begin = clock_s();
        broadcast(root);
        if (acknowledge(root)) all.times.push_back(clock_s() - begin - ack);
      }
    }
    return all;
  }

  /// V3: of each receiver alone, without half of a round trip to it: the median of so many. Of each
  /// root the longest one, at the root [Supinski99].
  [[nodiscard]] std::vector<double> time_receivers(int rounds) {
    std::vector<double> times;
    for (const phx::Vnode root : roots_) {
      double longest = 0;
      for (phx::Vnode v = 0; v < job_.vnodes(); ++v) {
        if (v == root) continue;
        const double way = time_way(root, v);
        std::vector<double> all;
        for (int round = 0; round < rounds; ++round) all.push_back(time_one(root, v));
        longest = std::max(longest, median(all) - way);
      }
      if (job_.holds(root)) times.push_back(longest);
    }
    return times;
  }

 private:
  void broadcast(phx::Vnode root) {
    const auto got = job_.broadcast(root, [&] { return block_; });
    const bool is_right =
        got.size() == block_.size() && (got.empty() || got.back() == block_.back());
    if (!is_right) throw std::runtime_error("a broadcast is wrong");
  }
  bool acknowledge(phx::Vnode root) {
    const auto count = job_.reduce(root, phx::sum, std::uint64_t{1});
    if (count && *count != job_.vnodes()) throw std::runtime_error("a reduction is wrong");
    return count.has_value();
  }
  /// Until the root has heard of `v` alone.
  [[nodiscard]] double time_one(phx::Vnode root, phx::Vnode v) {
    take_turn(root);
    const double begin = clock_s();
    broadcast(root);
    if (job_.holds(v)) job_.send(v, root, std::byte{}, kAck);
    if (job_.holds(root)) static_cast<void>(job_.recv({.at = root, .from = v, .tag = kAck}));
    return clock_s() - begin;
  }
  /// The time of a reduction, at the root; elsewhere 0. The noise: by how much the middle half of
  /// several differ.
  [[nodiscard]] double time_ack(phx::Vnode root, std::vector<double>& noise) {
    std::vector<double> times;
    for (int i = 0; i < kAckSamples; ++i) {
      job_.barrier();
      const double begin = clock_s();
      if (acknowledge(root)) times.push_back(clock_s() - begin);
    }
    if (times.empty()) return 0;
    std::sort(times.begin(), times.end());
    noise.push_back(times[times.size() - 1 - times.size() / 4] - times[times.size() / 4]);
    return median(times);
  }
  /// Half of the shortest round trip, at the root; elsewhere 0.
  [[nodiscard]] double time_way(phx::Vnode root, phx::Vnode v) {
    double shortest = 1e9;
    for (int i = 0; i < kWayTrips; ++i) {
      const double begin = clock_s();
      if (job_.holds(root)) job_.send(root, v, std::byte{}, kAck);
      if (job_.holds(v)) {
        static_cast<void>(job_.recv({.at = v, .from = root, .tag = kAck}));
        job_.send(v, root, std::byte{}, kAck);
      }
      if (!job_.holds(root)) continue;
      static_cast<void>(job_.recv({.at = root, .from = v, .tag = kAck}));
      shortest = std::min(shortest, clock_s() - begin);
    }
    return job_.holds(root) ? shortest / 2 : 0;
  }
  /// The root of the last broadcast tells the next one that it is over; all others wait for that
  /// one's broadcast anyway.
  void take_turn(phx::Vnode root) {
    if (last_ && *last_ != root) {
      if (job_.holds(*last_)) job_.send(*last_, root, std::byte{}, kGo);
      if (job_.holds(root)) {
        static_cast<void>(job_.recv({.at = root, .from = *last_, .tag = kGo}));
      }
    }
    last_ = root;
  }

  phx::Session& job_;
  std::vector<std::byte> block_;
  std::vector<phx::Vnode> roots_;
  std::optional<phx::Vnode> last_;
};

std::vector<phx::Vnode> roots_of(const phx::Session& job, std::optional<std::uint64_t> seed) {
  std::vector<phx::Vnode> roots(job.vnodes());
  std::iota(roots.begin(), roots.end(), phx::Vnode{0});
  if (!seed) return roots;
  std::mt19937_64 random(*seed);  // the same order everywhere
  for (std::size_t i = roots.size(); i > 1; --i) std::swap(roots[i - 1], roots[random() % i]);
  return roots;
}

void say_all(const std::string& name, const std::vector<double>& times) {
  for (const double time : times) say(name, time);
}

void say_acknowledged(const std::string& name, const Acknowledged& all) {
  say_all("v2/" + name, all.times);
  say_all("noise/" + name, all.noise);
}

void measure(phx::Session& job, const RoundOptions& options, const std::string& name,
             const std::vector<phx::Vnode>& roots) {
  Round round(job, options.bytes, roots);
  static_cast<void>(round.time_overlapping(1));  // makes connections
  const auto vnodes = static_cast<int>(job.vnodes());
  const int rounds = options.rounds > 0 ? options.rounds : (kBroadcasts + vnodes - 1) / vnodes;
  const double overlapping = round.time_overlapping(rounds);
  if (job.holds(0)) say("br/" + name, overlapping);
  say_acknowledged(name, round.time_acknowledged(rounds));
  if (options.has_receivers) say_all("v3/" + name, round.time_receivers(rounds));
}

/// Rounds of both kinds between safe points, until there is a file: vnodes come and go.
void measure_moving(phx::Session& job, const RoundOptions& options) {
  while (job.safe_point()) {
    Round round(job, options.bytes, roots_of(job, std::nullopt));
    const double overlapping = round.time_overlapping(1);
    if (job.holds(0)) say("br/moving", overlapping);
    say_acknowledged("moving", round.time_acknowledged(1));
    const bool is_enough = job.broadcast(0, [&] { return std::filesystem::exists(options.until); });
    if (is_enough) return;
  }
}

}  // namespace

void round(phx::Session& job, const RoundOptions& options) {
  if (!options.until.empty()) return measure_moving(job, options);
  if (!job.safe_point()) return;
  measure(job, options, "in-turn", roots_of(job, std::nullopt));
  measure(job, options, "at-random", roots_of(job, options.seed));
}

}  // namespace bench
