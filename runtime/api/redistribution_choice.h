#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/redistribution/exchange_time.h"
#include "collectives/redistribution/schedulers.h"

namespace phx {

/// The name under which the schedule is chosen that is predicted to be the fastest.
inline constexpr std::string_view kPredicted = "predicted";

/// Schedules by their names: "rotation", "ranks", and all schedulers.
using ScheduleMakers =
    std::map<std::string, redistribution::Schedule (*)(const redistribution::Order&), std::less<>>;
[[nodiscard]] ScheduleMakers all_schedules();

/// What is to be exchanged.
struct ScheduleTask {
  const redistribution::MessageGraph& bytes;
  const redistribution::Ways& ways;
  redistribution::Pace pace = redistribution::Pace::kNoBarrier;
  std::uint64_t setup_bytes = 0;  ///< As many could be sent over the widest way meanwhile.
  /// The planners' own time counts; empty: it is taken for none.
  std::function<Duration()> clock = {};
};

struct ChosenSchedule {
  std::string name;
  redistribution::Schedule schedule;  ///< Parts are bytes.
  Duration predicted{};               ///< Of the exchange alone; of choose_schedule().
};
/// How long the exchange takes, without the planning.
[[nodiscard]] Duration predict(const redistribution::Schedule& schedule, const ScheduleTask& task);

/// The schedule of this name, made for times and not for bytes. REQUIRES one of all_schedules().
[[nodiscard]] ChosenSchedule make_schedule(std::string_view name, const ScheduleTask& task);
/// The best of them, as it is predicted. One after the other is made, the cheapest first; the next
/// one only if ten times what the last one took may be gained, down to the bound.
[[nodiscard]] ChosenSchedule choose_schedule(const ScheduleTask& task);

}  // namespace phx
