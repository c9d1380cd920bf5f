#pragma once

#include <cstdint>

#include "overlay/base/time.h"
#include "overlay/rate_gauge_options.h"
#include "overlay/survey/gauge.h"
#include "overlay/survey/standstills.h"
#include "overlay/survey/surveyor_options.h"

namespace phx::overlay {

/// How a Survey goes about it [overlay/survey/README.md].
struct SurveyOptions {
  GaugeOptions gauge;
  RateGaugeOptions rates;
  StandstillOptions standstills;
  SurveyorOptions surveyor;
  /// A warm way can carry at once so many times what it was heard to carry, ...
  std::uint64_t warm_times = 8;
  std::uint64_t warm_least = std::uint64_t{64} << 10U;  ///< if that is so much or more, ...
  std::uint64_t warm_most = std::uint64_t{4} << 20U;    ///< but no more than this.
  Duration warm_far = 1ms;      ///< A round trip. Shorter ways are always warm.
  Duration warm_pause = 200ms;  ///< What comes together, and shall have passed before.
  /// A link that carries less than this part of what is known is told of, unless all links together
  /// carry more than that part of what this processor can send; of each link once in so much time.
  double slow_part = 0.25;
  double full_part = 0.5;
  Duration slow_again = 10s;
  /// Where more is known, 4 Gbit/s, processors are the narrow place, and what they have to do.
  double slow_known_most = 5e8;
};

}  // namespace phx::overlay
