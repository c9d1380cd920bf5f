#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "overlay/base/tree_view.h"
#include "overlay/planners/planners.h"

namespace phx::planners {

/// How the trees of a job are drawn, as a part of their numbers: so every processor can draw the
/// tree that a message names. 0 is our own way.
using TreeStyle = std::uint32_t;
inline constexpr TreeStyle kLearnedStyle = 0;

/// Their names, in their order: "learned", then all planners that give trees; schedules, which move
/// parts of a message on different ways, are none; then "agm", of trees that no planner draws, but
/// the processors find together [overlay/mst]. All daemons of a mesh have the same ones.
[[nodiscard]] std::span<const std::string_view> tree_styles();
/// Empty: there is none of this name.
[[nodiscard]] std::optional<TreeStyle> tree_style(std::string_view name);
/// For people: their names as a list; and what is wrong with a name, or empty.
[[nodiscard]] std::string all_tree_styles();
[[nodiscard]] std::string wrong_tree_style(std::string_view name);
[[nodiscard]] TreeStyle agm_style();
/// Null: the style is "learned", "agm", or unknown.
[[nodiscard]] const Planner* planner_of(TreeStyle style);

[[nodiscard]] constexpr TreeStyle style_of(TreeId id) {
  return id.number / kLearnedTrees;
}

}  // namespace phx::planners
