#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "overlay/base/tree_view.h"
#include "overlay/planners/shapes.h"

namespace phx::planners {
namespace {

/// Whoever has less than this of the others' bandwidth passes nothing on.
constexpr double kSlow = 0.5;

bool is_slow(std::uint64_t rate, std::uint64_t usual) {
  return static_cast<double>(rate) < kSlow * static_cast<double>(usual);
}

/// Some trees over the members of one site, with as many children each as there are trees. Inner
/// processors of one are leaves of the others, so each sends what it gets [Sanders09; Castro03];
/// of a few that have room in their own tree each takes one child in another one. In two trees a
/// range of the members is below each.
class SiteTrees {
 public:
  SiteTrees(const Positions& members, std::size_t trees) : orders_(trees) {
    if (trees == 2) {
      order_pair(members);
    } else if (members.size() < trees) {
      order_few(members);
    } else {
      order_many(members);
    }
  }
  [[nodiscard]] bool is_empty() const { return orders_[0].empty(); }
  [[nodiscard]] std::size_t top(std::size_t tree) const {
    const Positions& order = orders_[tree];
    return is_pair() ? order[middle(1, order.size()) - 1] : order.front();
  }
  void append(std::size_t tree, std::vector<Positions>& children) const {
    const Positions& order = orders_[tree];
    if (is_pair()) return append_range(order, {1, order.size()}, children);
    const std::size_t trees = orders_.size();
    const std::size_t own = order.size() / trees + (tree < order.size() % trees ? 1 : 0);
    const auto parent = [&](std::size_t i) {
      if (own == 0) return (i - 1) / 2;
      const std::size_t full = own * trees;  // edges of these
      return i <= full ? (i - 1) / trees : own + i - 1 - full;
    };
    for (std::size_t i = 1; i < order.size(); ++i) children[order[parent(i)]].push_back(order[i]);
  }

 private:
  void order_pair(const Positions& members) {
    orders_[0] = orders_[1] = members;
    if (members.size() % 2 == 0) {
      std::reverse(orders_[1].begin(), orders_[1].end());
    } else if (!members.empty()) {
      std::rotate(orders_[1].begin(), orders_[1].begin() + 1, orders_[1].end());
    }
  }
  /// Some trees have none of their own, and are binary ones that begin at other members each.
  void order_few(const Positions& members) {
    const std::size_t count = members.size();
    for (std::size_t tree = 0; tree < orders_.size(); ++tree) {
      const std::size_t first = tree < count ? tree : 2 * tree;
      for (std::size_t i = 0; i < count; ++i) {
        orders_[tree].push_back(members[(first + i) % count]);
      }
    }
  }
  /// The first one is inner in the first tree, and so on. Where some trees have one more of their
  /// own than others, the last ones of these have room for what others are too few for.
  void order_many(const Positions& members) {
    const std::size_t trees = orders_.size();
    const std::size_t last = members.size() - members.size() % trees;
    for (std::size_t tree = 0; tree < trees; ++tree) {
      Positions& order = orders_[tree];
      for (std::size_t i = tree; i < members.size(); i += trees) order.push_back(members[i]);
      for (std::size_t i = last; i < members.size(); ++i) {
        if (i % trees != tree) order.push_back(members[i]);
      }
      for (std::size_t next = 1; next < trees; ++next) {
        for (std::size_t i = (tree + next) % trees; i < last; i += trees) {
          order.push_back(members[i]);
        }
      }
    }
  }
  [[nodiscard]] bool is_pair() const { return orders_.size() == 2; }
  /// Of first..last, counted from 1, an even one: so odd ones are leaves.
  static std::size_t middle(std::size_t first, std::size_t last) {
    const std::size_t half = (first + last) / 2;
    if (half % 2 == 0 || first == last) return half;
    return half + 1 <= last ? half + 1 : half - 1;
  }
  static void append_range(const Positions& order, std::pair<std::size_t, std::size_t> range,
                           std::vector<Positions>& children) {
    const auto [first, last] = range;
    if (first >= last) return;
    const std::size_t half = middle(first, last);
    if (last > half) children[order[half - 1]].push_back(order[middle(half + 1, last) - 1]);
    if (half > first) children[order[half - 1]].push_back(order[middle(first, half - 1) - 1]);
    append_range(order, {half + 1, last}, children);
    append_range(order, {first, half - 1}, children);
  }

  /// More than two: a tree's own, which are inner, come first, then those who have room.
  std::vector<Positions> orders_;
};

/// Whom the trees may lead through, and who is only fed by them.
struct Paths {
  std::vector<Positions> sites;   ///< In the order of a chain; without those that are slow in it.
  std::vector<Positions> slow;    ///< Members per site that are slow in it.
  std::vector<std::size_t> fast;  ///< Sites that are fed at full rate; the root's is the first.
  std::vector<std::pair<std::size_t, std::size_t>> narrow;  ///< The others: who feeds whom.
  bool leave_once = false;  ///< All ways out of the root's site are narrow, and others are not.

  /// Of the way from one site to another one.
  [[nodiscard]] std::uint64_t rate(const Costs& costs, std::size_t from, std::size_t to) const {
    return costs.rate(sites[from].front(), sites[to].front());
  }
};

std::uint64_t median_width(const Costs& costs, const Positions& members) {
  std::vector<std::uint64_t> widths;
  for (const std::size_t i : members) widths.push_back(costs.width(i));
  std::nth_element(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2),
                   widths.end());
  return widths[widths.size() / 2];
}

/// Widest paths from the root's site, one after the other; of equally wide ways the one from the
/// site that was reached last, so that the sites form a chain.
void find_narrow(const Costs& costs, const std::vector<std::uint64_t>& widths, Paths& paths) {
  const std::size_t count = paths.sites.size();
  std::vector<std::uint64_t> reach(count);
  std::vector<std::size_t> feeder(count);
  std::vector<std::size_t> order{0};
  std::vector<bool> is_reached(count);
  is_reached[0] = true;
  reach[0] = overlay::kUnlimited;
  const auto see = [&](std::size_t from) {
    for (std::size_t to = 0; to < count; ++to) {
      const std::uint64_t way = paths.rate(costs, from, to);
      const std::uint64_t width = std::min({reach[from], way, widths[from], widths[to]});
      if (is_reached[to] || width < reach[to]) continue;
      reach[to] = width;
      feeder[to] = from;
    }
  };
  see(0);
  while (order.size() < count) {
    std::size_t best = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_reached[i] && (best == count || reach[i] > reach[best])) best = i;
    }
    is_reached[best] = true;
    order.push_back(best);
    see(best);
  }
  const std::uint64_t most = count > 1 ? *std::max_element(reach.begin() + 1, reach.end()) : 0;
  for (std::size_t from = 1; from < count; ++from) {
    for (std::size_t to = 1; to < count; ++to) {
      const std::uint64_t way = paths.rate(costs, from, to);
      const std::uint64_t width = std::min({way, widths[from], widths[to]});
      if (from != to && is_slow(most, width)) paths.leave_once = true;
    }
  }
  for (const std::size_t site : order) {
    if (site == 0 || !is_slow(reach[site], most)) continue;
    paths.narrow.emplace_back(feeder[site], site);
  }
  for (std::size_t site = 0; site < count; ++site) {
    if (site == 0 || !is_slow(reach[site], most)) paths.fast.push_back(site);
  }
}

Paths paths_of(const Task& task) {
  Paths paths;
  std::vector<std::uint64_t> widths;
  for (const Positions& members : sites_in_chain(task)) {
    const std::uint64_t usual = median_width(task.costs, members);
    const auto stands_still = [&](std::size_t i) { return task.costs.wait(i) > Duration{}; };
    const auto still = std::ranges::count_if(members, stands_still);
    Positions& fast = paths.sites.emplace_back();
    Positions& slow = paths.slow.emplace_back();
    const auto deal = [&](bool is_rest_enough) {
      fast.clear();
      slow.clear();
      for (const std::size_t i : members) {
        const bool is_leaf =
            is_slow(task.costs.width(i), usual) || (is_rest_enough && stands_still(i));
        (is_leaf && i != task.root ? slow : fast).push_back(i);
      }
    };
    deal(2 * still <= std::ssize(members));
    if (fast.empty()) deal(false);  // Who is not slow stands still.
    widths.push_back(usual);
  }
  find_narrow(task.costs, widths, paths);
  return paths;
}

/// Where the ways between sites begin.
struct Joints {
  enum class Shape : std::uint8_t {
    kChain,  ///< Each site feeds the next one.
    kStar,   ///< The root's site feeds all.
    kFan,    ///< It feeds one, which feeds all others: another one in each tree.
  };
  Shape shape = Shape::kChain;
  enum class From : std::uint8_t {
    kIdlest,  ///< At who has least to send.
    kTop,     ///< At the top of the tree in the site; in the root's site at the root.
    kTops,    ///< The same, but in the root's site at the top, too: the root sends all only once.
  };
  From from = From::kIdlest;
};
constexpr std::array kShapes = {Joints::Shape::kChain, Joints::Shape::kStar, Joints::Shape::kFan};
constexpr std::array kFroms = {Joints::From::kIdlest, Joints::From::kTop, Joints::From::kTops};

class StripedDraft {
 public:
  StripedDraft(const Task& task, const Paths& paths, std::size_t trees, Joints joints)
      : task_(task), joints_(joints), paths_(paths), children_(trees) {
    for (auto& tree : children_) tree.resize(task.costs.size());
    for (std::size_t site = 0; site < paths.sites.size(); ++site) {
      const Positions& members = paths.sites[site];
      const bool is_home = site == 0;  // Its first member is the root, which is in none of them.
      const Positions others(members.begin() + (is_home ? 1 : 0), members.end());
      sites_.emplace_back(others, trees);
    }
    for (std::size_t tree = 0; tree < trees; ++tree) {
      if (!sites_[0].is_empty()) children_[tree][task_.root].push_back(sites_[0].top(tree));
      for (const std::size_t site : paths.fast) sites_[site].append(tree, children_[tree]);
    }
    if (joints.shape == Joints::Shape::kFan) find_entries();
    for (std::size_t i = 1; i < paths.fast.size(); ++i) {
      for (std::size_t tree = 0; tree < trees; ++tree) join(i, tree);
    }
  }

  /// Whoever is slow, or behind a narrow way, comes after those who are not.
  void add_slow() {
    for (const auto& [feeder, site] : paths_.narrow) {
      for (std::size_t tree = 0; tree < children_.size(); ++tree) {
        sites_[site].append(tree, children_[tree]);
        children_[tree][idlest(feeder)].push_back(sites_[site].top(tree));
      }
    }
    for (std::size_t site = 0; site < paths_.sites.size(); ++site) {
      if (!paths_.slow[site].empty()) add_slow(paths_.slow[site], paths_.sites[site]);
    }
  }

  [[nodiscard]] std::vector<Links> links() const {
    std::vector<Links> links;
    for (const auto& tree : children_) links.push_back(breadth_first(tree, task_.root));
    return links;
  }

 private:
  /// Each leaf comes below whoever of the givers has least to send then. There may be thousands of
  /// both.
  void add_slow(const Positions& leaves, const Positions& givers) {
    std::set<std::pair<std::size_t, std::size_t>> by_load;  ///< And their places.
    for (std::size_t i = 0; i < givers.size(); ++i) by_load.emplace(load(givers[i]), i);
    for (const std::size_t leaf : leaves) {
      for (auto& tree : children_) {
        const auto [least, place] = *by_load.begin();
        by_load.erase(by_load.begin());
        by_load.emplace(least + 1, place);
        tree[givers[place]].push_back(leaf);
      }
    }
  }

  void join(std::size_t i, std::size_t tree) {
    const std::size_t site = paths_.fast[i];
    const std::size_t from = feeder(i, tree);
    Positions& below = children_[tree][giver(from, tree)];
    // Ways between sites are the longest ones, so they are served first.
    below.insert(below.begin(), sites_[site].top(tree));
  }

  [[nodiscard]] std::size_t feeder(std::size_t i, std::size_t tree) const {
    switch (joints_.shape) {
      case Joints::Shape::kChain:
        return paths_.fast[i - 1];
      case Joints::Shape::kFan:
        if (i != entries_[tree]) return paths_.fast[entries_[tree]];
        [[fallthrough]];
      case Joints::Shape::kStar:
        return 0;
    }
    return 0;
  }

  /// Each tree enters where the narrowest of the ways that it takes then has least to do, so that
  /// all ways between the sites carry a part.
  void find_entries() {
    const std::size_t count = paths_.fast.size();
    std::vector<double> narrowest(count);  // of the ways of trees that enter there
    for (std::size_t entry = 1; entry < count; ++entry) {
      const std::size_t site = paths_.fast[entry];
      std::uint64_t least = paths_.rate(task_.costs, 0, site);
      for (std::size_t to = 1; to < count; ++to) {
        if (to != entry) least = std::min(least, paths_.rate(task_.costs, site, paths_.fast[to]));
      }
      narrowest[entry] = static_cast<double>(least);
    }
    std::vector<double> trees(count);  // that enter there
    const auto work = [&](std::size_t entry) { return (trees[entry] + 1) / narrowest[entry]; };
    for (std::size_t tree = 0; tree < children_.size(); ++tree) {
      std::size_t best = 1;
      for (std::size_t entry = 2; entry < count; ++entry) {
        if (work(entry) < work(best)) best = entry;
      }
      ++trees[best];
      entries_.push_back(best);
    }
  }

  [[nodiscard]] std::size_t giver(std::size_t site, std::size_t tree) const {
    if (joints_.from == Joints::From::kIdlest) return idlest(site);
    const bool is_root = joints_.from == Joints::From::kTop || sites_[site].is_empty();
    return site == 0 && is_root ? task_.root : sites_[site].top(tree);
  }

  /// Who of the site has least to send.
  [[nodiscard]] std::size_t idlest(std::size_t site) const {
    std::size_t best = paths_.sites[site].front();
    for (const std::size_t member : paths_.sites[site]) {
      if (load(member) < load(best)) best = member;
    }
    return best;
  }

  [[nodiscard]] std::size_t load(std::size_t member) const {
    std::size_t all = 0;
    for (const auto& tree : children_) all += tree[member].size();
    return all;
  }

  const Task& task_;
  Joints joints_;
  const Paths& paths_;
  std::vector<SiteTrees> sites_;
  std::vector<std::vector<Positions>> children_;  ///< Per tree.
  std::vector<std::size_t> entries_;              ///< Per tree, a place in Paths::fast.
};

/// Between sites there is less room than interfaces have.
bool has_narrow_ways(const Task& task, const Paths& paths) {
  const std::uint64_t width = median_width(task.costs, paths.sites.front());
  for (const std::size_t from : paths.fast) {
    for (const std::size_t to : paths.fast) {
      if (from == to) continue;
      const auto way = paths.rate(task.costs, from, to);
      if (way < width) return true;
    }
  }
  return false;
}

struct Draft {
  std::vector<Links> links;  ///< With those who are slow.
  Duration time = kForever;  ///< Without them.
  bool is_fan = false;
};

/// By a twentieth at least.
bool is_much_less(Duration time, Duration than) {
  return time / 19 < than / 20;
}

/// With the joints that are predicted to be best. What takes as long as `limit` is of no use.
template <class Predict>
Draft best_draft(const Task& task, const Paths& paths, std::size_t trees, Duration limit,
                 Predict predict) {
  Draft best;
  for (const Joints::Shape shape : kShapes) {
    if (shape == Joints::Shape::kStar && paths.leave_once) continue;
    if (shape == Joints::Shape::kFan && paths.fast.size() < 3) continue;  // the same as a star
    for (const Joints::From from : kFroms) {
      StripedDraft draft(task, paths, trees, {shape, from});
      const Duration time = predict(draft.links(), std::min(limit, best.time));
      // A fan asks more of single processors, so it has to gain a twentieth.
      const bool is_fan = shape == Joints::Shape::kFan;
      if (is_fan && !best.is_fan ? !is_much_less(time, best.time) : time >= best.time) continue;
      draft.add_slow();
      best = {draft.links(), time, is_fan};
    }
  }
  return best;
}

/// So many, if interfaces are what limits: the more pieces, the less depends on how deep trees are.
constexpr std::size_t enough_trees(SizeClass size) {
  constexpr std::array<std::size_t, kSizeClasses> kEnough = {8, 8, 8, 8, 4, 2};
  return kEnough[size];
}

}  // namespace

Plan plan_two_tree(const Task& task) {
  const auto predict = [&](const std::vector<Links>& links, Duration limit) {
    return predicted(task, links, best_segment(task, links), limit);
  };
  return tree_plan(task, "two-tree", best_draft(task, paths_of(task), 2, kForever, predict).links,
                   /*cut=*/true);
}

/// More trees are less deep, but have more edges, and each of these is a connection: so they have
/// to gain a twentieth.
Plan plan_striped(const Task& task) {
  constexpr std::array<std::uint64_t, 2> kPieces = {4096, 16384};  // as daemons cut
  const Paths paths = paths_of(task);
  const SizeClass size = size_class(task.bytes);
  std::size_t most = std::max<std::size_t>(long_trees(size), 2);
  if (!has_narrow_ways(task, paths)) most = std::min(most, enough_trees(size));
  Draft best;
  for (std::size_t trees = 2; trees <= most; trees *= 2) {
    const auto predict = [&](const std::vector<Links>& links, Duration limit) {
      Duration least = kForever;
      for (const std::uint64_t piece : kPieces) {
        least = std::min(least, predicted(task, links, piece, std::min(limit, least)));
      }
      return least;
    };
    Draft draft = best_draft(task, paths, trees, best.time, predict);
    if (trees == 2 || is_much_less(draft.time, best.time)) best = std::move(draft);
  }
  return tree_plan(task, "striped", best.links, /*cut=*/true);
}

}  // namespace phx::planners
