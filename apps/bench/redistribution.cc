#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <map>
#include <stdexcept>
#include <utility>

#include "apps/bench/workloads.h"

namespace bench {
namespace {

constexpr std::array<std::pair<phx::Pace, const char*>, 3> kPaces = {{
    {phx::Pace::kNoBarrier, "no-barrier"},
    {phx::Pace::kBarrierSend, "barrier-send"},
    {phx::Pace::kBarrierSendReceive, "barrier-send-receive"},
}};

/// Who sends how much to whom.
using Graph = std::map<phx::Vnode, std::map<phx::Vnode, std::uint64_t>>;

Graph read_graph(const std::string& path) {
  std::ifstream stream(path);
  Graph graph;
  phx::Vnode from = 0;
  phx::Vnode to = 0;
  std::uint64_t bytes = 0;
  while (stream >> from >> to >> bytes) graph[from][to] = bytes;
  if (graph.empty()) throw std::runtime_error("there is no graph in " + path);
  return graph;
}

/// What is sent: parts of one block, so that nothing is copied for it, and each pair of ends has
/// other bytes.
class Contents {
 public:
  explicit Contents(const Graph& graph) {
    std::uint64_t longest = 0;
    for (const auto& [from, row] : graph) {
      for (const auto& [to, bytes] : row) longest = std::max(longest, bytes);
    }
    std::vector<std::byte> block(longest + kShifts);
    std::uint64_t state = 1;
    for (std::byte& each : block) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      each = static_cast<std::byte>(state >> 56U);
    }
    block_ = phx::Payload(std::move(block));
  }
  [[nodiscard]] phx::Payload of(phx::Vnode from, phx::Vnode to, std::uint64_t bytes) const {
    return block_.slice((from * 131 + to * 17) % kShifts, bytes);
  }

 private:
  static constexpr std::uint64_t kShifts = 4096;
  phx::Payload block_;
};

/// One process's part of the redistribution of one graph, with each schedule and pace.
class Redistributor {
 public:
  Redistributor(phx::Session& job, const std::string& graph)
      : job_(job), graph_(read_graph(graph)), contents_(graph_) {
    for (const phx::Vnode v : job_.held()) {
      for (const auto& [to, bytes] : graph_[v]) sent_[v][to] = contents_.of(v, to, bytes);
    }
  }
  /// From the first one's call until the last one has everything.
  [[nodiscard]] double time_one(const std::string& schedule, phx::Pace pace) {
    job_.barrier();
    const double begin = clock_s();
    const phx::Parcels got = job_.redistribute_bytes(sent_, {.schedule = schedule, .pace = pace});
    const double end = clock_s();
    check(got);
    return job_.allreduce(phx::max, end) - job_.allreduce(phx::min, begin);
  }

 private:
  void check(const phx::Parcels& got) const {
    std::size_t count = 0;
    std::size_t wanted = 0;
    for (const auto& [to, column] : got) {
      count += column.size();
      for (const auto& [from, row] : graph_) {
        const auto found = row.find(to);
        if (found == row.end()) continue;
        ++wanted;
        const auto came = column.find(from);
        if (came == column.end() || came->second != contents_.of(from, to, found->second)) {
          throw std::runtime_error("v" + std::to_string(to) + " has not got what v" +
                                   std::to_string(from) + " sent it");
        }
      }
    }
    if (count != wanted) throw std::runtime_error("more came than was sent");
  }

  phx::Session& job_;
  Graph graph_;
  Contents contents_;
  phx::Parcels sent_;
};

}  // namespace

void redistribution(phx::Session& job, const RedistributionOptions& options) {
  if (!job.safe_point()) return;
  Redistributor redistributor(job, options.graph);
  static_cast<void>(redistributor.time_one("rotation", phx::Pace::kNoBarrier));
  const std::size_t variants = options.schedules.size() * kPaces.size();
  for (int round = 0; round < options.rounds; ++round) {
    // Another one begins each time: who comes first pays for what is not warm yet.
    for (std::size_t i = 0; i < variants; ++i) {
      constexpr std::size_t kShift = 5;
      const std::size_t at = (i + static_cast<std::size_t>(round) * kShift) % variants;
      const std::string& schedule = options.schedules[at / kPaces.size()];
      const auto& [pace, name] = kPaces[at % kPaces.size()];
      const double time = redistributor.time_one(schedule, pace);
      if (job.holds(0)) say(schedule + "/" + name, time);
    }
  }
}

}  // namespace bench
