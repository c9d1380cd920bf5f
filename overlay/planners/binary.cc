#include <algorithm>
#include <utility>

#include "overlay/planners/shapes.h"

namespace phx::planners {
namespace {

/// A tree whose processors have two children at most, and whose ways between sites begin near the
/// root: members of its site take one coordinator and one of their own each, until all sites have
/// one; then each site goes on as a heap.
class BinaryDraft {
 public:
  explicit BinaryDraft(const Task& task)
      : sites_(sites_from_root(task)), next_(sites_.size(), 1), children_(task.costs.size()) {}

  std::vector<Positions> run() {
    queue_.push_back({sites_[0].front(), 0});
    // The root's site first: others feed sites only if it is too small for that.
    while (!queue_.empty()) {
      grow();
      queue_ = std::exchange(others_, {});
    }
    return std::move(children_);
  }

 private:
  static constexpr std::size_t kChildren = 2;
  struct Member {
    std::size_t position;
    std::size_t site;
  };

  void grow() {
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const Member member = queue_[i];
      take_site(member.position);
      while (has_room(member.position) && take_own(member)) {
      }
      while (has_room(member.position) && has_site()) take_site(member.position);
    }
  }

  [[nodiscard]] bool has_room(std::size_t parent) const {
    return children_[parent].size() < kChildren;
  }
  [[nodiscard]] bool has_site() const { return next_site_ < sites_.size(); }

  void take_site(std::size_t parent) {
    if (!has_site() || !has_room(parent)) return;
    children_[parent].push_back(sites_[next_site_].front());
    others_.push_back({sites_[next_site_].front(), next_site_});
    ++next_site_;
  }

  bool take_own(const Member& parent) {
    const Positions& site = sites_[parent.site];
    std::size_t& next = next_[parent.site];
    if (next >= site.size()) return false;
    children_[parent.position].push_back(site[next]);
    queue_.push_back({site[next], parent.site});
    ++next;
    return true;
  }

  std::vector<Positions> sites_;
  std::vector<std::size_t> next_;  ///< Per site: the first member without a parent.
  std::size_t next_site_ = 1;      ///< The first site without a parent.
  std::vector<Positions> children_;
  std::vector<Member> queue_;
  std::vector<Member> others_;  ///< Coordinators that have a parent now.
};

}  // namespace

/// [Kielmann00]: a tree of two children each, cut into segments.
Plan plan_binary(const Task& task) {
  const Links links = breadth_first(BinaryDraft(task).run(), task.root);
  return tree_plan(task, "binary", {links}, /*cut=*/true);
}

}  // namespace phx::planners
