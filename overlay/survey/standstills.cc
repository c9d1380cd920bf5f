#include "overlay/survey/standstills.h"

#include <algorithm>

namespace phx::overlay {
namespace {

/// After a long sleep there may be a million of them.
constexpr std::uint32_t kLooksMost = 64;

}  // namespace

void Standstills::on_late(Instant now, Duration late, Outbox& out) {
  if (is_looking_ || late < options_.least) return;
  is_looking_ = true;
  bads_ = goods_ = {};
  calm_ = looks_ = 0;
  waited_ = {};
  window_at_ = now;
  next_ = now + draw();
  out.arm(Timer::kLook, next_);
}

Duration Standstills::draw() {
  return options_.look / 2 + Duration{static_cast<Duration::rep>(
                                 rng_.below(static_cast<std::uint64_t>(options_.look.count())))};
}

/// The looks are at moments that do not depend on the standstills: those that fell into one are
/// all made at its end.
void Standstills::on_timer(Instant now, Outbox& out) {
  if (!is_looking_) return;
  for (std::uint32_t i = 0; i < kLooksMost && next_ <= now; ++i) {
    waited_ += now - next_;
    ++looks_;
    next_ += draw();
  }
  if (next_ <= now) next_ = now + draw();
  if (now - window_at_ >= options_.window) {
    const Duration mean = waited_ / static_cast<Duration::rep>(std::max(looks_, 1U));
    window_at_ = now;
    waited_ = {};
    looks_ = 0;
    judge(now, mean, out);
  }
  if (is_looking_) out.arm(Timer::kLook, next_);
}

void Standstills::judge(Instant now, Duration mean, Outbox& out) {
  const bool is_bad = mean >= std::max(options_.least, 2 * wait_);
  const bool is_good = 2 * mean < std::max(options_.least, wait_);
  if (is_bad) bads_.add(mean);
  calm_ = is_bad ? 0 : calm_ + 1;
  if (calm_ >= options_.good) bads_ = {};
  if (is_good) {
    goods_.add(mean);
  } else {
    goods_ = {};
  }
  if (bads_.count >= options_.bad) return change(now, bads_.mean(), out);
  const bool is_marked = wait_ > Duration{};
  if (goods_.count < (is_marked ? patience_ : options_.good)) return;
  if (is_marked) change(now, goods_.mean() < options_.least ? Duration{} : goods_.mean(), out);
  is_looking_ = wait_ > Duration{};
}

void Standstills::change(Instant now, Duration wait, Outbox& out) {
  if (wait_ == Duration{}) {
    const bool is_again = well_at_ && now - *well_at_ < options_.again;
    patience_ = is_again ? std::min(2 * patience_, options_.good_most) : options_.good;
  }
  wait_ = wait;
  bads_ = goods_ = {};
  if (wait == Duration{}) well_at_ = now;
  out.report(News{});
}

void Standstills::stop(Outbox& out) {
  is_looking_ = false;
  wait_ = {};
  out.disarm(Timer::kLook);
}

}  // namespace phx::overlay
