#pragma once

#include <cstddef>
#include <functional>
#include <semaphore>
#include <thread>
#include <vector>

namespace phx::tcp::test {

/// One order in which the steps of two sides happen, each side a thread that only goes on when it
/// is its turn. What happens between two steps of a side belongs to the first of them.
class Interleaving {
 public:
  /// Called by a side before each use of what both share.
  void step() { pass(nullptr); }
  /// Goes on when `bell` is set, and clears it.
  void wait_for(bool& bell) {
    pass(&bell);
    bell = false;
  }

  /// Runs both sides to their end. False: neither can go on.
  bool run(const std::function<void()>& first, const std::function<void()>& second) {
    is_stuck_ = false;
    std::thread a([&] { live(sides_[0], first); });
    std::thread b([&] { live(sides_[1], second); });
    for (Side& side : sides_) side.is_there.acquire();
    Side* last = &sides_[0];
    while (true) {
      std::vector<Side*> able;
      for (Side& side : sides_) {
        if (!side.is_over && (is_stuck_ || side.bell == nullptr || *side.bell)) {
          able.push_back(&side);
        }
      }
      if (able.empty() && sides_[0].is_over && sides_[1].is_over) break;
      if (able.empty()) {
        is_stuck_ = true;
        continue;
      }
      if (able.size() == 2 && !is_stuck_ && switches_ < switches_max_ && choose() == 1) {
        last = last == able[0] ? able[1] : able[0];
        ++switches_;
      } else if (able.size() == 1) {
        last = able[0];
      }
      last->turn.release();
      last->is_there.acquire();
    }
    a.join();
    b.join();
    return !is_stuck_;
  }

 private:
  friend std::size_t for_each_interleaving(const std::function<void(Interleaving&)>& f,
                                           std::size_t switches_max);
  struct Stop {};
  struct Side {
    std::binary_semaphore turn{0};
    std::binary_semaphore is_there{0};  ///< At its next step, or over.
    bool* bell = nullptr;
    bool is_over = false;
  };

  void live(Side& side, const std::function<void()>& f) {
    self_ = &side;
    try {
      f();
    } catch (const Stop&) {
      // Nobody would have woken it.
    }
    side.is_over = true;
    side.is_there.release();
  }
  void pass(bool* bell) {
    Side& side = *self_;
    side.bell = bell;
    side.is_there.release();
    side.turn.acquire();
    if (is_stuck_) throw Stop();
  }
  std::size_t choose() {
    if (depth_ == choices_.size()) choices_.push_back(0);
    return choices_[depth_++];
  }

  static inline thread_local Side* self_ = nullptr;
  Side sides_[2];
  /// Where both could go on: 0 the same as before, 1 the other.
  std::vector<std::size_t> choices_;
  std::size_t depth_ = 0;
  std::size_t switches_ = 0;
  std::size_t switches_max_ = 0;
  bool is_stuck_ = false;
};

/// Calls `f` with every order in which a side that could go on gives way so often at most, and
/// returns how many these are. `f` calls run() once.
inline std::size_t for_each_interleaving(const std::function<void(Interleaving&)>& f,
                                         std::size_t switches_max) {
  /// Where both could go on: 0 the same as before, 1 the other.
  std::vector<std::size_t> choices;
  for (std::size_t count = 1;; ++count) {
    Interleaving one;
    one.choices_ = choices;
    one.switches_max_ = switches_max;
    f(one);
    choices = one.choices_;
    while (!choices.empty() && choices.back() == 1) choices.pop_back();
    if (choices.empty()) return count;
    choices.back() = 1;
  }
}

}  // namespace phx::tcp::test
