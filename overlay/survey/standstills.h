#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "overlay/base/ids.h"
#include "overlay/base/outbox.h"
#include "overlay/base/rng.h"
#include "overlay/base/time.h"
#include "overlay/survey_messages.h"

namespace phx::overlay {

struct StandstillOptions {
  Duration least = 20ms;         ///< A shorter mean wait is nobody's concern.
  Duration window = 1s;          ///< Over which it is the mean.
  Duration look = 100ms;         ///< Between two looks, on average.
  std::uint32_t bad = 2;         ///< So many windows with more waiting are news.
  std::uint32_t good = 5;        ///< So many in a row with less, likewise; ...
  std::uint32_t good_most = 80;  ///< ... up to so many, if it gets worse again ...
  Duration again = 160s;         ///< ... within this time.
};

/// How long a message waits at this processor because it stands still now and then, as a guest
/// whose host takes its time away. Timers at random moments tell: as late as they fire, a message
/// that came then was taken. Nothing is looked at while all is well: the first late timer begins
/// it. [overlay/survey/README.md, "Standstills"]. Thread rule: one owner.
class Standstills {
 public:
  enum class Timer : std::uint8_t { kLook };
  /// The mean is another one now.
  struct News {};
  using Outbox = phx::Outbox<SurveyReport, Timer, News>;

  Standstills(const StandstillOptions& options, Rng rng) : options_(options), rng_(rng) {}

  // Inputs.
  /// Any timer of this processor fired so late.
  void on_late(Instant now, Duration late, Outbox& out);
  void on_timer(Instant now, Outbox& out);

  // Commands.
  void stop(Outbox& out);

  // Queries.
  /// 0: it does not stand still.
  [[nodiscard]] Duration wait() const { return wait_; }

 private:
  struct Windows {
    std::uint32_t count = 0;
    Duration sum{};  ///< Of their means.
    void add(Duration mean) {
      ++count;
      sum += mean;
    }
    [[nodiscard]] Duration mean() const { return sum / std::max(count, 1U); }
  };

  void judge(Instant now, Duration mean, Outbox& out);
  void change(Instant now, Duration wait, Outbox& out);
  [[nodiscard]] Duration draw();

  StandstillOptions options_;
  Rng rng_;
  Duration wait_{};
  bool is_looking_ = false;
  Instant window_at_;  ///< It began.
  Instant next_;       ///< Look.
  Duration waited_{};  ///< At all looks of this window.
  std::uint32_t looks_ = 0;
  Windows bads_;                    ///< Since the last news, or since five that were not.
  Windows goods_;                   ///< In a row.
  std::uint32_t calm_ = 0;          ///< Windows in a row that were not bad.
  std::uint32_t patience_ = 0;      ///< So many of these end what is known.
  std::optional<Instant> well_at_;  ///< It stood still no more, last.
};

}  // namespace phx::overlay
