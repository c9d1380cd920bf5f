#include "runtime/api/redistribution_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "collectives/redistribution/known_ways.h"
#include "runtime/api/redistribution_choice.h"

namespace phx {
namespace {

using redistribution::MessageGraph;

std::string name_of(Vnode v) {
  return "v" + std::to_string(v);
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
  const auto schedules = all_schedules();
  if (first.schedule == kPredicted || schedules.contains(first.schedule)) return {};
  std::string names(kPredicted);
  for (const auto& [name, make] : schedules) names += ", " + name;
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

/// In the order of positions.
std::vector<ProcessorId> processors_of(const std::vector<Declaration>& all) {
  ProcessorSet processors;
  for (const Declaration& one : all) {
    processors.insert(ProcessorId{static_cast<ProcessorId::rep>(one.processor)});
  }
  return processors.ids();
}

/// REQUIRES that all ends exist.
MessageGraph graph_of(const std::vector<Declaration>& all,
                      const std::vector<ProcessorId>& processors, std::vector<Ends>& ends) {
  std::map<std::uint64_t, std::size_t> places;
  MessageGraph graph;
  for (const ProcessorId processor : processors) places[processor.value] = graph.processors++;
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

RedistributionPlan plan_redistribution(const std::vector<Declaration>& declarations,
                                       const Planning& planning) {
  for (const auto check : {wrong_with_options, wrong_with_ends, wrong_with_sizes}) {
    if (auto problem = check(declarations); !problem.empty()) return {std::move(problem), {}};
  }
  std::vector<Ends> ends;
  const std::vector<ProcessorId> processors = processors_of(declarations);
  const MessageGraph graph = graph_of(declarations, processors, ends);
  if (const Status status = graph.check(); !status.ok()) return {status.error().what, {}};
  const Declaration& first = declarations.front();
  const redistribution::Ways ways = redistribution::ways_between(planning.network, processors);
  const ScheduleTask task{graph, ways, first.pace, first.setup_bytes, planning.clock};
  const ChosenSchedule chosen =
      first.schedule == kPredicted ? choose_schedule(task) : make_schedule(first.schedule, task);
  RedistributionPlan plan;
  for (const redistribution::Step& step : chosen.schedule.steps) {
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
