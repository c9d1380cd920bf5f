#include "collectives/redistribution/schedule.h"

#include <algorithm>
#include <string>

namespace phx::redistribution {
namespace {

Error step_error(std::size_t step, const std::string& what) {
  return Error{ErrorCode::kBadInput, "step " + std::to_string(step) + " " + what};
}

}  // namespace

std::uint64_t Schedule::cost(std::uint64_t setup) const {
  std::uint64_t sum = 0;
  for (const Step& step : steps) {
    std::uint64_t heaviest = 0;
    for (const Part& part : step) heaviest = std::max(heaviest, part.amount);
    sum += setup + heaviest;
  }
  return sum;
}

std::size_t Schedule::parts() const {
  std::size_t sum = 0;
  for (const Step& step : steps) sum += step.size();
  return sum;
}

Status validate(const Schedule& schedule, const MessageGraph& graph, std::size_t at_once) {
  std::vector<std::uint64_t> left(graph.messages.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = graph.messages[i].weight;
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    if (step.empty()) return step_error(s, "is empty");
    if (step.size() > at_once) return step_error(s, "has too many parts");
    std::vector<bool> sends(graph.processors);
    std::vector<bool> receives(graph.processors);
    for (const Part& part : step) {
      if (part.message >= left.size()) return step_error(s, "moves what is no message");
      if (part.amount == 0) return step_error(s, "moves nothing of a message");
      if (part.amount > left[part.message]) return step_error(s, "moves something twice");
      left[part.message] -= part.amount;
      const Message& message = graph.messages[part.message];
      if (sends[message.from] || receives[message.to]) return step_error(s, "has a conflict");
      sends[message.from] = receives[message.to] = true;
    }
  }
  const auto missing = std::find_if(left.begin(), left.end(), [](auto rest) { return rest > 0; });
  if (missing == left.end()) return success();
  return Error{ErrorCode::kBadInput,
               "message " + std::to_string(missing - left.begin()) + " is not moved wholly"};
}

}  // namespace phx::redistribution
