#pragma once

#include <string>
#include <vector>

namespace phx::app {

/// `text` as a part of one line, which writes nothing else to a terminal: control characters are
/// '?'.
[[nodiscard]] std::string in_one_line(std::string text);

/// A table for a terminal: columns as wide as their widest cell, two spaces apart.
class Table {
 public:
  explicit Table(std::vector<std::string> titles) : rows_{std::move(titles)} {}
  /// REQUIRES as many cells as there are titles.
  void add(std::vector<std::string> cells);
  /// The lines, each ended. Columns whose cells are all numbers are right-aligned.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace phx::app
