#include "overlay/planners/pairs/pair_network.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace phx::planners {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

/// The cluster of each position, on one level.
using Seats = std::vector<std::size_t>;

Error cluster_error(std::size_t which, const std::string& what) {
  return Error{ErrorCode::kBadInput, "cluster " + std::to_string(which) + " " + what};
}

}  // namespace

PairNetwork::PairNetwork(std::size_t size)
    : overheads_(size), latencies_(size * size), byte_times_(size * size) {}

void PairNetwork::add_cluster(Cluster cluster) {
  std::sort(cluster.members.begin(), cluster.members.end());
  clusters_.push_back(std::move(cluster));
}

PairNetwork PairNetwork::reversed() const {
  PairNetwork result = *this;
  for (std::size_t from = 0; from < size(); ++from) {
    for (std::size_t to = 0; to < size(); ++to) {
      result.set_latency(to, from, latency(from, to));
      result.set_byte_time(to, from, byte_time(from, to));
    }
  }
  return result;
}

Status PairNetwork::check() const {
  std::map<std::size_t, Seats> levels;
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    if (clusters_[i].members.empty()) return cluster_error(i, "has no members");
    Seats& seats = levels.try_emplace(clusters_[i].level, size(), kNowhere).first->second;
    for (const std::size_t member : clusters_[i].members) {
      if (member >= size()) return cluster_error(i, "has a member that does not exist");
      if (seats[member] != kNowhere) return cluster_error(i, "shares a member on its level");
      seats[member] = i;
    }
  }
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    if (clusters_[i].level == 0) continue;
    const auto above = levels.find(clusters_[i].level - 1);
    if (above == levels.end()) return cluster_error(i, "has no level above it");
    const std::size_t around = above->second[clusters_[i].members.front()];
    for (const std::size_t member : clusters_[i].members) {
      const std::size_t seat = above->second[member];
      if (seat == kNowhere || seat != around) return cluster_error(i, "is not inside of one");
    }
  }
  return success();
}

MessageCost cost_of(const PairNetwork& network, CostModel model, std::size_t from, std::size_t to,
                    std::uint64_t bytes) {
  const Duration latency = network.latency(from, to);
  if (model == CostModel::kLatencyOnly) return {latency, latency};
  const double behind = static_cast<double>(std::max<std::uint64_t>(bytes, 1) - 1);
  const auto transmission = static_cast<Duration::rep>(behind * network.byte_time(from, to));
  const Duration sent = network.overhead(from) + Duration{transmission};
  const Duration arrival = sent + latency + network.overhead(to);
  return {model == CostModel::kBlocking ? arrival : sent, arrival};
}

PairCosts::PairCosts(const PairNetwork& network, CostModel model, std::uint64_t bytes)
    : speeds_(network.size()), costs_(network.size() * network.size()) {
  for (std::size_t from = 0; from < network.size(); ++from) {
    if (model != CostModel::kLatencyOnly) speeds_[from] = network.overhead(from);
    for (std::size_t to = 0; to < network.size(); ++to) {
      costs_[from * network.size() + to] = cost_of(network, model, from, to, bytes);
    }
  }
}

}  // namespace phx::planners
