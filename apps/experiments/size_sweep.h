#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/experiments/experiments.h"
#include "apps/experiments/results.h"
#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "overlay/network/topology.h"
#include "runtime/sim/plan_run.h"

namespace phx::app {

/// Broadcasts or reductions of several sizes on one network.
struct SweepGround {
  std::string name;   ///< Of its files: fig7.csv, ...
  std::string title;  ///< Of its picture.
  overlay::Topology topology;
  bool is_reduction = false;
  std::vector<std::uint64_t> sizes;  ///< Ascending.
  std::vector<std::string_view> plans;
  std::uint64_t own_most = 0;  ///< Daemons send up to so much; what is longer is planned only.
};

/// What a static plan takes on a network, which it is told, and what our daemons take in the
/// simulator, which are told nothing: until the last receiver has all, or the target of a
/// reduction.
class SizeSweep {
 public:
  SizeSweep(SweepGround ground, const ExperimentOptions& options, Progress& progress);

  /// The error says what did not end, or what a checker found.
  [[nodiscard]] Status run();
  /// As a table milliseconds by size, and how many times the bound the best ones take; as a picture
  /// bandwidth by size: bytes x processors / time.
  [[nodiscard]] Results results() const;

 private:
  using Cell = std::pair<std::string, std::uint64_t>;  ///< A way, and a size.

  void begin(std::string_view way, std::uint64_t bytes);
  void keep(const std::string& way, std::uint64_t bytes, Duration time);
  void measure_plans(std::uint64_t bytes);
  [[nodiscard]] Status measure_own(std::uint64_t bytes);
  [[nodiscard]] Status measure_adaptive(std::uint64_t bytes);
  [[nodiscard]] std::string table() const;
  [[nodiscard]] std::string csv() const;
  [[nodiscard]] Plot plot() const;
  [[nodiscard]] double bandwidth(std::uint64_t bytes, Duration time) const;
  [[nodiscard]] std::string spell(const std::string& way, std::uint64_t bytes) const;
  [[nodiscard]] std::pair<std::string, Duration> best_plan(std::uint64_t bytes) const;

  SweepGround ground_;
  const ExperimentOptions& options_;
  Progress& progress_;
  overlay::Placing placing_;
  overlay::KnownNetwork network_;
  std::vector<std::string> ways_;  ///< In the order of the table.
  std::map<Cell, Duration> times_;
};

}  // namespace phx::app
