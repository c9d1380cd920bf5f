#include <map>
#include <utility>

#include "collectives/redistribution/schedulers.h"

namespace phx::redistribution {

Schedule schedule_rotation(const Order& order) {
  const std::size_t processors = order.graph.processors;
  std::map<std::size_t, Step> steps;
  for (std::size_t i = 0; i < order.graph.messages.size(); ++i) {
    const auto& [from, to, weight] = order.graph.messages[i];
    steps[(to + processors - from - 1) % processors].push_back({i, weight});
  }
  Schedule schedule;
  for (auto& [distance, step] : steps) schedule.steps.push_back(std::move(step));
  return schedule;
}

Schedule schedule_ranks(const Order& order) {
  std::map<std::size_t, Step> steps;
  for (std::size_t i = 0; i < order.graph.messages.size(); ++i) {
    const auto& message = order.graph.messages[i];
    steps[message.to].push_back({i, message.weight});
  }
  Schedule schedule;
  for (auto& [to, step] : steps) schedule.steps.push_back(std::move(step));
  return schedule;
}

}  // namespace phx::redistribution
