#include "runtime/mpi/groups/group.h"

#include <algorithm>

#include "runtime/mpi/base/errors.h"

namespace phx::mpi {

Group::Group(std::vector<int> processes) : processes_(std::move(processes)) {
  bool is_identity = true;
  for (int rank = 0; rank < size(); ++rank) is_identity = is_identity && process(rank) == rank;
  if (is_identity) return;
  ranks_.reserve(processes_.size());
  for (int rank = 0; rank < size(); ++rank) ranks_.emplace_back(process(rank), rank);
  std::sort(ranks_.begin(), ranks_.end());
}

int Group::rank_of(int process) const {
  if (ranks_.empty()) return process >= 0 && process < size() ? process : MPI_UNDEFINED;
  const auto found =
      std::lower_bound(ranks_.begin(), ranks_.end(), std::pair<int, int>(process, -1));
  return found != ranks_.end() && found->first == process ? found->second : MPI_UNDEFINED;
}

std::vector<int> Group::shared(const Group& other, bool in_both) const {
  std::vector<int> result;
  for (const int process : processes_) {
    if ((other.rank_of(process) != MPI_UNDEFINED) == in_both) result.push_back(process);
  }
  return result;
}

std::vector<int> Group::united(const Group& other) const {
  std::vector<int> result = processes_;
  const std::vector<int> added = other.shared(*this, false);
  result.insert(result.end(), added.begin(), added.end());
  return result;
}

int Group::compared(const Group& other) const {
  if (processes_ == other.processes_) return MPI_IDENT;
  const bool is_equal_set = size() == other.size() && shared(other, false).empty();
  return is_equal_set ? MPI_SIMILAR : MPI_UNEQUAL;
}

void Group::check(std::span<const int> ranks) const {
  std::vector<bool> seen(processes_.size());
  for (const int rank : ranks) {
    require(rank >= 0 && rank < size(), MPI_ERR_RANK, "a rank is not in the group");
    require(!seen[static_cast<std::size_t>(rank)], MPI_ERR_RANK, "a rank is named twice");
    seen[static_cast<std::size_t>(rank)] = true;
  }
}

std::vector<int> Group::chosen(std::span<const int> ranks) const {
  check(ranks);
  std::vector<int> result;
  for (const int rank : ranks) result.push_back(process(rank));
  return result;
}

std::vector<int> Group::without(std::span<const int> ranks) const {
  check(ranks);
  std::vector<bool> left_out(processes_.size());
  for (const int rank : ranks) left_out[static_cast<std::size_t>(rank)] = true;
  std::vector<int> result;
  for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
    if (!left_out[rank]) result.push_back(processes_[rank]);
  }
  return result;
}

std::vector<int> expanded(const Group& group, std::span<const int[3]> ranges) {
  std::vector<int> ranks;
  for (const auto& range : ranges) {
    const MPI_Count first = range[0];
    const MPI_Count last = range[1];
    const MPI_Count stride = range[2];
    require(stride != 0, MPI_ERR_ARG, "the stride of a range is zero");
    require(first == last || (last > first) == (stride > 0), MPI_ERR_ARG,
            "the stride of a range leads away from its last rank");
    const MPI_Count end = first + (last - first) / stride * stride;  // the last one that it meets
    const auto is_rank = [&](MPI_Count rank) { return rank >= 0 && rank < group.size(); };
    require(is_rank(first) && is_rank(end), MPI_ERR_RANK, "a rank is not in the group");
    for (MPI_Count rank = first; rank != end + stride; rank += stride) {
      ranks.push_back(static_cast<int>(rank));
    }
  }
  return ranks;
}

Handles<Group>& groups() {
  static Handles<Group>& all = *[] {
    auto* table = new Handles<Group>(Kind::kGroup);
    table->predefine(MPI_GROUP_EMPTY, new Group({}));
    return table;
  }();
  return all;
}

Group& group_of(MPI_Group handle) {
  Group* found = groups().find(handle);
  require(found != nullptr, MPI_ERR_GROUP, "the group is null, freed or never made");
  return *found;
}

int& own_process() {
  static int process = 0;
  return process;
}

}  // namespace phx::mpi
