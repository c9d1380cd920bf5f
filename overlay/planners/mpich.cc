#include "overlay/planners/mpich.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "overlay/planners/shapes.h"

namespace phx::planners {

MpichSchedule::MpichSchedule(const Costs& costs, std::span<const std::size_t> members,
                             std::uint64_t bytes)
    : costs_(costs),
      members_(members),
      bytes_(bytes),
      piece_((bytes + members.size() - 1) / members.size()) {}

void MpichSchedule::append_pieces(std::vector<Transfer>& transfers,
                                  std::pair<std::size_t, std::size_t> ends, std::size_t first,
                                  std::size_t count) const {
  const std::uint64_t begin = std::min(bytes_, first * piece_);
  const std::uint64_t end = std::min(bytes_, (first + count) * piece_);
  if (begin == end) return;
  transfers.push_back(
      {costs_.id(members_[ends.first]), costs_.id(members_[ends.second]), begin, end - begin});
}

void MpichSchedule::append_binomial(std::vector<Transfer>& transfers) const {
  Links links;
  planners::append_binomial(links, members_);
  for (const auto& [from, to] : links) {
    transfers.push_back({costs_.id(from), costs_.id(to), 0, bytes_});
  }
}

void MpichSchedule::append_scatter(std::vector<Transfer>& transfers) const {
  const std::size_t count = members_.size();
  for (std::size_t mask = std::bit_ceil(count) / 2; mask > 0; mask /= 2) {
    for (std::size_t i = 0; i + mask < count; i += 2 * mask) {
      append_pieces(transfers, {i, i + mask}, i + mask, std::min(mask, count - i - mask));
    }
  }
}

void MpichSchedule::append_ring(std::vector<Transfer>& transfers) const {
  const std::size_t count = members_.size();
  append_scatter(transfers);
  for (std::size_t step = 0; step + 1 < count; ++step) {
    for (std::size_t i = 0; i < count; ++i) {
      append_pieces(transfers, {i, (i + 1) % count}, (i + count - step) % count, 1);
    }
  }
}

void MpichSchedule::append_doubling(std::vector<Transfer>& transfers) const {
  const std::size_t count = members_.size();
  append_scatter(transfers);
  for (std::size_t mask = 1; mask < count; mask *= 2) {
    for (std::size_t i = 0; i < count; ++i) {
      append_pieces(transfers, {i, i ^ mask}, i & ~(mask - 1), mask);
    }
  }
}

void MpichSchedule::append(std::vector<Transfer>& transfers) const {
  if (bytes_ < kMpichShort || members_.size() < kMpichFew) return append_binomial(transfers);
  if (bytes_ < kMpichLong && std::has_single_bit(members_.size())) {
    return append_doubling(transfers);
  }
  append_ring(transfers);
}

namespace {

Plan schedule(const Task& task, std::string_view algorithm) {
  Plan plan;
  plan.algorithm = algorithm;
  plan.root = task.costs.id(task.root);
  plan.bytes = task.bytes;
  return plan;
}

/// Who is alone has nothing to send.
Plan only_root(const Task& task, std::string_view algorithm) {
  return tree_plan(task, algorithm, {{}}, /*cut=*/false);
}

}  // namespace

Plan plan_mpich(const Task& task) {
  constexpr std::string_view kName = "mpich";
  if (task.costs.size() == 1) return only_root(task, kName);
  Plan plan = schedule(task, kName);
  const Positions ranks = from_root(task);
  MpichSchedule(task.costs, ranks, task.bytes).append(plan.transfers);
  return plan;
}

Plan plan_mpich_ring(const Task& task) {
  constexpr std::string_view kName = "mpich-ring";
  if (task.costs.size() == 1) return only_root(task, kName);
  Plan plan = schedule(task, kName);
  const Positions ranks = from_root(task);
  const MpichSchedule all(task.costs, ranks, task.bytes);
  if (task.bytes == 0) {
    all.append_binomial(plan.transfers);  // There is nothing to cut.
  } else {
    all.append_ring(plan.transfers);
  }
  return plan;
}

/// [Saito08 s.2.2]: whole to the coordinators, then as MPICH in each site.
Plan plan_magpie_long(const Task& task) {
  constexpr std::string_view kName = "magpie-long";
  if (task.costs.size() == 1) return only_root(task, kName);
  Plan plan = schedule(task, kName);
  const std::vector<Positions> sites = sites_from_root(task);
  for (const Positions& site : sites) {
    if (site.front() == task.root) continue;
    plan.transfers.push_back({plan.root, task.costs.id(site.front()), 0, task.bytes});
  }
  for (const Positions& site : sites) {
    if (site.size() > 1) MpichSchedule(task.costs, site, task.bytes).append(plan.transfers);
  }
  return plan;
}

}  // namespace phx::planners
