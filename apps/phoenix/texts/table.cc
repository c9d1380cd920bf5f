#include "apps/phoenix/texts/table.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace phx::app {
namespace {

bool is_number(const std::string& cell) {
  return cell.empty() || std::isdigit(static_cast<unsigned char>(cell.front())) != 0 || cell == "-";
}

}  // namespace

std::string in_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, '?');
  return text;
}

void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = in_one_line(std::move(cell));
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> right(columns, true);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::size_t c = 0; c < columns; ++c) {
      widths[c] = std::max(widths[c], rows_[i][c].size());
      if (i > 0 && (rows_[i][c].empty() || !is_number(rows_[i][c]))) right[c] = false;
    }
  }
  std::string result;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string pad(widths[c] - row[c].size(), ' ');
      line += (c > 0 ? "  " : "") + (right[c] ? pad + row[c] : row[c] + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  }
  return result;
}

}  // namespace phx::app
