#include "collectives/redistribution/message_graph.h"

#include <algorithm>
#include <string>

namespace phx::redistribution {
namespace {

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t divisor) {
  return value / divisor + (value % divisor == 0 ? 0 : 1);
}

}  // namespace

Status MessageGraph::check() const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    const auto bad = [&](const std::string& what) {
      return Error{ErrorCode::kBadInput, "message " + std::to_string(i) + " " + what};
    };
    if (message.from >= processors) return bad("comes from a processor that does not exist");
    if (message.to >= processors) return bad("goes to a processor that does not exist");
    if (message.from == message.to) return bad("goes to its sender");
    if (message.weight == 0) return bad("has no weight");
    if (message.weight > kTotalMax - total) return bad("makes all of them more than 2^60");
    total += message.weight;
  }
  return success();
}

std::uint64_t Bounds::duration(std::size_t at_once) const {
  return std::max(load, rounded_up(total, std::max<std::size_t>(at_once, 1)));
}

std::size_t Bounds::steps(std::size_t at_once) const {
  return std::max(degree, rounded_up(count, std::max<std::size_t>(at_once, 1)));
}

std::uint64_t Bounds::cost(std::size_t at_once, std::uint64_t setup) const {
  return duration(at_once) + setup * steps(at_once);
}

Bounds bounds_of(const MessageGraph& graph) {
  struct Use {
    std::uint64_t weight = 0;
    std::size_t messages = 0;
  };
  std::vector<Use> out(graph.processors);
  std::vector<Use> in(graph.processors);
  Bounds bounds;
  bounds.count = graph.messages.size();
  for (const Message& message : graph.messages) {
    bounds.total += message.weight;
    for (Use* use : {&out[message.from], &in[message.to]}) {
      bounds.load = std::max(bounds.load, use->weight += message.weight);
      bounds.degree = std::max(bounds.degree, ++use->messages);
    }
  }
  return bounds;
}

}  // namespace phx::redistribution
