#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "overlay/base/tree_view.h"

namespace phx::overlay {

/// What one processor knows of all trees, whoever makes them: adaptive trees, planners, files.
/// Those who make trees put views in, or are asked for them; collectives look them up by their
/// names, and know no producer. Not thread-safe.
class TreeStore {
 public:
  /// Draws a tree when it is asked for; empty: it does not know it.
  using Drawer = std::function<std::optional<TreeView>(TreeId)>;

  /// From now on learned trees are drawn by this, and used where nothing was planned.
  void draw_by(Drawer drawer) { drawer_ = std::move(drawer); }
  /// Trees are drawn anew from now on. What was drawn before by another name stays for copies that
  /// are under way along it.
  void draw_anew(Drawing drawing) {
    if (drawing == drawing_) return drawn_.clear();
    if (!drawn_.empty()) former_.push_front({drawing_, std::exchange(drawn_, {})});
    if (former_.size() > kFormerMost) former_.pop_back();
    drawing_ = drawing;
  }
  /// Copies that are under way along a former drawing go to nobody else. To be called with every
  /// view, after draw_anew().
  void keep_only(const ProcessorSet& members) {
    for (auto& [name, views] : former_) {
      for (auto& [id, view] : views) {
        std::erase_if(view.children,
                      [&](const TreeChild& child) { return !members.contains(child.id); });
      }
    }
  }
  /// From now on this is the view of `view.id`.
  void put(TreeView view) {
    const TreeId id = view.id;
    views_.insert_or_assign(id, std::move(view));
  }
  void drop(TreeId id) { views_.erase(id); }
  /// Of what is drawn now.
  [[nodiscard]] Drawing drawing() const { return drawing_; }
  /// As it was drawn for a copy that is under way; if that is not known here any more, or not yet,
  /// as it is now: the copy has to be passed on by that name then. Along one drawing it never comes
  /// back; where each of two processors took its own, it might for as long as it has hops.
  struct Found {
    const TreeView* view;  ///< As view() gives it.
    Drawing drawing;
  };
  [[nodiscard]] Found view(TreeId id, Drawing drawing) const {
    if (drawing == drawing_) return {view(id), drawing};
    for (const auto& [name, views] : former_) {
      if (name != drawing) continue;
      if (const auto found = views.find(id); found != views.end()) return {&found->second, name};
    }
    return {view(id), drawing_};
  }
  /// Null: unknown. Valid until the next put() or drop() of this tree.
  [[nodiscard]] const TreeView* view(TreeId id) const {
    if (id.kind == TreeKind::kLearned) return drawn(id);
    const auto found = views_.find(id);
    return found == views_.end() ? nullptr : &found->second;
  }
  /// The tree that collectives of `root` take now: planned ones in turns, by the number of the
  /// piece, if there are any; else a learned one of this style, for messages of this size (or for
  /// ordered sums), in turns too; else its latency tree, whether it is known here or not.
  [[nodiscard]] TreeId in_use(ProcessorId root, std::uint32_t style, std::uint64_t piece = 0,
                              SizeClass size = 0, bool in_ranges = false) const {
    const auto behind = views_.upper_bound({root, TreeKind::kPlanned, kLastNumber});
    if (behind != views_.begin()) {
      const TreeId last = std::prev(behind)->first;
      const std::uint64_t count = std::uint64_t{last.number} + 1;
      if (last.root == root && last.kind == TreeKind::kPlanned) {
        return {root, TreeKind::kPlanned, static_cast<std::uint32_t>(piece % count)};
      }
    }
    if (!drawer_) return {root, TreeKind::kLatency};
    return {root, TreeKind::kLearned,
            style * kLearnedTrees + learned_number(size, piece, in_ranges)};
  }
  /// The adaptive tree that `root` itself takes for a message of this size: its bandwidth tree for
  /// a long one, once that reaches as many as the latency tree [overlay/README.md, "Which tree"].
  [[nodiscard]] TreeId widest(ProcessorId root, SizeClass size) const {
    const TreeId latency{root, TreeKind::kLatency};
    const TreeId bandwidth{root, TreeKind::kBandwidth};
    return is_for_bandwidth(size) && reached(bandwidth) > 0 &&
                   reached(bandwidth) >= reached(latency)
               ? bandwidth
               : latency;
  }
  /// Of adaptive trees.
  [[nodiscard]] bool is_for_bandwidth(SizeClass size) const {
    return usual_bytes(size) > bandwidth_above_;
  }
  void use_bandwidth_above(std::uint64_t bytes) { bandwidth_above_ = bytes; }
  /// Plans are for the members that they were made for.
  /// True: there were some.
  bool drop_planned() {
    return std::erase_if(
               views_, [](const auto& view) { return view.first.kind == TreeKind::kPlanned; }) > 0;
  }
  [[nodiscard]] std::size_t size() const { return views_.size() + drawn_.size(); }

 private:
  /// Drawn trees kept at once [limit]: those of further roots are not used.
  static constexpr std::size_t kDrawnMax = 65536;
  /// Former drawings [limit]. Copies of older ones go as if they were made now.
  static constexpr std::size_t kFormerMost = 4;

  [[nodiscard]] const TreeView* drawn(TreeId id) const {
    if (const auto found = drawn_.find(id); found != drawn_.end()) return &found->second;
    if (!drawer_ || drawn_.size() >= kDrawnMax) return nullptr;
    std::optional<TreeView> view = drawer_(id);
    return view ? &drawn_.emplace(id, std::move(*view)).first->second : nullptr;
  }

  /// Processors below this one in a tree, as far as it is known here.
  [[nodiscard]] std::uint64_t reached(TreeId id) const {
    std::uint64_t count = 0;
    const TreeView* known = view(id);
    if (known == nullptr) return 0;
    for (const TreeChild& child : known->children) count += child.below.size();
    return count;
  }

  static constexpr std::uint32_t kLastNumber = std::numeric_limits<std::uint32_t>::max();

  using Views = std::map<TreeId, TreeView>;

  std::uint64_t bandwidth_above_ = std::uint64_t{256} << 10U;
  Views views_;
  Drawer drawer_;
  mutable Views drawn_;  ///< Kept so that each is drawn once.
  Drawing drawing_ = 0;
  std::deque<std::pair<Drawing, Views>> former_;  ///< The last one first.
};

}  // namespace phx::overlay
