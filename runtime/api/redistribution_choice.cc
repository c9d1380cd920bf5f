#include "runtime/api/redistribution_choice.h"

#include <algorithm>
#include <array>
#include <utility>

namespace phx {
namespace {

using redistribution::MessageGraph;
using redistribution::Schedule;
using redistribution::Ways;

constexpr std::uint64_t kGigabit = 125'000'000;

/// What is not known, and what is not to be the narrow place.
std::uint64_t usual(const std::optional<std::uint64_t>& rate) {
  return rate.value_or(kGigabit);
}

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

Ways ways_between(const overlay::KnownNetwork& network,
                  const std::vector<ProcessorId>& processors) {
  Ways ways;
  ways.sites = network.sites.size() + 1;
  for (const ProcessorId id : processors) {
    const auto [overhead, out, in] = network.ability(id);
    const std::size_t site = network.site_of(id).value_or(network.sites.size());
    ways.processors.push_back({site, usual(out), usual(in)});
  }
  ways.between.resize(ways.sites * ways.sites);
  for (std::size_t i = 0; i < network.sites.size(); ++i) {
    ways.between[i * ways.sites + i].latency = network.sites[i].latency.value_or(Duration{});
  }
  for (const auto& [ends, way] : network.between) {
    ways.between[ends.first * ways.sites + ends.second] = {usual(way.bytes_per_second),
                                                           way.latency.value_or(Duration{})};
  }
  return ways;
}

ChosenSchedule make_schedule(std::string_view name, const ScheduleTask& task) {
  const MessageGraph weights = redistribution::weighed(task.bytes, task.ways);
  const auto make = all_schedules().find(name)->second;
  const Schedule schedule = make({weights, task.setup_bytes});
  ChosenSchedule chosen{std::string(name), in_bytes(schedule, weights, task.bytes), {}};
  chosen.predicted = redistribution::exchange_time(
      chosen.schedule, {task.bytes, task.ways, task.pace, setup_time(task)});
  return chosen;
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
    const Duration took = now() - begin;
    if (best.name.empty() || next.predicted < best.predicted) best = std::move(next);
    if (best.predicted - least <= kWorth * took) break;
  }
  return best;
}

}  // namespace phx
