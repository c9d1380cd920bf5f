#pragma once

#include <cstddef>
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
  [[nodiscard]] std::size_t size() const { return views_.size(); }

 private:
  std::map<TreeId, TreeView> views_;
};

}  // namespace phx::overlay
