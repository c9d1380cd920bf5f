#include "overlay/planners/tree_styles.h"

#include <algorithm>
#include <vector>

namespace phx::planners {
namespace {

bool gives_trees(const Planner& planner) {
  return planner.make != &plan_mpich && planner.make != &plan_mpich_ring &&
         planner.make != &plan_magpie_long;
}

struct Styles {
  std::vector<std::string_view> names = {"learned"};
  std::vector<const Planner*> planners = {nullptr};
};

const Styles& styles() {
  static const Styles all = [] {
    Styles found;
    for (const Planner& planner : all_planners()) {
      if (!gives_trees(planner)) continue;
      found.names.push_back(planner.name);
      found.planners.push_back(&planner);
    }
    found.names.emplace_back("agm");
    return found;
  }();
  return all;
}

}  // namespace

std::span<const std::string_view> tree_styles() {
  return styles().names;
}

std::optional<TreeStyle> tree_style(std::string_view name) {
  const auto names = tree_styles();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<TreeStyle>(found - names.begin());
}

std::string all_tree_styles() {
  std::string text;
  for (const std::string_view style : tree_styles()) {
    text += (text.empty() ? "" : ", ") + std::string(style);
  }
  return text;
}

std::string wrong_tree_style(std::string_view name) {
  if (tree_style(name)) return {};
  return "there are no trees '" + std::string(name) + "'; there are " + all_tree_styles();
}

TreeStyle agm_style() {
  return static_cast<TreeStyle>(styles().names.size() - 1);
}

const Planner* planner_of(TreeStyle style) {
  return style < styles().planners.size() ? styles().planners[style] : nullptr;
}

}  // namespace phx::planners
