#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "overlay/base/time.h"

namespace phx::app {

/// What the ranks of an MPI job have told of their waits: who sits in which function for what; and
/// whether the job stands still. Without I/O.
///
///     kStarting --begun--> kInside --finalizes--> kFinalizing --ended--> kEnded
class MpiWaits {
 public:
  /// A job stands still if for so long none of its ranks has changed, nor computed.
  static constexpr Duration kStandstill = std::chrono::seconds(10);

  explicit MpiWaits(std::size_t ranks) : ranks_(ranks) {}

  // Inputs; times do not fall.
  void on_begun(std::size_t rank, Instant now);  ///< MPI_Init is over there.
  /// One of its threads waits: "12 MPI_Recv (a message of rank 1 with tag 7)". No other wait of
  /// that rank has this number.
  void on_waits(std::size_t rank, const std::string& words, Instant now);
  void on_goes_on(std::size_t rank, const std::string& number, Instant now);
  void on_finalizes(std::size_t rank, Instant now);
  void on_ended(std::size_t rank, Instant now);  ///< Its process.
  /// What looked_at() asks for: a signal or a debugger has stopped its process, or not any more.
  void on_state(std::size_t rank, bool is_stopped, Instant now);

  /// Some wait, and these may have been stopped: who is needs no words of its own.
  [[nodiscard]] std::vector<std::size_t> looked_at() const;
  /// When to look() next. Empty: somebody computes, or what there is to tell has been told.
  [[nodiscard]] std::optional<Instant> due() const;
  /// `used`: the processor time of each rank's process so far. If all have waited for so long that
  /// the job stands still: who waits for what, as said(), unless that was told last. Else empty.
  [[nodiscard]] std::string look(Instant now, std::span<const Duration> used);
  /// A line for each rank, but one for those that say the same, and some of the lines if there are
  /// many: "  rank 0 waits in MPI_Recv (...)". Empty: none waits.
  [[nodiscard]] std::string said() const;

 private:
  enum class Life { kStarting, kInside, kFinalizing, kEnded };
  struct Process {
    Life life = Life::kStarting;
    bool is_stopped = false;
    std::map<std::string, std::string> waits;  ///< of its threads, by number
  };
  [[nodiscard]] bool all_wait() const;
  [[nodiscard]] static std::string spell(const Process& process, bool is_one);
  Process& change(std::size_t rank, Instant now);

  std::vector<Process> ranks_;
  Instant since_;               ///< the last change, or the last look that found somebody computing
  std::vector<Duration> used_;  ///< at `since_`; empty: not known yet
  bool is_told_ = false;
  std::string told_;  ///< last
};

}  // namespace phx::app
