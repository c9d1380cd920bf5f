#include "apps/phoenix/experiments/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/colours.h"

namespace phx::app {
namespace {

constexpr double kWidth = 900;
constexpr double kHeight = 520;
constexpr double kAxisLeft = 70;
constexpr double kRight = 190;  // for the names of the lines
constexpr double kAxisTop = 50;
constexpr double kBottom = 60;
constexpr double kHalf = 0.5;
constexpr double kSecondRow = 18;

/// Writes the elements of one plot.
class Drawing {
 public:
  explicit Drawing(const Plot& plot) : plot_(plot) {
    for (const Plot::Line& line : plot.lines) {
      across_ = std::max(across_, static_cast<double>(line.values.size()));
      for (const double value : line.values) up_ = std::max(up_, value);
    }
    if (plot.is_dotted) across_ += kHalf;
    if (plot.most > 0) up_ = plot.most;
    if (up_ <= 0) up_ = 1;
  }

  std::string text() {
    svg_ << "<svg xmlns='http://www.w3.org/2000/svg' width='" << kWidth << "' height='" << kHeight
         << "' font-family='sans-serif' font-size='13'>\n<rect width='100%' height='100%' "
            "fill='white'/>\n";
    label(kAxisLeft, kAxisTop / 2, plot_.title, "font-size='16' font-weight='bold'");
    label(kAxisLeft, kHeight - (has_two_rows() ? 4 : 18), plot_.across, "");
    label(kAxisLeft, kAxisTop - 10, plot_.up, "fill='#555'");
    axes();
    for (std::size_t i = 0; i < plot_.lines.size(); ++i) draw(i);
    svg_ << "</svg>\n";
    return svg_.str();
  }

 private:
  [[nodiscard]] double x(double value) const {
    return kAxisLeft + value / std::max(across_, 1.0) * (kWidth - kAxisLeft - kRight);
  }
  [[nodiscard]] double y(double value) const {
    double share = std::min(value, up_) / up_;
    if (plot_.least > 0) {
      share = std::log(std::min(value, up_) / plot_.least) / std::log(up_ / plot_.least);
    }
    return kHeight - kBottom - share * (kHeight - kAxisTop - kBottom);
  }

  /// Long names take turns in two rows.
  [[nodiscard]] bool has_two_rows() const {
    constexpr double kLetter = 8;
    return std::ranges::any_of(plot_.names, [this](const std::string& name) {
      return kLetter * static_cast<double>(name.size()) > x(1) - x(0);
    });
  }

  void label(double at_x, double at_y, std::string_view words, std::string_view looks) {
    svg_ << "<text x='" << at_x << "' y='" << at_y << "' " << looks << '>' << words << "</text>\n";
  }

  void grid_line(double value) {
    svg_ << "<line x1='" << kAxisLeft << "' x2='" << kWidth - kRight << "' y1='" << y(value)
         << "' y2='" << y(value) << "' stroke='#ddd'/>\n";
    std::ostringstream number;
    number << value;
    label(kAxisLeft - 8, y(value) + 4, number.str(), "text-anchor='end'");
  }

  void axes() {
    constexpr double kTen = 10;
    if (plot_.least > 0) {
      // Over few decades there are lines between these, too.
      const bool has_more = up_ / plot_.least < kTen * kTen * kTen;
      for (double decade = plot_.least; decade <= up_ * 1.0001; decade *= kTen) {
        for (const double part : {1.0, 2.0, 5.0}) {
          const bool is_drawn = part == 1.0 || has_more;
          if (is_drawn && part * decade <= up_ * 1.0001) grid_line(part * decade);
        }
      }
    } else {
      const double step = round_step(up_, kTen);
      for (double value = 0; value <= up_ * 1.0001; value += step) grid_line(value);
    }
    for (std::size_t i = 0; i < plot_.names.size(); ++i) {
      const double row = has_two_rows() && i % 2 == 1 ? kSecondRow : 0;
      label(x(static_cast<double>(i + 1)), kHeight - kBottom + 20 + row, plot_.names[i],
            "text-anchor='middle'");
    }
    if (!plot_.names.empty()) return;
    const double unit = plot_.stride > 0 ? plot_.stride : 1;
    const double step = round_step(std::max(across_ * unit, kTen), kTen);
    for (double value = 0; value <= across_ * unit; value += step) {
      std::ostringstream number;
      number << value;
      label(x(value / unit), kHeight - kBottom + 20, number.str(), "text-anchor='middle'");
    }
  }

  void draw(std::size_t i) {
    const Plot::Line& line = plot_.lines[i];
    plot_.is_dotted ? draw_points(i) : draw_line(i);
    constexpr double kLine = 22;
    const double at = kAxisTop + 10 + kLine * static_cast<double>(i);
    if (plot_.is_dotted) {
      point(kWidth - kRight + 22, at - 5, i);
    } else {
      svg_ << "<line x1='" << kWidth - kRight + 6 << "' x2='" << kWidth - kRight + 32 << "' y1='"
           << at - 5 << "' y2='" << at - 5 << "' " << stroke_of(i) << "/>\n";
    }
    label(kWidth - kRight + 38, at, line.name, "");
  }

  void draw_line(std::size_t i) {
    const Plot::Line& line = plot_.lines[i];
    svg_ << "<polyline fill='none' " << stroke_of(i) << " points='";
    for (std::size_t k = 0; k < line.values.size(); ++k) {
      if (line.values[k] < plot_.least) continue;
      svg_ << x(static_cast<double>(k + 1)) << ',' << y(line.values[k]) << ' ';
    }
    svg_ << "'/>\n";
  }

  /// Each line a little to the right of the one before, so that equal values can be told apart.
  void draw_points(std::size_t i) {
    const Plot::Line& line = plot_.lines[i];
    constexpr double kSpread = 0.6;
    const double share = static_cast<double>(i) / static_cast<double>(plot_.lines.size()) - kHalf;
    for (std::size_t k = 0; k < line.values.size(); ++k) {
      if (line.values[k] <= 0 || line.values[k] < plot_.least) continue;
      point(x(static_cast<double>(k + 1) + kSpread * share), y(line.values[k]), i);
    }
  }

  void point(double at_x, double at_y, std::size_t i) {
    const bool is_hollow = i >= kColours.size();
    svg_ << "<circle cx='" << at_x << "' cy='" << at_y << "' r='5' stroke-width='2' stroke='"
         << colour_of(i) << "' fill='" << (is_hollow ? "white" : colour_of(i)) << "'/>\n";
  }

  /// Dashed when the colours come again.
  static std::string stroke_of(std::size_t i) {
    const std::string dashes = i >= kColours.size() ? " stroke-dasharray='6 4'" : "";
    return "stroke-width='2' stroke='" + std::string(colour_of(i)) + "'" + dashes;
  }

  static std::string_view colour_of(std::size_t i) { return kColours[i % kColours.size()]; }

  const Plot& plot_;
  double across_ = 0;
  double up_ = 0;
  std::ostringstream svg_;
};

}  // namespace

Status Plot::write(const std::string& path) const {
  std::ofstream file(path);
  file << Drawing(*this).text();
  file.close();
  if (!file) return Error{ErrorCode::kDenied, "cannot write " + path};
  return success();
}

}  // namespace phx::app
