#pragma once

#include <string>
#include <vector>

#include "overlay/base/result.h"

namespace phx::app {

/// A chart of two quantities over the same time: a filled line above, steps below, and vertical
/// lines for what happened.
struct Chart {
  struct Point {
    double t_s = 0;
    double value = 0;
  };
  struct Panel {
    std::string name;  ///< With the unit: "Bandwidth of broadcasts (GB/s)".
    std::vector<Point> points;
  };
  struct Mark {
    double t_s = 0;
    std::string text;
    bool is_gain = true;  ///< Processors came (green) or went (red).
  };

  std::string title;
  std::string subtitle;
  Panel line;
  Panel steps;
  std::vector<Mark> marks;
  double end_s = 0;  ///< Where the time axis ends; it begins at 0.

  /// Writes `path`.svg and `path`.png. kDenied if a file cannot be written.
  [[nodiscard]] Status write(const std::string& path) const;
};

}  // namespace phx::app
