#pragma once

#include <string>
#include <vector>

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
  /// Not 0: the axis is logarithmic, and begins here. Lower values are left out.
  double least = 0;
  double stride = 0;  ///< Of the axis below: what one value stands for; 0: they are counted.
  std::vector<std::string> names = {};  ///< Of 1, 2, ... on the axis below, instead of numbers.
  bool is_dotted = false;  ///< Points, because neighbours do not hang together; 0: none there.

  /// `origin`: how to make it again, for those who find the file; it is not shown. Values that are
  /// no numbers are left out; infinite ones, too, unless what is higher than `most` is cut off.
  [[nodiscard]] std::string svg(const std::string& origin) const;
  /// For `least`: the power of ten at or below all values above 0; 1: there are none.
  [[nodiscard]] double decade() const;
};

}  // namespace phx::app
