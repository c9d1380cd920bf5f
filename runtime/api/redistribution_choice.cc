#include "runtime/api/redistribution_choice.h"

#include <algorithm>
#include <array>
#include <utility>

namespace phx {
namespace {

using redistribution::MessageGraph;
using redistribution::Schedule;

Duration setup_time(const ScheduleTask& task) {
  std::uint64_t widest = 1;
  for (const auto& message : task.bytes.messages) {
    widest = std::max(widest, task.ways.rate(message.from, message.to));
  }
  return redistribution::wire_time(task.setup_bytes, widest);
}

}  // namespace

ScheduleMakers all_schedules() {
  ScheduleMakers makers = {{"rotation", redistribution::schedule_rotation},
                           {"ranks", redistribution::schedule_ranks}};
  for (const auto& scheduler : redistribution::all_schedulers()) {
    makers.emplace(scheduler.name, scheduler.make);
  }
  return makers;
}

ChosenSchedule make_schedule(std::string_view name, const ScheduleTask& task) {
  const MessageGraph weights = redistribution::weighed(task.bytes, task.ways);
  const auto make = all_schedules().find(name)->second;
  const Schedule schedule = make({weights, task.setup_bytes});
  return {std::string(name), in_bytes(schedule, weights, task.bytes), {}};
}

Duration predict(const Schedule& schedule, const ScheduleTask& task) {
  return redistribution::exchange_time(schedule,
                                       {task.bytes, task.ways, task.pace, setup_time(task)});
}

ChosenSchedule choose_schedule(const ScheduleTask& task) {
  constexpr int kWorth = 10;
  constexpr std::array kCheapestFirst = {"rotation", "sdrc", "drc", "drc-exact", "oggp"};
  const auto now = [&] { return task.clock ? task.clock() : Duration{}; };
  const Duration least = redistribution::least_time(task.bytes, task.ways);
  ChosenSchedule best;
  for (const char* name : kCheapestFirst) {
    const Duration begin = now();
    ChosenSchedule next = make_schedule(name, task);
    next.predicted = predict(next.schedule, task);
    const Duration took = now() - begin;
    if (best.name.empty() || next.predicted < best.predicted) best = std::move(next);
    if (best.predicted - least <= kWorth * took) break;
  }
  return best;
}

}  // namespace phx
