#include "apps/experiments/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/colours.h"
#include "apps/phoenix/texts/quoting.h"

namespace phx::app {
namespace {

constexpr double kHeight = 520;
constexpr double kAxisLeft = 70;
constexpr double kRight = 190;  // for the names of the lines
constexpr double kAxisTop = 50;
constexpr double kBottom = 60;
constexpr double kHalf = 0.5;
constexpr double kSecondRow = 18;
constexpr double kTen = 10;
/// Lines of the grid, so that no scale of odd values has more.
constexpr int kLinesMost = 1000;

/// Writes the elements of one plot.
class Drawing {
 public:
  explicit Drawing(const Plot& plot) : plot_(plot) {
    for (const Plot::Line& line : plot.lines) {
      across_ = std::max(across_, static_cast<double>(line.values.size()));
      for (const double value : line.values) {
        if (std::isfinite(value)) up_ = std::max(up_, value);
      }
    }
    if (plot.is_dotted) across_ += kHalf;
    if (plot.most > 0 && std::isfinite(plot.most)) up_ = plot.most;
    if (up_ <= 0) up_ = 1;
    if (plot.least > 0 && std::isfinite(plot.least)) least_ = plot.least;
    if (least_ > 0 && up_ <= least_) up_ = kTen * least_;
    if (plot.is_dotted) make_wide();
  }

  std::string text(const std::string& origin) {
    svg_ << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width_ << "' height='" << kHeight
         << "' font-family='sans-serif' font-size='13'>\n<desc>" << escaped(origin)
         << "</desc>\n<rect width='100%' height='100%' fill='white'/>\n";
    label(kAxisLeft, kAxisTop / 2, plot_.title, "font-size='16' font-weight='bold'");
    label(kAxisLeft, kHeight - (has_two_rows() ? 4 : 18), plot_.across, "");
    label(kAxisLeft, kAxisTop - 10, plot_.up, "fill='#555'");
    axes();
    for (std::size_t i = 0; i < plot_.lines.size(); ++i) {
      if (std::ranges::any_of(plot_.lines[i].values, [this](double v) { return is_shown(v); })) {
        draw(i);
      }
    }
    svg_ << "</svg>\n";
    return svg_.str();
  }

 private:
  [[nodiscard]] bool is_shown(double value) const {
    const bool is_cut_off = plot_.most > 0 && value > plot_.most;
    if (!std::isfinite(value) && !is_cut_off) return false;
    return value >= least_ && !(plot_.is_dotted && value <= 0);
  }

  /// Of the points of one place there is room for each beside the others.
  void make_wide() {
    const double place = kBesides * static_cast<double>(plot_.lines.size()) / kSpread;
    width_ = std::max(width_, kAxisLeft + kRight + place * across_);
  }

  [[nodiscard]] double x(double value) const {
    return kAxisLeft + value / std::max(across_, 1.0) * (width_ - kAxisLeft - kRight);
  }
  [[nodiscard]] double y(double value) const {
    double share = std::min(value, up_) / up_;
    if (least_ > 0) {
      const double begin = std::log(least_);
      share = (std::log(std::min(value, up_)) - begin) / (std::log(up_) - begin);
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
    svg_ << "<text x='" << at_x << "' y='" << at_y << "' " << looks << '>' << escaped(words)
         << "</text>\n";
  }

  void grid_line(double value) {
    svg_ << "<line x1='" << kAxisLeft << "' x2='" << width_ - kRight << "' y1='" << y(value)
         << "' y2='" << y(value) << "' stroke='#ddd'/>\n";
    std::ostringstream number;
    number << value;
    label(kAxisLeft - 8, y(value) + 4, number.str(), "text-anchor='end'");
  }

  /// Whether a scale up to `greatest` has a line there; a little above for what is rounded.
  static bool is_within(double value, double greatest) {
    constexpr double kRounding = 1e-4;
    return std::isfinite(value) && value - greatest <= kRounding * greatest;
  }

  void grid() {
    if (least_ > 0) {
      // Over few decades there are lines between these, too.
      const bool has_more = up_ / least_ < kTen * kTen * kTen;
      double decade = least_;
      for (int i = 0; i < kLinesMost && is_within(decade, up_); ++i, decade *= kTen) {
        for (const double part : {1.0, 2.0, 5.0}) {
          const bool is_drawn = part == 1.0 || has_more;
          if (is_drawn && is_within(part * decade, up_)) grid_line(part * decade);
        }
      }
      return;
    }
    const double step = round_step(up_, kTen);
    for (int i = 0; i < kLinesMost && is_within(i * step, up_); ++i) grid_line(i * step);
  }

  void axes() {
    grid();
    for (std::size_t i = 0; i < plot_.names.size(); ++i) {
      const double row = has_two_rows() && i % 2 == 1 ? kSecondRow : 0;
      label(x(static_cast<double>(i + 1)), kHeight - kBottom + 20 + row, plot_.names[i],
            "text-anchor='middle'");
    }
    if (!plot_.names.empty()) return;
    const double unit = plot_.stride > 0 && std::isfinite(plot_.stride) ? plot_.stride : 1;
    const double step = round_step(std::max(across_ * unit, kTen), kTen);
    for (int i = 0; i < kLinesMost && is_within(i * step, across_ * unit); ++i) {
      std::ostringstream number;
      number << i * step;
      label(x(i * step / unit), kHeight - kBottom + 20, number.str(), "text-anchor='middle'");
    }
  }

  void draw(std::size_t i) {
    const Plot::Line& line = plot_.lines[i];
    plot_.is_dotted ? draw_points(i) : draw_line(i);
    constexpr double kLine = 22;
    const double at = kAxisTop + 10 + kLine * static_cast<double>(named_++);
    if (plot_.is_dotted) {
      point(width_ - kRight + 22, at - 5, i);
    } else {
      svg_ << "<line x1='" << width_ - kRight + 6 << "' x2='" << width_ - kRight + 32 << "' y1='"
           << at - 5 << "' y2='" << at - 5 << "' " << stroke_of(i) << "/>\n";
    }
    label(width_ - kRight + 38, at, line.name, "");
  }

  void draw_line(std::size_t i) {
    const Plot::Line& line = plot_.lines[i];
    svg_ << "<polyline fill='none' " << stroke_of(i) << " points='";
    for (std::size_t k = 0; k < line.values.size(); ++k) {
      if (!is_shown(line.values[k])) continue;
      svg_ << x(static_cast<double>(k + 1)) << ',' << y(line.values[k]) << ' ';
    }
    svg_ << "'/>\n";
  }

  /// Each line a little to the right of the one before, so that equal values can be told apart.
  void draw_points(std::size_t i) {
    const Plot::Line& line = plot_.lines[i];
    const double share =
        (static_cast<double>(i) + kHalf) / static_cast<double>(plot_.lines.size()) - kHalf;
    for (std::size_t k = 0; k < line.values.size(); ++k) {
      if (!is_shown(line.values[k])) continue;
      point(x(static_cast<double>(k + 1) + kSpread * share), y(line.values[k]), i);
    }
  }

  void point(double at_x, double at_y, std::size_t i) {
    const bool is_hollow = i >= kColours.size();
    svg_ << "<circle cx='" << at_x << "' cy='" << at_y << "' r='4' stroke-width='2' stroke='"
         << colour_of(i) << "' fill='" << (is_hollow ? "white" : colour_of(i)) << "'/>\n";
  }

  /// Whether it would hide one that was drawn before.
  [[nodiscard]] bool lies_on_another(std::size_t i) const {
    constexpr double kApart = 2;
    const std::vector<double>& mine = plot_.lines[i].values;
    for (std::size_t other = 0; other < i; ++other) {
      const std::vector<double>& its = plot_.lines[other].values;
      if (mine.size() != its.size()) continue;
      bool is_same = true;
      for (std::size_t k = 0; is_same && k < mine.size(); ++k) {
        is_same = is_shown(mine[k]) == is_shown(its[k]) &&
                  (!is_shown(mine[k]) || std::abs(y(mine[k]) - y(its[k])) < kApart);
      }
      if (is_same) return true;
    }
    return false;
  }

  /// Dashed when the colours come again, and dotted where another one shines through.
  [[nodiscard]] std::string stroke_of(std::size_t i) const {
    const std::string colour = " stroke='" + std::string(colour_of(i)) + "'";
    if (lies_on_another(i)) return "stroke-width='4' stroke-dasharray='2 6'" + colour;
    const std::string dashes = i >= kColours.size() ? " stroke-dasharray='6 4'" : "";
    return "stroke-width='2'" + colour + dashes;
  }

  static std::string_view colour_of(std::size_t i) { return kColours[i % kColours.size()]; }

  static constexpr double kSpread = 0.85;  ///< Of a place, which its points have for themselves.
  static constexpr double kBesides = 10;   ///< From one point of a place to the next.

  const Plot& plot_;
  double width_ = 900;
  double across_ = 0;
  double up_ = 0;
  double least_ = 0;
  std::size_t named_ = 0;  ///< Lines so far.
  std::ostringstream svg_;
};

}  // namespace

std::string Plot::svg(const std::string& origin) const {
  return Drawing(*this).text(origin);
}

double Plot::decade() const {
  double lowest = 0;
  for (const Line& line : lines) {
    for (const double value : line.values) {
      const bool is_lower = std::isfinite(value) && value > 0 && (lowest == 0 || value < lowest);
      if (is_lower) lowest = value;
    }
  }
  constexpr double kRounding = 1e-9;
  if (lowest == 0) return 1;
  const double power = std::pow(kTen, std::floor(std::log10(lowest) + kRounding));
  return std::max(power, std::numeric_limits<double>::min());
}

}  // namespace phx::app
