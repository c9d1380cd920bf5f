#pragma once

#include <cstdint>
#include <optional>

#include "overlay/base/time.h"

namespace phx::runtime {

/// Decides whether a stream waits for those who are behind it, until they have caught up: only if
/// they have shown that they are as fast, and as long as they are. Not thread-safe: one owner.
///
/// Both share what the root can send. So who is behind and as fast gets as far as those ahead, in
/// the same time, and would never reach them; who is slow gets less, and must hold up nobody.
class Chase {
 public:
  /// `step`: what is compared is how long so many bytes take.
  explicit Chase(std::uint64_t step) : step_(step) {}

  // Inputs.
  /// So far, in bytes, those ahead have been sent; those behind have received.
  void on_progress(Instant now, std::uint64_t ahead, std::uint64_t behind);
  /// Nobody is behind, or others are.
  void stop() {
    mark_.reset();
    is_on_ = false;
  }

  // Queries.
  [[nodiscard]] bool is_on() const { return is_on_; }
  /// Whether those ahead may go on from this offset.
  [[nodiscard]] bool allows(std::uint64_t ahead) const { return !is_on_ || ahead < allowed_; }

 private:
  struct Mark {
    Instant at;
    std::uint64_t ahead = 0;
    std::uint64_t behind = 0;
  };

  std::uint64_t step_;
  std::optional<Mark> mark_;
  bool is_on_ = false;
  Duration took_{};            ///< A step, of those ahead, before it began.
  std::uint64_t allowed_ = 0;  ///< While it is on.
};

}  // namespace phx::runtime
