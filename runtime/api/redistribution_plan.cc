#include "runtime/api/redistribution_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "collectives/redistribution/schedulers.h"

namespace phx {
namespace {

using redistribution::MessageGraph;
using redistribution::Order;
using redistribution::Schedule;

std::string name_of(Vnode v) {
  return "v" + std::to_string(v);
}

/// Each process sends to the one behind it first, then to the next but one: nobody meets.
Schedule schedule_rotation(const Order& order) {
  const std::size_t processors = order.graph.processors;
  std::map<std::size_t, redistribution::Step> steps;
  for (std::size_t i = 0; i < order.graph.messages.size(); ++i) {
    const auto& [from, to, weight] = order.graph.messages[i];
    steps[(to + processors - from - 1) % processors].push_back({i, weight});
  }
  Schedule schedule;
  for (auto& [distance, step] : steps) schedule.steps.push_back(std::move(step));
  return schedule;
}

/// All send to the first process first, then to the second: everybody meets.
Schedule schedule_ranks(const Order& order) {
  std::map<std::size_t, redistribution::Step> steps;
  for (std::size_t i = 0; i < order.graph.messages.size(); ++i) {
    const auto& message = order.graph.messages[i];
    steps[message.to].push_back({i, message.weight});
  }
  Schedule schedule;
  for (auto& [to, step] : steps) schedule.steps.push_back(std::move(step));
  return schedule;
}

using Make = Schedule (*)(const Order& order);

std::map<std::string, Make, std::less<>> all_orders() {
  std::map<std::string, Make, std::less<>> orders = {{"rotation", schedule_rotation},
                                                     {"ranks", schedule_ranks}};
  for (const auto& scheduler : redistribution::all_schedulers()) {
    orders.emplace(scheduler.name, scheduler.make);
  }
  return orders;
}

/// Empty: nothing, as with all of these.
std::string wrong_with_options(const std::vector<Declaration>& all) {
  const Declaration& first = all.front();
  for (Vnode v = 0; v < all.size(); ++v) {
    const Declaration& one = all[v];
    if (!one.problem.empty()) return one.problem;
    if (one.schedule == first.schedule && one.pace == first.pace &&
        one.setup_bytes == first.setup_bytes) {
      continue;
    }
    return "the process of " + name_of(v) + " asks for another schedule or pace than that of v0";
  }
  const auto orders = all_orders();
  if (orders.contains(first.schedule)) return {};
  std::string names;
  for (const auto& [name, make] : orders) names += (names.empty() ? "" : ", ") + name;
  return "there is no schedule '" + first.schedule + "'; there are " + names;
}

std::string wrong_with_ends(const std::vector<Declaration>& all) {
  const auto unknown = [&](Vnode v) -> std::string {
    if (v < all.size()) return {};
    return name_of(v) + ": the job has " + std::to_string(all.size()) + " vnodes";
  };
  for (Vnode v = 0; v < all.size(); ++v) {
    for (const auto& [to, bytes] : all[v].sent) {
      if (const auto who = unknown(to); !who.empty()) return name_of(v) + " sends to " + who;
    }
    for (const auto& [from, bytes] : all[v].expected) {
      const std::string who = unknown(from);
      if (!who.empty()) return name_of(v) + " expects something from " + who;
      if (bytes >= 0) continue;
      return name_of(v) + " expects " + std::to_string(bytes) + " bytes from " + name_of(from);
    }
  }
  return {};
}

std::int64_t size_in(const Sizes& sizes, Vnode v) {
  const auto found = sizes.find(v);
  return found == sizes.end() ? 0 : found->second;
}

/// REQUIRES that all ends exist.
std::string wrong_with_sizes(const std::vector<Declaration>& all) {
  const auto differ = [&](Vnode from, Vnode to) -> std::string {
    const std::int64_t sent = size_in(all[from].sent, to);
    const std::int64_t expected = size_in(all[to].expected, from);
    if (sent == expected) return {};
    return name_of(from) + " sends " + std::to_string(sent) + " bytes to " + name_of(to) +
           ", which expects " + std::to_string(expected);
  };
  for (Vnode v = 0; v < all.size(); ++v) {
    for (const auto& [to, bytes] : all[v].sent) {
      if (!all[to].is_checked) continue;
      if (auto what = differ(v, to); !what.empty()) return what;
    }
    for (const auto& [from, bytes] : all[v].expected) {
      if (auto what = differ(from, v); !what.empty()) return what;
    }
  }
  return {};
}

/// A message of the graph, as vnodes.
using Ends = std::pair<Vnode, Vnode>;

/// REQUIRES that all ends exist.
MessageGraph graph_of(const std::vector<Declaration>& all, std::vector<Ends>& ends) {
  std::map<std::uint64_t, std::size_t> places;
  for (const Declaration& one : all) places.emplace(one.processor, 0);
  MessageGraph graph;
  for (auto& [processor, place] : places) place = graph.processors++;
  for (Vnode from = 0; from < all.size(); ++from) {
    for (const auto& [to, bytes] : all[from].sent) {
      const std::size_t source = places.at(all[from].processor);
      const std::size_t target = places.at(all[to].processor);
      if (source == target) continue;
      // What is empty is sent, too.
      const auto weight = static_cast<std::uint64_t>(std::max<std::int64_t>(1, bytes));
      graph.messages.push_back({source, target, weight});
      ends.emplace_back(from, to);
    }
  }
  return graph;
}

}  // namespace

RedistributionPlan plan_redistribution(const std::vector<Declaration>& declarations) {
  for (const auto check : {wrong_with_options, wrong_with_ends, wrong_with_sizes}) {
    if (auto problem = check(declarations); !problem.empty()) return {std::move(problem), {}};
  }
  std::vector<Ends> ends;
  const MessageGraph graph = graph_of(declarations, ends);
  if (const Status status = graph.check(); !status.ok()) return {status.error().what, {}};
  const Declaration& first = declarations.front();
  const Make make = all_orders().find(first.schedule)->second;
  RedistributionPlan plan;
  for (const redistribution::Step& step : make({graph, first.setup_bytes}).steps) {
    std::vector<PlannedPart>& parts = plan.steps.emplace_back();
    for (const auto& [message, amount] : step) {
      const auto [from, to] = ends[message];
      const auto bytes = static_cast<std::uint64_t>(declarations[from].sent.at(to));
      parts.push_back({from, to, std::min(amount, bytes)});
    }
  }
  return plan;
}

}  // namespace phx
