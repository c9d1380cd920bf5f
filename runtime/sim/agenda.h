#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "overlay/base/time.h"

namespace phx::sim {

/// What will happen, in one queue ordered by (virtual time, order of scheduling): the heart of the
/// simulation, and the reason why a run repeats itself exactly. Not thread-safe.
class Agenda {
 public:
  /// Small captures (two words) cost no allocation.
  using Action = std::function<void()>;

  /// Virtual time begins at zero.
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  /// Actions done so far.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// When the next action is due. REQUIRES !empty().
  [[nodiscard]] Instant next_at() const { return heap_.front().at; }

  /// Times in the past mean now.
  void schedule(Instant at, Action action);
  void schedule_in(Duration delay, Action action) { schedule(now_ + delay, std::move(action)); }
  /// Moves to the next action's time and does it. REQUIRES !empty().
  void step();
  /// Moves the time although nothing happens. REQUIRES that no action is due before.
  void advance_to(Instant at);

 private:
  struct Entry {
    Instant at;
    std::uint64_t number = 0;
    std::size_t slot = 0;
  };
  [[nodiscard]] static bool is_later(const Entry& a, const Entry& b) {
    return a.at != b.at ? a.at > b.at : a.number > b.number;
  }

  Instant now_{};
  std::vector<Entry> heap_;  ///< The first is the next.
  std::vector<Action> slots_;
  std::vector<std::size_t> free_;
  std::uint64_t next_number_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace phx::sim
