#include "overlay/planners/pairs/random_clusters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "overlay/base/check.h"
#include "overlay/base/rng.h"

namespace phx::planners {
namespace {

/// Both ends of what is drawn.
struct Range {
  double least;
  double most;
};
constexpr Range kOverheadMs{50, 500};
constexpr Range kEachPair{0.9, 1.1};  ///< Times what was drawn for its clusters.

/// Between processors whose clusters are the same down to a level.
struct Nearness {
  Range latency_ms;
  Range bytes_per_ms;
};
constexpr Nearness kFar{{100, 600}, {50, 500}};
constexpr Nearness kMiddle{{20, 100}, {100, 1000}};
constexpr Nearness kNear{{1, 20}, {500, 5000}};

constexpr std::size_t kClusterSize = 16;
constexpr double kMillisecond = 1e6;  ///< In nanoseconds.

class Draw {
 public:
  Draw(std::size_t size, std::uint64_t seed) : rng_(seed), made_{PairNetwork(size), 0} {
    PHX_CHECK(size > 0);
  }

  RandomNetwork run() {
    const std::size_t size = made_.network.size();
    std::vector<std::size_t> all(size);
    std::iota(all.begin(), all.end(), std::size_t{0});
    made_.network.add_cluster({0, all});
    for (std::size_t i = 0; i < size; ++i) {
      made_.network.set_overhead(i, in_time(logarithmic(kOverheadMs)));
    }
    outer_.resize(size);
    inner_.resize(size);
    const std::size_t parts = std::clamp<std::size_t>((size + 1) / 2, 2, 4);
    for (const std::vector<std::size_t>& part : split(all, std::min(parts, size), 1, outer_)) {
      split(part, (part.size() + kClusterSize - 1) / kClusterSize, 2, inner_);
    }
    for (std::size_t from = 0; from < size; ++from) {
      for (std::size_t to = 0; to < size; ++to) draw_pair(from, to);
    }
    made_.root = static_cast<std::size_t>(rng_.below(size));
    return std::move(made_);
  }

 private:
  using Parts = std::vector<std::vector<std::size_t>>;
  using Ends = std::pair<std::size_t, std::size_t>;
  struct Middle {
    double latency_ms = 0;
    double bytes_per_ms = 0;
  };

  [[nodiscard]] double uniform(Range range) {
    const double share = static_cast<double>(rng_.next() >> 11U) * 0x1.0p-53;
    return range.least + share * (range.most - range.least);
  }
  [[nodiscard]] double logarithmic(Range range) {
    return std::exp(uniform({std::log(range.least), std::log(range.most)}));
  }
  [[nodiscard]] static Duration in_time(double ms) {
    return Duration{static_cast<Duration::rep>(ms * kMillisecond)};
  }

  /// One in each cluster, the others anywhere. `names` tells for each of them where it is.
  Parts split(std::vector<std::size_t> all, std::size_t count, std::size_t level,
              std::vector<std::size_t>& names) {
    for (std::size_t i = all.size(); i > 1; --i) {
      std::swap(all[i - 1], all[static_cast<std::size_t>(rng_.below(i))]);
    }
    Parts parts(count);
    for (std::size_t i = 0; i < all.size(); ++i) {
      parts[i < count ? i : static_cast<std::size_t>(rng_.below(count))].push_back(all[i]);
    }
    for (std::vector<std::size_t>& part : parts) {
      std::sort(part.begin(), part.end());
      for (const std::size_t member : part) names[member] = clusters_;
      ++clusters_;
      made_.network.add_cluster({level, part});
    }
    return parts;
  }

  void draw_pair(std::size_t from, std::size_t to) {
    Nearness nearness = kFar;
    Ends ends{outer_[from], outer_[to]};
    if (outer_[from] == outer_[to]) {
      nearness = inner_[from] == inner_[to] ? kNear : kMiddle;
      ends = {inner_[from], inner_[to]};
    }
    if (ends.first > ends.second) std::swap(ends.first, ends.second);
    const auto [found, is_new] = middles_.try_emplace(ends);
    if (is_new) {
      found->second = {logarithmic(nearness.latency_ms), logarithmic(nearness.bytes_per_ms)};
    }
    const double latency_ms = found->second.latency_ms * uniform(kEachPair);
    const double bytes_per_ms = found->second.bytes_per_ms * uniform(kEachPair);
    made_.network.set_latency(from, to, in_time(latency_ms));
    made_.network.set_byte_time(from, to, kMillisecond / bytes_per_ms);
  }

  Rng rng_;
  RandomNetwork made_;
  std::size_t clusters_ = 0;
  std::vector<std::size_t> outer_;  ///< Cluster of the first level, and of the second one.
  std::vector<std::size_t> inner_;
  std::map<Ends, Middle> middles_;  ///< Drawn once for each two clusters.
};

}  // namespace

RandomNetwork random_clusters(std::size_t size, std::uint64_t seed) {
  return Draw(size, seed).run();
}

}  // namespace phx::planners
