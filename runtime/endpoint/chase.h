#pragma once

#include <cstdint>
#include <optional>

#include "overlay/base/time.h"

namespace phx::runtime {

/// Decides whether a stream waits for those who are behind it, until they have caught up: by trial,
/// and as long as that makes them about as fast as it was itself. Not thread-safe: one owner.
///
/// Both share what the root can send. So who is behind and as fast gets about as far as those
/// ahead, in the same time, and would never reach them; who is slow gets less, and must hold up
/// nobody.
class Chase {
 public:
  /// `step`: what those ahead are sent, in bytes, before those behind are compared with them.
  explicit Chase(std::uint64_t step) : step_(step) {}

  // Inputs.
  /// So far, in bytes, those ahead have been sent; those behind have received, if there are any.
  void on_progress(Instant now, std::uint64_t ahead, std::optional<std::uint64_t> behind);
  /// Why they are behind may be gone: they are tried at once, unless a trial was in vain.
  void on_hope() { hopes_ = patience_ == 1; }

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

  void measure(Instant now, std::uint64_t ahead);
  void judge(Instant now, std::uint64_t ahead, std::uint64_t behind);

  std::uint64_t step_;
  std::uint64_t patience_ = 1;  ///< Steps before the next trial: more after each that was in vain.
  bool hopes_ = false;
  std::optional<Mark> mark_;
  bool is_on_ = false;
  bool has_settled_ = false;   ///< What those ahead had been sent before it began is through.
  std::uint64_t allowed_ = 0;  ///< While it is on.
  std::uint64_t timed_ = 0;    ///< Up to there, at `timed_at_`, it is known
  Instant timed_at_;
  Duration part_{};  ///< how long a part of a step took those ahead.
};

}  // namespace phx::runtime
