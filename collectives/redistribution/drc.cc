#include <algorithm>
#include <numeric>
#include <vector>

#include "collectives/redistribution/schedulers.h"

namespace phx::redistribution {
namespace {

/// The messages that are left, and how many everybody has of them.
class Rest {
 public:
  explicit Rest(const MessageGraph& graph)
      : graph_(graph),
        order_(graph.messages.size()),
        out_(graph.processors),
        in_(graph.processors) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return graph.messages[a].weight > graph.messages[b].weight;
    });
    for (const Message& message : graph.messages) {
      ++out_[message.from];
      ++in_[message.to];
    }
  }

  [[nodiscard]] std::size_t degree() const {
    const auto most = [](const auto& all) {
      return all.empty() ? std::size_t{0} : *std::max_element(all.begin(), all.end());
    };
    return std::max(most(out_), most(in_));
  }
  /// The heaviest first.
  [[nodiscard]] const std::vector<std::size_t>& messages() const { return order_; }

  /// One pass over all: everything that is in nobody's way.
  Step take_step() {
    std::vector<bool> sends(graph_.processors);
    std::vector<bool> receives(graph_.processors);
    Step step;
    std::vector<std::size_t> left;
    for (const std::size_t i : order_) {
      const Message& message = graph_.messages[i];
      if (sends[message.from] || receives[message.to]) {
        left.push_back(i);
        continue;
      }
      sends[message.from] = receives[message.to] = true;
      --out_[message.from];
      --in_[message.to];
      step.push_back({i, message.weight});
    }
    order_ = std::move(left);
    return step;
  }

 private:
  const MessageGraph& graph_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> out_;
  std::vector<std::size_t> in_;
};

/// Nobody has more than two of these. So they are paths and cycles of even length: two steps. The
/// heaviest of each path or cycle goes into the first step, so that the second one is short.
class TwoColours {
 public:
  TwoColours(const MessageGraph& graph, const std::vector<std::size_t>& messages)
      : graph_(graph),
        by_sender_(graph.processors),
        by_receiver_(graph.processors),
        colours_(graph.messages.size(), kNone) {
    for (const std::size_t i : messages) {
      by_sender_[graph.messages[i].from].push_back(i);
      by_receiver_[graph.messages[i].to].push_back(i);
    }
    for (const std::size_t i : messages) {  // Heaviest first.
      if (colours_[i] == kNone) colour_component(i);
    }
    for (const std::size_t i : messages) {
      steps_.at(colours_[i]).push_back({i, graph.messages[i].weight});
    }
  }

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

 private:
  static constexpr std::uint8_t kNone = 2;

  void colour_component(std::size_t first) {
    std::vector<std::size_t> open{first};
    colours_[first] = 0;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      const Message& message = graph_.messages[at];
      for (const auto* near : {&by_sender_[message.from], &by_receiver_[message.to]}) {
        for (const std::size_t other : *near) {
          if (colours_[other] != kNone) continue;
          colours_[other] = colours_[at] == 0 ? 1 : 0;
          open.push_back(other);
        }
      }
    }
  }

  const MessageGraph& graph_;
  std::vector<std::vector<std::size_t>> by_sender_;
  std::vector<std::vector<std::size_t>> by_receiver_;
  std::vector<std::uint8_t> colours_;
  std::vector<Step> steps_{2};
};

Schedule reduce_degrees(const MessageGraph& graph, std::size_t stop) {
  Schedule schedule;
  Rest rest(graph);
  while (rest.degree() > stop) schedule.steps.push_back(rest.take_step());
  if (rest.messages().empty()) return schedule;
  const TwoColours colours(graph, rest.messages());
  for (const Step& step : colours.steps()) {
    if (!step.empty()) schedule.steps.push_back(step);
  }
  return schedule;
}

}  // namespace

Schedule schedule_drc(const Order& order) {
  return reduce_degrees(order.graph, 2);
}

Schedule schedule_sdrc(const Order& order) {
  return reduce_degrees(order.graph, 0);
}

}  // namespace phx::redistribution
