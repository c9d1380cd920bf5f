#pragma once

#include <cstddef>
#include <optional>

#include "overlay/base/time.h"

namespace phx::tcp {

/// When which of several addresses is dialled, so that one that hangs costs its head start and no
/// more (RFC 8305, section 5): the next is begun when one has failed, or when none has answered
/// within the head start of the one begun last. Those begun before go on; the first that answers is
/// taken by the caller. Without I/O.
class DialOrder {
 public:
  struct Options {
    Duration head_start = 250ms;
    std::size_t at_once = 8;  ///< So many are under way together; then one must fail first.
  };
  DialOrder(std::size_t addresses, const Options& options)
      : addresses_(addresses), options_(options) {}

  /// The number of the address to begin now, from 0 on; none if it is not time, or none is left.
  /// May have another one at once after a failure.
  [[nodiscard]] std::optional<std::size_t> begin(Instant now);
  /// One that was begun leads nowhere.
  void on_failed();

  /// When begin() has the next one, if nothing fails until then; none: never.
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// All have been begun, and have failed.
  [[nodiscard]] bool is_over() const { return next_ == addresses_ && under_way_ == 0; }

 private:
  [[nodiscard]] bool may_begin() const {
    return next_ < addresses_ && under_way_ < options_.at_once;
  }

  std::size_t addresses_;
  Options options_;
  std::size_t next_ = 0;
  std::size_t under_way_ = 0;
  Instant due_{};  ///< Of the next one.
};

}  // namespace phx::tcp
