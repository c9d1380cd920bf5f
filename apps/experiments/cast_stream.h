#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "runtime/sim/trial.h"

namespace phx::app {

struct CastStreamOptions {
  overlay::Topology topology;
  std::uint64_t seed = 1;
  std::size_t bytes = std::size_t{4} << 20U;  ///< Of each broadcast.
  /// The root keeps so much for its receivers, and for those that have not been sent yet.
  std::uint64_t kept_bytes = std::uint64_t{1} << 30U;
  Duration interval = 100ms;  ///< For which bytes are counted together.
  /// Hears now and then how long after the beginning it is, in virtual time.
  std::function<void(Duration)> on_time = {};
};

/// Broadcasts of p1 back to back, by real daemons in the simulator, while something happens to the
/// mesh or its network: what reaches each processor, and when.
class CastStream {
 public:
  using Takes = std::map<sim::MachineId, std::uint64_t>;  ///< Bytes.

  explicit CastStream(const CastStreamOptions& options);

  /// The mesh forms, its network, in which one interface may be slow, is learned, and broadcasts
  /// begin. kAborted: it does not form.
  struct Slow {
    sim::MachineId machine;
    std::uint64_t bytes_per_second = 0;
  };
  [[nodiscard]] Status start(std::optional<Slow> slow = {});
  /// Until so long after the beginning.
  void run_until(Duration time);

  [[nodiscard]] sim::Trial& trial() { return trial_; }
  [[nodiscard]] sim::MachineId root() { return *trial_.cluster().find(kRoot); }
  /// By interval from the beginning to now.
  [[nodiscard]] const std::vector<Takes>& intervals() const { return intervals_; }
  /// Bytes per second and receiver in (from, to], of those that are members at the time and are not
  /// left out; who gets nothing counts, and so do times in which nobody does.
  [[nodiscard]] double rate(Duration from, Duration to,
                            std::optional<sim::MachineId> without = {}) const;
  /// Bytes per second of all receivers together, also of those that leave.
  [[nodiscard]] double total_rate(Duration from, Duration to) const;
  /// The first time from `since` on from which for `during` each interval has at least so many
  /// bytes per second and receiver; empty: none.
  [[nodiscard]] std::optional<Duration> reaches(double rate, Duration since, Duration during) const;
  /// The longest time in which this one got nothing, since it got the first and until now.
  [[nodiscard]] Duration longest_gap(sim::MachineId machine);

 private:
  static constexpr ProcessorId kRoot{1};
  struct Seen {
    Duration last{};
    Duration gap{};
  };

  void on_bytes(Instant now, sim::MachineId at, std::size_t bytes);
  /// Who is there in the interval that ends now.
  void note_members();
  [[nodiscard]] double mean(std::size_t interval, std::optional<sim::MachineId> without) const;
  [[nodiscard]] std::size_t interval_of(Duration time) const {
    return static_cast<std::size_t>(time / interval_);
  }

  Duration interval_;
  std::function<void(Duration)> on_time_;
  sim::Trial trial_;
  Instant begin_{};
  std::vector<Takes> intervals_;
  std::vector<std::vector<sim::MachineId>> members_;  ///< The receivers of each interval.
  std::map<sim::MachineId, Seen> seen_;
};

}  // namespace phx::app
