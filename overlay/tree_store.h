#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "overlay/base/tree_view.h"

namespace phx::overlay {

/// What one processor knows of all trees, whoever makes them: adaptive trees, planners, files.
/// Those who make trees put views in; collectives look them up by their names, and know no
/// producer. Not thread-safe.
class TreeStore {
 public:
  /// From now on this is the view of `view.id`.
  void put(TreeView view) {
    const TreeId id = view.id;
    views_.insert_or_assign(id, std::move(view));
  }
  void drop(TreeId id) { views_.erase(id); }
  /// Null: unknown. Valid until the next put() or drop() of this tree.
  [[nodiscard]] const TreeView* view(TreeId id) const {
    const auto found = views_.find(id);
    return found == views_.end() ? nullptr : &found->second;
  }
  /// The tree that collectives of `root` take now: planned ones in turns, by the number of the
  /// piece, if there are any; else its latency tree, whether it is known here or not.
  [[nodiscard]] TreeId in_use(ProcessorId root, std::uint64_t piece = 0) const {
    const auto behind = views_.upper_bound({root, TreeKind::kPlanned, kLastNumber});
    if (behind != views_.begin()) {
      const TreeId last = std::prev(behind)->first;
      const std::uint64_t count = std::uint64_t{last.number} + 1;
      if (last.root == root && last.kind == TreeKind::kPlanned) {
        return {root, TreeKind::kPlanned, static_cast<std::uint32_t>(piece % count)};
      }
    }
    return {root, TreeKind::kLatency};
  }
  /// Plans are for the members that they were made for.
  /// True: there were some.
  bool drop_planned() {
    return std::erase_if(
               views_, [](const auto& view) { return view.first.kind == TreeKind::kPlanned; }) > 0;
  }
  [[nodiscard]] std::size_t size() const { return views_.size(); }

 private:
  static constexpr std::uint32_t kLastNumber = std::numeric_limits<std::uint32_t>::max();

  std::map<TreeId, TreeView> views_;
};

}  // namespace phx::overlay
