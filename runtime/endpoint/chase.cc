#include "runtime/endpoint/chase.h"

#include <algorithm>

namespace phx::runtime {
namespace {

/// While those ahead wait, they get one byte for so many of those behind: what depends on the
/// stream shall not think that it has ended.
constexpr std::uint64_t kShare = 8;
/// Whoever is slower than those ahead were by more than this is waited for no longer. Credit comes
/// in halves of windows, so this is not what it was to begin.
constexpr std::uint64_t kStillFast = 4;

}  // namespace

void Chase::on_progress(Instant now, std::uint64_t ahead, std::uint64_t behind) {
  if (!mark_ || behind < mark_->behind) {
    is_on_ = false;
    mark_ = {now, ahead, behind};
    return;
  }
  const std::uint64_t theirs = behind - mark_->behind;
  if (!is_on_) {
    const std::uint64_t ours = ahead - mark_->ahead;
    if (ours < step_) return;
    is_on_ = 2 * theirs >= ours;
    took_ = now - mark_->at;
    mark_ = {now, ahead, behind};
    allowed_ = ahead;
    return;
  }
  allowed_ = std::max(allowed_, mark_->ahead + theirs / kShare);
  if (now - mark_->at < took_) return;
  is_on_ = kStillFast * theirs >= step_;
  mark_ = {now, is_on_ ? allowed_ : ahead, behind};
}

}  // namespace phx::runtime
