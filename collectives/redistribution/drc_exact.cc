#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "collectives/redistribution/schedulers.h"
#include "overlay/base/check.h"

namespace phx::redistribution {
namespace {

constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

/// Step by step, a set of messages that touches everybody who has most of them left; there is one,
/// because a bipartite graph can be coloured with as many colours as its degree (Koenig). Each
/// begins with the heaviest messages and is mended along alternating paths.
class ExactSteps {
 public:
  explicit ExactSteps(const MessageGraph& graph) : graph_(graph), is_left_(graph.messages.size()) {
    std::vector<std::size_t> order(graph.messages.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return graph.messages[a].weight > graph.messages[b].weight;
    });
    for (Side& side : sides_) {
      side.messages.resize(graph.processors);
      side.degrees.resize(graph.processors);
    }
    for (const std::size_t i : order) {
      is_left_[i] = true;
      for (const std::size_t side : {kOut, kIn}) {
        sides_.at(side).messages[end_of(i, side)].push_back(i);
        ++sides_.at(side).degrees[end_of(i, side)];
      }
    }
    order_ = std::move(order);
  }

  Schedule run() {
    Schedule schedule;
    for (std::size_t most = degree(); most > 0; most = degree()) {
      choose_heaviest();
      for (const std::size_t side : {kOut, kIn}) {
        for (std::size_t i = 0; i < graph_.processors; ++i) {
          const bool is_missed = sides_.at(side).chosen[i] == kNothing;
          if (is_missed && sides_.at(side).degrees[i] == most) mend(side, i, most);
        }
      }
      schedule.steps.push_back(take());
    }
    return schedule;
  }

 private:
  static constexpr std::size_t kOut = 0;
  static constexpr std::size_t kIn = 1;

  /// Everybody as a sender, or as a receiver.
  struct Side {
    std::vector<std::vector<std::size_t>> messages;  ///< Heaviest first, gone ones among them.
    std::vector<std::size_t> degrees;                ///< Of those that are left.
    std::vector<std::size_t> chosen;                 ///< The message of this step.
  };

  [[nodiscard]] std::size_t end_of(std::size_t message, std::size_t side) const {
    return side == kOut ? graph_.messages[message].from : graph_.messages[message].to;
  }
  [[nodiscard]] std::size_t degree() const {
    std::size_t most = 0;
    for (const Side& side : sides_) {
      for (const std::size_t count : side.degrees) most = std::max(most, count);
    }
    return most;
  }

  void choose_heaviest() {
    for (Side& side : sides_) side.chosen.assign(graph_.processors, kNothing);
    for (const std::size_t i : order_) {
      std::size_t& sender = sides_[kOut].chosen[end_of(i, kOut)];
      std::size_t& receiver = sides_[kIn].chosen[end_of(i, kIn)];
      if (sender == kNothing && receiver == kNothing) sender = receiver = i;
    }
  }

  /// Looks for a way from `start` over messages that are not chosen to the other side, and back
  /// over chosen ones; up to somebody there who has none, or somebody here who can do without.
  void mend(std::size_t side, std::size_t start, std::size_t most) {
    const std::size_t other = 1 - side;
    std::vector<std::size_t> came_by(graph_.processors, kNothing);  // Of the other side: a message.
    std::vector<std::size_t> open{start};
    for (std::size_t at = 0; at < open.size(); ++at) {
      for (const std::size_t i : sides_.at(side).messages[open[at]]) {
        const std::size_t there = end_of(i, other);
        if (!is_left_[i] || came_by[there] != kNothing) continue;
        came_by[there] = i;
        const std::size_t back = sides_.at(other).chosen[there];
        if (back == kNothing) return flip(side, start, there, came_by);
        const std::size_t here = end_of(back, side);
        if (sides_.at(side).degrees[here] < most) {
          sides_.at(side).chosen[here] = kNothing;
          return flip(side, start, there, came_by);
        }
        open.push_back(here);
      }
    }
    PHX_CHECK(false);  // Koenig: there is always one.
  }

  void flip(std::size_t side, std::size_t start, std::size_t there,
            const std::vector<std::size_t>& came_by) {
    while (true) {
      const std::size_t message = came_by[there];
      const std::size_t here = end_of(message, side);
      const std::size_t before = sides_.at(side).chosen[here];
      sides_.at(side).chosen[here] = message;
      sides_.at(1 - side).chosen[there] = message;
      if (here == start) return;
      there = end_of(before, 1 - side);
    }
  }

  Step take() {
    Step step;
    for (std::size_t i = 0; i < graph_.processors; ++i) {
      const std::size_t message = sides_[kOut].chosen[i];
      if (message == kNothing) continue;
      step.push_back({message, graph_.messages[message].weight});
      is_left_[message] = false;
      --sides_[kOut].degrees[i];
      --sides_[kIn].degrees[end_of(message, kIn)];
    }
    std::erase_if(order_, [&](std::size_t i) { return !is_left_[i]; });
    return step;
  }

  const MessageGraph& graph_;
  std::array<Side, 2> sides_;
  std::vector<bool> is_left_;
  std::vector<std::size_t> order_;  ///< Those that are left, heaviest first.
};

}  // namespace

Schedule schedule_drc_exact(const Order& order) {
  return ExactSteps(order.graph).run();
}

}  // namespace phx::redistribution
