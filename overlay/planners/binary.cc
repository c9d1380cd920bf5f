#include <algorithm>
#include <array>
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

/// The two trees over the members of one site, of which the first of `top` is fed from outside.
/// Inner processors of one are leaves of the other [Sanders09].
class SitePair {
 public:
  explicit SitePair(const Positions& members) {
    orders_[0] = orders_[1] = members;
    if (members.size() % 2 == 0) {
      std::reverse(orders_[1].begin(), orders_[1].end());
    } else if (!members.empty()) {
      std::rotate(orders_[1].begin(), orders_[1].begin() + 1, orders_[1].end());
    }
  }
  [[nodiscard]] bool is_empty() const { return orders_[0].empty(); }
  [[nodiscard]] std::size_t top(std::size_t tree) const {
    return orders_[tree][middle(1, orders_[tree].size()) - 1];
  }
  void append(std::size_t tree, std::vector<Positions>& children) const {
    append(orders_[tree], {1, orders_[tree].size()}, children);
  }

 private:
  /// Of first..last, counted from 1, an even one: so odd ones are leaves.
  static std::size_t middle(std::size_t first, std::size_t last) {
    const std::size_t half = (first + last) / 2;
    if (half % 2 == 0 || first == last) return half;
    return half + 1 <= last ? half + 1 : half - 1;
  }
  static void append(const Positions& order, std::pair<std::size_t, std::size_t> range,
                     std::vector<Positions>& children) {
    const auto [first, last] = range;
    if (first >= last) return;
    const std::size_t half = middle(first, last);
    if (last > half) children[order[half - 1]].push_back(order[middle(half + 1, last) - 1]);
    if (half > first) children[order[half - 1]].push_back(order[middle(first, half - 1) - 1]);
    append(order, {half + 1, last}, children);
    append(order, {first, half - 1}, children);
  }

  std::array<Positions, 2> orders_;
};

/// Where the ways between sites begin.
struct Joints {
  bool is_star = false;   ///< In the root's site, all of them; else each site feeds the next one.
  bool is_early = false;  ///< At the top of a site; else at who has least to send.
};

class TwoTreeDraft {
 public:
  TwoTreeDraft(const Task& task, const std::vector<Positions>& sites, Joints joints)
      : task_(task), joints_(joints), sites_(sites) {
    for (auto& tree : children_) tree.resize(task.costs.size());
    for (std::size_t site = 0; site < sites.size(); ++site) {
      const bool is_home = site == 0;  // Its first member is the root, which is in neither tree.
      pairs_.emplace_back(Positions(sites[site].begin() + (is_home ? 1 : 0), sites[site].end()));
    }
  }

  std::vector<Links> run() {
    for (std::size_t tree = 0; tree < children_.size(); ++tree) {
      if (!pairs_[0].is_empty()) children_[tree][task_.root].push_back(pairs_[0].top(tree));
      for (const SitePair& pair : pairs_) {
        if (!pair.is_empty()) pair.append(tree, children_[tree]);
      }
    }
    for (std::size_t site = 1; site < sites_.size(); ++site) {
      for (std::size_t tree = 0; tree < children_.size(); ++tree) join(site, tree);
    }
    std::vector<Links> links;
    for (const auto& tree : children_) links.push_back(breadth_first(tree, task_.root));
    return links;
  }

 private:
  void join(std::size_t site, std::size_t tree) {
    const std::size_t from = joints_.is_star ? 0 : site - 1;
    Positions& below = children_[tree][giver(from, tree)];
    // Ways between sites are the longest ones, so they are served first.
    below.insert(below.begin(), pairs_[site].top(tree));
  }

  [[nodiscard]] std::size_t giver(std::size_t site, std::size_t tree) const {
    if (joints_.is_early) return site == 0 ? task_.root : pairs_[site].top(tree);
    std::size_t best = sites_[site].front();
    for (const std::size_t member : sites_[site]) {
      if (load(member) < load(best)) best = member;
    }
    return best;
  }

  [[nodiscard]] std::size_t load(std::size_t member) const {
    return children_[0][member].size() + children_[1][member].size();
  }

  const Task& task_;
  Joints joints_;
  const std::vector<Positions>& sites_;
  std::vector<SitePair> pairs_;
  std::array<std::vector<Positions>, 2> children_;
};

}  // namespace

/// [Kielmann00]: a tree of two children each, cut into segments.
Plan plan_binary(const Task& task) {
  const Links links = breadth_first(BinaryDraft(task).run(), task.root);
  return tree_plan(task, "binary", {links}, /*cut=*/true);
}

/// [Sanders09], with one pair of trees per site; the joints between them are what is predicted to
/// be best.
Plan plan_two_tree(const Task& task) {
  const std::vector<Positions> sites = sites_in_chain(task);
  std::vector<Links> best;
  Duration least = kForever;
  for (const Joints joints :
       {Joints{false, false}, Joints{false, true}, Joints{true, false}, Joints{true, true}}) {
    std::vector<Links> links = TwoTreeDraft(task, sites, joints).run();
    const Duration time = predicted(task, links, best_segment(task, links));
    if (time >= least) continue;
    least = time;
    best = std::move(links);
  }
  return tree_plan(task, "two-tree", best, /*cut=*/true);
}

}  // namespace phx::planners
