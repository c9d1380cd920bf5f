#pragma once

#include <array>
#include <string_view>

namespace phx::app {

/// Of lines and sites in pictures, one after the other, as CSS writes them.
inline constexpr std::array<std::string_view, 8> kColours = {
    "#1b6ca8", "#c0392b", "#27856a", "#b9770e", "#7d3c98", "#5d6d7e", "#2e4053", "#a04000"};

}  // namespace phx::app
