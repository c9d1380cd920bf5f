#include "collectives/redistribution/regular_graph.h"

#include <algorithm>
#include <vector>

namespace phx::redistribution {
namespace {

std::uint64_t ceiling(std::uint64_t value, std::uint64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

class Filling {
 public:
  Filling(const MessageGraph& graph, std::uint64_t unit, std::size_t at_once) {
    BipartiteGraph& made = result_.graph;
    made.lefts = made.rights = graph.processors;
    for (const Message& message : graph.messages) {
      made.edges.push_back({message.from, message.to, ceiling(message.weight, unit)});
    }
    measure();
    add_slack(at_once);
    // Only those who are there now: who is added is full.
    const std::size_t lefts = made.lefts;
    const std::size_t rights = made.rights;
    fill(true, lefts);
    fill(false, rights);
  }

  [[nodiscard]] RegularGraph take() { return std::move(result_); }

 private:
  /// Who has how much.
  void measure() {
    left_.assign(result_.graph.lefts, 0);
    right_.assign(result_.graph.rights, 0);
    for (const WeightedEdge& edge : result_.graph.edges) {
      left_[edge.left] += edge.weight;
      right_[edge.right] += edge.weight;
    }
  }

  /// Pairs beside the messages, so that all together weigh `at_once` times the whole time.
  void add_slack(std::size_t at_once) {
    BipartiteGraph& made = result_.graph;
    std::uint64_t total = 0;
    for (const std::uint64_t weight : left_) total += weight;
    const std::uint64_t heaviest = std::max(*std::max_element(left_.begin(), left_.end()),
                                            *std::max_element(right_.begin(), right_.end()));
    result_.weight = std::max(heaviest, ceiling(total, at_once));
    std::uint64_t slack = result_.weight * at_once - total;
    while (slack > 0) {
      const std::uint64_t weight = std::min(slack, heaviest);
      made.edges.push_back({made.lefts++, made.rights++, weight});
      slack -= weight;
    }
    measure();
  }

  /// Gives everybody of one side what is missing, from new ones of the other side, each of which
  /// is full in the end.
  void fill(bool is_left, std::size_t count) {
    BipartiteGraph& made = result_.graph;
    std::size_t& added = is_left ? made.rights : made.lefts;
    std::uint64_t room = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t need = result_.weight - (is_left ? left_[i] : right_[i]);
      while (need > 0) {
        if (room == 0) {
          ++added;
          room = result_.weight;
        }
        const std::uint64_t weight = std::min(need, room);
        made.edges.push_back(is_left ? WeightedEdge{i, added - 1, weight}
                                     : WeightedEdge{added - 1, i, weight});
        need -= weight;
        room -= weight;
      }
    }
  }

  RegularGraph result_;
  std::vector<std::uint64_t> left_;
  std::vector<std::uint64_t> right_;
};

}  // namespace

RegularGraph regular_graph(const MessageGraph& graph, std::uint64_t unit, std::size_t at_once) {
  return Filling(graph, unit, at_once).take();
}

}  // namespace phx::redistribution
