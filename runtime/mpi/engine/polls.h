#pragma once

#include <algorithm>
#include <chrono>

#include "overlay/base/time.h"

namespace phx::mpi {

/// When a thread that polls gives the processor away after a look in vain.
///
/// Once in a while: not before it has had the processor for as long as others had it last, and for
/// a turn. So a program that works between its looks, however little, has its share.
///
/// Where ranks share cores, also after each row of looks with next to nothing in between: such a
/// program does nothing else, and those it waits for have to run.
///
/// A call, and two readings of the time, take as long between looks as in them; half as much again,
/// in a row, is work, or a message. The two are compared with each other, so that it does not
/// matter how fast the machine is.
///
/// Thread rule: of one thread. Without a clock: times are arguments, and do not fall.
class Polls {
 public:
  static constexpr unsigned kRow = 16;
  static constexpr Duration kTurn = std::chrono::microseconds(20);

  /// Who has a core needs the time at each `kRow`th look only: it costs as much as a look.
  [[nodiscard]] bool needs_time(bool shares_cores) { return ++looks_ % kRow == 0 || shares_cores; }
  /// A look begins. Whether it has to give way if it finds nothing.
  [[nodiscard]] bool on_look(Instant now, bool shares_cores) {
    begun_ = now;
    if (now >= next_turn_) return true;
    if (!shares_cores) return false;
    add(between_, now - ended_);
    if (row_ < kRow) return false;
    const bool is_idle = 2 * between_ < 3 * within_;
    begin_row();
    return is_idle;
  }
  /// It has found nothing, and the thread goes on.
  void on_vain(Instant now) {
    ended_ = now;
    ++row_;
    add(within_, now - begun_);
  }
  /// It gave the processor away between these two.
  void on_gave_way(Instant from, Instant to) {
    ended_ = to;
    next_turn_ = to + std::max(to - from, kTurn);
    begin_row();
  }

 private:
  /// What takes so long says nothing of a row: the thread has worked, or another one has run.
  void add(Duration& sum, Duration one) {
    sum += one;
    if (one >= kTurn) begin_row();
  }
  void begin_row() {
    row_ = 0;
    between_ = within_ = Duration::zero();
  }

  Instant begun_{};      ///< the last look
  Instant ended_{};      ///< the same
  Instant next_turn_{};  ///< of others
  unsigned looks_ = 0;
  unsigned row_ = 0;  ///< looks in vain of which these are the sums
  Duration between_{}, within_{};
};

}  // namespace phx::mpi
