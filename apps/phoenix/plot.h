#pragma once

#include <string>
#include <vector>

#include "overlay/base/result.h"

namespace phx::app {

/// Several lines over the same axes, from 0 on, as SVG.
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

  /// kDenied if the file cannot be written.
  [[nodiscard]] Status write(const std::string& path) const;
};

}  // namespace phx::app
