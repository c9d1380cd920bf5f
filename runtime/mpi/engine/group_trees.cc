#include "runtime/mpi/engine/group_trees.h"

#include <algorithm>
#include <utility>

#include "overlay/network/network_words.h"

namespace phx::mpi {
namespace {

ProcessorSet set_of(const std::vector<ProcessorId>& processors) {
  ProcessorSet all;
  for (const ProcessorId one : processors) all.insert(one);
  return all;
}

}  // namespace

GroupTrees::GroupTrees(const overlay::KnownNetwork& network, std::vector<ProcessorId> processors)
    : processors_(std::move(processors)), plans_(network, set_of(processors_)) {
  for (std::size_t i = 0; i < processors_.size(); ++i) {
    ranks_.emplace(processors_[i], static_cast<int>(i));
  }
  is_wide_ = network.restricted_to(plans_.live()).sites.size() > 1;
}

GroupTrees::Place GroupTrees::place(const Message& message, std::uint64_t piece, int rank) {
  const TreeId tree{processors_[static_cast<std::size_t>(message.root)], TreeKind::kLearned,
                    learned_number(size_class(message.bytes), piece)};
  const std::lock_guard lock(mutex_);
  const TreeView view = plans_.view(tree, processors_[static_cast<std::size_t>(rank)]);
  Place place;
  if (view.parent) place.parent = ranks_.at(*view.parent);
  for (const TreeChild& child : view.children) place.children.push_back(ranks_.at(child.id));
  return place;
}

JobNetwork& JobNetwork::of_process() {
  static JobNetwork network;
  return network;
}

void JobNetwork::learn(std::string_view words) {
  auto read = overlay::network_of_words(words);
  if (read.ok() && !read.value().sites.empty()) network_ = std::move(read).value();
}

Ref<GroupTrees> JobNetwork::trees_of(const Group& group) const {
  if (!network_ || processors_.empty() || group.size() < 3) return {};
  std::vector<ProcessorId> there;
  for (const int process : group.processes()) {
    there.push_back(processors_[static_cast<std::size_t>(process)]);
  }
  if (set_of(there).size() < there.size()) return {};
  return Ref<GroupTrees>(new GroupTrees(*network_, std::move(there)));
}

}  // namespace phx::mpi
