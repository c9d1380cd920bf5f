#pragma once

#include <string>
#include <vector>

#include "overlay/base/result.h"

namespace phx::app {

/// Several lines over the same axes as SVG.
struct Plot {
  struct Line {
    std::string name;
    std::vector<double> values;  ///< At 1, 2, ... of the axis below.
  };
  std::string title;
  std::string across;  ///< What the axis below counts.
  std::string up;      ///< What the values are, with the unit.
  std::vector<Line> lines;
  double most = 0;  ///< Higher values are cut off; 0: none is.
  double least =
      0;  ///< Not 0: the axis is logarithmic, and begins here. Lower values are left out.
  double stride = 0;  ///< Of the axis below: what one value stands for; 0: they are counted.
  std::vector<std::string> names = {};  ///< Of 1, 2, ... on the axis below, instead of numbers.
  bool is_dotted = false;  ///< Points, because neighbours do not hang together; 0: none there.

  /// kDenied if the file cannot be written.
  [[nodiscard]] Status write(const std::string& path) const;
};

}  // namespace phx::app
