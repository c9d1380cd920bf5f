#include "apps/phoenix/jobs/chart.h"

#include <cairo/cairo-svg.h>
#include <cairo/cairo.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/phoenix/texts/amounts.h"

namespace phx::app {
namespace {

struct Colour {
  double red, green, blue;
};
constexpr Colour kInk{0.13, 0.15, 0.19};
constexpr Colour kQuiet{0.42, 0.45, 0.50};
constexpr Colour kGrid{0.90, 0.91, 0.93};
constexpr Colour kLine{0.12, 0.42, 0.73};
constexpr Colour kSteps{0.80, 0.42, 0.06};
constexpr Colour kGain{0.10, 0.55, 0.30};
constexpr Colour kLoss{0.78, 0.16, 0.20};

constexpr double kWidth = 1000;
constexpr double kHeight = 600;
constexpr double kLeft = 76;
constexpr double kRight = kWidth - 28;

/// Where one panel stands, and what its axes mean.
struct Frame {
  double top, bottom;
  double value_max, end_s;

  [[nodiscard]] double x(double t_s) const { return kLeft + (kRight - kLeft) * t_s / end_s; }
  [[nodiscard]] double y(double value) const { return bottom - (bottom - top) * value / value_max; }
};

/// One drawing; the same calls make the SVG and the PNG.
class Painter {
 public:
  explicit Painter(cairo_t* cairo) : cairo_(cairo) {}

  void draw(const Chart& chart) {
    colour({1, 1, 1});
    cairo_paint(cairo_);
    text(kLeft - 48, 38, chart.title, {.size = 22, .bold = true});
    text(kLeft - 48, 62, chart.subtitle, {.size = 13.5, .colour = kQuiet});
    const double end_s = std::max(chart.end_s, 1e-3);
    const Frame above{118, 372, greatest(chart.line) * 1.25, end_s};
    const Frame below{430, 542, greatest(chart.steps) * 1.2, end_s};
    axes(above, chart.line.name, 5, false);
    axes(below, chart.steps.name, 3, true);
    marks(chart, above, below);
    line(above, chart.line);
    steps(below, chart.steps, end_s);
  }

 private:
  struct Style {
    double size = 12;
    Colour colour = kInk;
    bool bold = false;
    double align = 0;  ///< 0: begins there, 0.5: centred, 1: ends there.
  };

  static double greatest(const Chart::Panel& panel) {
    double most = 0;
    for (const Chart::Point& point : panel.points) most = std::max(most, point.value);
    return most > 0 ? most : 1;
  }

  void colour(Colour c, double opacity = 1) {
    cairo_set_source_rgba(cairo_, c.red, c.green, c.blue, opacity);
  }
  void stroke(double width) {
    cairo_set_line_width(cairo_, width);
    cairo_stroke(cairo_);
  }
  void segment(double x1, double y1, double x2, double y2) {
    cairo_move_to(cairo_, x1, y1);
    cairo_line_to(cairo_, x2, y2);
  }

  void text(double x, double y, const std::string& words, const Style& style) {
    cairo_select_font_face(cairo_, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo_, style.size);
    cairo_text_extents_t extents{};
    cairo_text_extents(cairo_, words.c_str(), &extents);
    colour(style.colour);
    cairo_move_to(cairo_, x - style.align * extents.x_advance, y);
    cairo_show_text(cairo_, words.c_str());
  }

  void axes(const Frame& frame, const std::string& name, double count, bool has_time) {
    text(kLeft - 48, frame.top - 14, name, {.size = 13.5, .bold = true});
    const double step = round_step(frame.value_max, count);
    for (double value = 0; value <= frame.value_max; value += step) {
      const double y = std::floor(frame.y(value)) + 0.5;
      segment(kLeft, y, kRight, y);
      colour(value == 0 ? kQuiet : kGrid);
      stroke(1);
      text(kLeft - 10, y + 4, spell_on_scale(value, step), {.colour = kQuiet, .align = 1});
    }
    if (!has_time) return;
    const double tick_s = round_step(frame.end_s, 10);
    for (double t_s = 0; t_s <= frame.end_s + 1e-6; t_s += tick_s) {
      segment(frame.x(t_s), frame.bottom, frame.x(t_s), frame.bottom + 5);
      colour(kQuiet);
      stroke(1);
      text(frame.x(t_s), frame.bottom + 19, spell_on_scale(t_s, tick_s),
           {.colour = kQuiet, .align = 0.5});
    }
    text((kLeft + kRight) / 2, frame.bottom + 42, "Time (s)",
         {.size = 13, .colour = kQuiet, .align = 0.5});
  }

  void marks(const Chart& chart, const Frame& above, const Frame& below) {
    double row = 0;
    for (const Chart::Mark& mark : chart.marks) {
      const double x = std::floor(above.x(mark.t_s)) + 0.5;
      const Colour shade = mark.is_gain ? kGain : kLoss;
      const std::array<double, 2> dashes{5, 4};
      cairo_set_dash(cairo_, dashes.data(), 2, 0);
      segment(x, above.top - 4, x, below.bottom);
      colour(shade, 0.8);
      stroke(1.4);
      cairo_set_dash(cairo_, nullptr, 0, 0);
      const bool is_late = x > kLeft + 0.8 * (kRight - kLeft);
      text(x + (is_late ? -7 : 7), above.top + 8 + 17 * row, mark.text,
           {.size = 12.5, .colour = shade, .bold = true, .align = is_late ? 1.0 : 0.0});
      row = row == 0 ? 1 : 0;
    }
  }

  void line(const Frame& frame, const Chart::Panel& panel) {
    if (panel.points.empty()) return;
    const auto outline = [&] {
      for (const Chart::Point& point : panel.points) {
        cairo_line_to(cairo_, frame.x(point.t_s), frame.y(point.value));
      }
    };
    cairo_move_to(cairo_, frame.x(panel.points.front().t_s), frame.bottom);
    outline();
    cairo_line_to(cairo_, frame.x(panel.points.back().t_s), frame.bottom);
    cairo_close_path(cairo_);
    colour(kLine, 0.14);
    cairo_fill(cairo_);
    cairo_new_path(cairo_);
    outline();
    cairo_set_line_join(cairo_, CAIRO_LINE_JOIN_ROUND);
    colour(kLine);
    stroke(2);
  }

  void steps(const Frame& frame, const Chart::Panel& panel, double end_s) {
    if (panel.points.empty()) return;
    const auto outline = [&] {
      double value = panel.points.front().value;
      cairo_line_to(cairo_, frame.x(0), frame.y(value));
      for (const Chart::Point& point : panel.points) {
        cairo_line_to(cairo_, frame.x(point.t_s), frame.y(value));
        value = point.value;
        cairo_line_to(cairo_, frame.x(point.t_s), frame.y(value));
      }
      cairo_line_to(cairo_, frame.x(end_s), frame.y(value));
    };
    cairo_move_to(cairo_, frame.x(0), frame.bottom);
    outline();
    cairo_line_to(cairo_, frame.x(end_s), frame.bottom);
    cairo_close_path(cairo_);
    colour(kSteps, 0.14);
    cairo_fill(cairo_);
    cairo_new_path(cairo_);
    outline();
    colour(kSteps);
    stroke(2);
    label_steps(frame, panel, end_s);
  }

  /// The value of every step that is wide enough for it.
  void label_steps(const Frame& frame, const Chart::Panel& panel, double end_s) {
    constexpr double kWidthMin = 34;
    for (auto at = panel.points.begin(); at != panel.points.end();) {
      const auto next = std::find_if(at, panel.points.end(), [&](const Chart::Point& point) {
        return point.value != at->value;
      });
      const double next_s = next == panel.points.end() ? end_s : next->t_s;
      if (frame.x(next_s) - frame.x(at->t_s) >= kWidthMin) {
        text(frame.x(at->t_s) + 6, frame.y(at->value) - 6, spell_on_scale(at->value, 1),
             {.size = 13, .colour = kSteps, .bold = true});
      }
      at = next;
    }
  }

  cairo_t* cairo_;
};

cairo_status_t finish(cairo_surface_t* surface, const Chart& chart, double scale) {
  cairo_t* cairo = cairo_create(surface);
  cairo_scale(cairo, scale, scale);
  Painter(cairo).draw(chart);
  const cairo_status_t status = cairo_status(cairo);
  cairo_destroy(cairo);
  return status;
}

}  // namespace

Status Chart::write(const std::string& path) const {
  constexpr int kScale = 2;  // Sharp on dense screens.
  const std::string svg = path + ".svg";
  cairo_surface_t* surface = cairo_svg_surface_create(svg.c_str(), kWidth, kHeight);
  cairo_status_t status = finish(surface, *this, 1);
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  if (status == CAIRO_STATUS_SUCCESS) {
    surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(kWidth) * kScale,
                                         static_cast<int>(kHeight) * kScale);
    status = finish(surface, *this, kScale);
    const cairo_status_t written = cairo_surface_write_to_png(surface, (path + ".png").c_str());
    if (status == CAIRO_STATUS_SUCCESS) status = written;
    cairo_surface_destroy(surface);
  }
  if (status == CAIRO_STATUS_SUCCESS) return success();
  return Error{ErrorCode::kDenied,
               "cannot write " + path + ".{svg,png}: " + cairo_status_to_string(status)};
}

}  // namespace phx::app
