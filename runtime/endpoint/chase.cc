#include "runtime/endpoint/chase.h"

#include <algorithm>
#include <utility>

namespace phx::runtime {
namespace {

/// While those ahead wait, they get one byte for so many of those behind: what depends on the
/// stream shall not think that it has ended.
constexpr std::uint64_t kShare = 8;
/// Whoever gets less than this part of what those ahead get, beside these, is slow: they have
/// several ways from the root, and those behind one.
constexpr std::uint64_t kBeside = 5;
/// In the first two parts of a step of a trial what those ahead had been sent goes through; each
/// two that follow are judged.
constexpr std::uint64_t kParts = 4;
constexpr Duration::rep kJudged = 2;
/// Of these those behind have to get one in so many: credit comes in halves of windows, so they are
/// not measured exactly.
constexpr std::uint64_t kHelps = 2;
constexpr std::uint64_t kPatienceMost = 64;
/// A part may have contained a pause of the program.
constexpr Duration kPartMost = 2s;

}  // namespace

void Chase::measure(Instant now, std::uint64_t ahead) {
  const std::uint64_t part = step_ / kParts;
  if (ahead >= timed_ && ahead < timed_ + part) return;
  const std::uint64_t parts = ahead > timed_ ? (ahead - timed_) / part : 1;
  part_ = std::min(kPartMost, (now - timed_at_) / static_cast<Duration::rep>(parts));
  timed_ = ahead;
  timed_at_ = now;
}

void Chase::on_progress(Instant now, std::uint64_t ahead, std::optional<std::uint64_t> behind) {
  if (!is_on_) measure(now, ahead);
  if (!behind) {
    if (mark_) timed_at_ = now;
    mark_.reset();
    is_on_ = hopes_ = false;
    return;
  }
  if (!mark_ || *behind < mark_->behind) {
    is_on_ = false;
    mark_ = {now, ahead, *behind};
    timed_ = ahead;
    timed_at_ = now;
  }
  const std::uint64_t theirs = *behind - mark_->behind;
  if (is_on_) {
    allowed_ = std::max(allowed_, mark_->ahead + theirs / kShare);
    return judge(now, ahead, *behind);
  }
  const std::uint64_t ours = ahead - mark_->ahead;
  const bool hopes = std::exchange(hopes_, false);
  if (!hopes && ours < step_ * patience_) return;
  is_on_ = hopes || kBeside * theirs >= ours;
  has_settled_ = false;
  mark_ = {now, ahead, *behind};
  allowed_ = ahead;
}

void Chase::judge(Instant now, std::uint64_t ahead, std::uint64_t behind) {
  const Duration passed = now - mark_->at;
  if (passed < kJudged * part_) return;
  if (std::exchange(has_settled_, true)) {
    const std::uint64_t usual = static_cast<std::uint64_t>(kJudged) * step_ / kParts;
    is_on_ = kHelps * (behind - mark_->behind) >= usual;
    patience_ = is_on_ ? 1 : std::min(2 * patience_, kPatienceMost);
  }
  timed_ = ahead;  // that they waited says nothing of their pace
  timed_at_ = now;
  mark_ = {now, is_on_ ? allowed_ : ahead, behind};
}

}  // namespace phx::runtime
