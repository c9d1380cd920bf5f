#include "apps/phoenix/jobs/report_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string_view>
#include <vector>

#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/quoting.h"

namespace phx::app {
namespace {

constexpr double kPageWidth = 1160;
constexpr double kRowsLeft = 64;
constexpr double kRowsRight = 900;  // Of what has a time; figures stand beside it.
constexpr double kRowsTop = 112;
constexpr double kRowsHeight = 560;  // Of all rows, if there are many.
constexpr double kRowMin = 5;
constexpr double kRowMax = 30;
constexpr double kPanel = 96;  // Of a rate.
constexpr double kGap = 54;
constexpr std::size_t kBins = 380;
constexpr std::size_t kMovesMax = 1500;  // Drawn.

constexpr std::string_view kNotes = "#667085";
constexpr std::string_view kPauses = "#d92d20";
constexpr std::string_view kMoves = "#e8830c";

/// Sums over equal parts of the time.
class Bins {
 public:
  explicit Bins(double length) : width_(length / static_cast<double>(kBins)) {}
  /// `amount`, spread evenly over that time.
  void add(double begin, double end, double amount) {
    const std::size_t last = index(end);
    for (std::size_t i = index(begin); i <= last; ++i) {
      const double from = std::max(begin, at(i));
      const double to = std::min(end, at(i + 1));
      const double part = end > begin ? std::max(to - from, 0.0) / (end - begin) : 1.0;
      sums_[i] += amount * part;
      if (end <= begin) return;
    }
  }
  [[nodiscard]] double at(std::size_t i) const { return static_cast<double>(i) * width_; }
  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double operator[](std::size_t i) const { return sums_[i]; }

 private:
  [[nodiscard]] std::size_t index(double time) const {
    return std::min(static_cast<std::size_t>(std::max(time, 0.0) / width_), kBins - 1);
  }
  double width_;
  std::array<double, kBins> sums_{};
};

class Page {
 public:
  explicit Page(const JobReport& report)
      : report_(report),
        length_(std::max(report.length(), 1e-3)),
        row_(std::clamp(kRowsHeight / static_cast<double>(report.processes().size()), kRowMin,
                        kRowMax)) {
    double y = kRowsTop;
    for (const auto& [id, process] : report.processes()) {
      rows_[id] = y;
      y += row_;
    }
    bottom_ = y;
    svg_.precision(6);
  }

  std::string draw(const std::string& title, const std::string& subtitle) {
    const double height = bottom_ + 2 * (kGap + kPanel) + 44;
    svg_ << "<svg xmlns='http://www.w3.org/2000/svg' width='" << kPageWidth << "' height='"
         << height << "' viewBox='0 0 " << kPageWidth << ' ' << height
         << "' font-family='system-ui,sans-serif' font-size='12' fill='#20242c'>\n"
            "<rect width='100%' height='100%' fill='#fff'/>\n";
    text(20, 34, title, "font-size='20' font-weight='600'");
    text(20, 56, subtitle, quiet());
    legend();
    grid(height - 44);
    for (const auto& [id, process] : report_.processes()) draw_row(id, process);
    draw_moves();
    draw_rates();
    svg_ << "</svg>\n";
    return svg_.str();
  }

 private:
  static std::string quiet(std::string_view more = "") {
    return "fill='" + std::string(kNotes) + "' " + std::string(more);
  }
  [[nodiscard]] double x(double time) const {
    return kRowsLeft + (kRowsRight - kRowsLeft) * time / length_;
  }

  void text(double at_x, double at_y, std::string_view words, std::string_view looks = "") {
    svg_ << "<text x='" << at_x << "' y='" << at_y << "' " << looks << '>' << escaped(words)
         << "</text>\n";
  }
  void box(double left, double top, double width, double height, std::string_view fill) {
    svg_ << "<rect x='" << left << "' y='" << top << "' width='" << width << "' height='" << height
         << "' fill='" << fill << "'/>\n";
  }

  /// From computing to waiting.
  static std::string shade(int waiting) {
    constexpr std::array<int, 3> kComputing = {31, 105, 176};
    constexpr std::array<int, 3> kWaiting = {217, 227, 238};
    std::string colour = "rgb(";
    for (std::size_t i = 0; i < 3; ++i) {
      colour += std::to_string(kComputing[i] + (kWaiting[i] - kComputing[i]) * waiting / kShades);
      colour += i < 2 ? "," : ")";
    }
    return colour;
  }

  void legend() {
    double at = kRowsLeft;
    const double y = 80;
    for (int i = 0; i <= kShades; ++i) box(at + i * 8, y - 10, 8.2, 12, shade(i));
    at += 8 * (kShades + 1) + 8;
    text(at, y, "computes … waits", quiet());
    at += 132;
    box(at, y - 10, 3, 12, kPauses);
    text(at + 10, y, "paused while vnodes moved", quiet());
    at += 198;
    svg_ << "<path d='M" << at << ' ' << y << "L" << at + 22 << ' ' << y - 9 << "' stroke='"
         << kMoves << "' stroke-width='2'/>\n";
    text(at + 30, y, "vnodes moved", quiet());
    text(kRowsRight + 16, kRowsTop - 8, "holds at the end", quiet());
    text(kRowsRight + 120, kRowsTop - 8, "sent", quiet());
    text(kRowsRight + 198, kRowsTop - 8, "waited", quiet());
  }

  void grid(double bottom) {
    const double step = round_step(length_, 10);
    for (int i = 0; i * step <= length_ * 1.0001; ++i) {
      const double at = x(i * step);
      svg_ << "<line x1='" << at << "' x2='" << at << "' y1='" << kRowsTop - 4 << "' y2='" << bottom
           << "' stroke='#e6e8ec'/>\n";
      text(at, bottom + 18, spell_on_scale(i * step, step) + (i == 0 ? " s" : ""),
           quiet("text-anchor='middle'"));
    }
  }

  void draw_row(ProcessorId id, const JobReport::Process& process) {
    const double top = rows_.at(id) + row_ * 0.12;
    const double height = row_ * 0.76;
    const JobReport::Stretch total = process.total();
    const double ran = process.end - process.begin;
    // Without crisp edges there would be seams between the parts of a row.
    svg_ << "<g shape-rendering='crispEdges'><title>" << to_string(id) << ": "
         << spell_seconds(process.begin) << " to " << spell_seconds(process.end) << ", "
         << total.messages << " messages, " << spell_bytes(total.bytes) << ", waited "
         << spell_seconds(total.waited) << ", " << process.came << " vnodes came, " << process.left
         << " left</title>\n";
    box(x(process.begin), top, std::max(x(process.end) - x(process.begin), 1.0), height, shade(0));
    draw_waits(process, top, height);
    for (const JobReport::Pause& pause : process.pauses) {
      box(x(pause.begin), top, std::max(x(pause.begin + pause.took) - x(pause.begin), 2.0), height,
          kPauses);
    }
    svg_ << "</g>\n";
    // Rows that are too flat for a line of text have none, but for some.
    const auto number = static_cast<std::size_t>((rows_.at(id) - kRowsTop) / row_ + 0.5);
    const auto every = static_cast<std::size_t>(std::ceil(13 / row_));
    if (number % every != 0) return;
    const double base = top + height / 2 + 4;
    text(kRowsLeft - 8, base, to_string(id), "text-anchor='end'");
    const int waited = static_cast<int>(ran > 0 ? 100 * total.waited / ran + 0.5 : 0);
    std::string held = process.held.empty() ? "-" : to_string(process.held);
    constexpr std::size_t kHeldMax = 14;
    if (held.size() > kHeldMax) held = std::to_string(process.held.size()) + " vnodes";
    text(kRowsRight + 16, base, held);
    text(kRowsRight + 120, base, spell_bytes(total.bytes));
    text(kRowsRight + 198, base, std::to_string(waited) + " %");
  }

  /// The parts of a row in which it waited, equal ones together.
  void draw_waits(const JobReport::Process& process, double top, double height) {
    Bins waited(length_);
    for (const JobReport::Stretch& s : process.stretches) waited.add(s.begin, s.end, s.waited);
    const auto shade_at = [&](std::size_t i) {
      const double from = std::max(waited.at(i), process.begin);
      const double to = std::min(waited.at(i + 1), process.end);
      if (to <= from) return 0;
      const double share = std::clamp(waited[i] / (to - from), 0.0, 1.0);
      return static_cast<int>(share * kShades + 0.5);
    };
    for (std::size_t i = 0; i < kBins;) {
      const int waiting = shade_at(i);
      std::size_t end = i + 1;
      while (end < kBins && shade_at(end) == waiting) ++end;
      const double from = std::max(waited.at(i), process.begin);
      const double to = std::min(waited.at(end), process.end);
      if (waiting > 0 && to > from) box(x(from), top, x(to) - x(from), height, shade(waiting));
      i = end;
    }
  }

  void draw_moves() {
    std::vector<JobReport::Move> moves = report_.moves();
    std::ranges::stable_sort(moves, std::greater<>(), &JobReport::Move::vnodes);
    const std::size_t all = moves.size();
    if (all > kMovesMax) moves.resize(kMovesMax);
    for (const JobReport::Move& move : moves) {
      const double from = rows_.at(move.from) + row_ / 2;
      const double to = rows_.at(move.to) + row_ / 2;
      const double width = 0.9 + 0.5 * std::log2(static_cast<double>(move.vnodes));
      svg_ << "<g stroke='" << kMoves << "' fill='" << kMoves << "' stroke-opacity='0.85'><title>v"
           << move.first.value;
      if (move.vnodes > 1) svg_ << " and " << move.vnodes - 1 << " more";
      svg_ << " from " << to_string(move.from) << " to " << to_string(move.to) << " at "
           << spell_seconds(move.left) << ", " << spell_short(move.came - move.left)
           << " on the way</title><line x1='" << x(move.left) << "' y1='" << from << "' x2='"
           << x(move.came) << "' y2='" << to << "' stroke-width='" << width << "'/><circle cx='"
           << x(move.came) << "' cy='" << to << "' r='" << std::min(2.2, row_ / 4)
           << "' stroke='none'/></g>\n";
    }
    if (all <= kMovesMax) return;
    text(kRowsRight, bottom_ + 14,
         std::to_string(kMovesMax) + " of " + std::to_string(all) + " moves are drawn",
         quiet("text-anchor='end'"));
  }

  void draw_rates() {
    Bins messages(length_);
    Bins bytes(length_);
    for (const auto& [id, process] : report_.processes()) {
      for (const JobReport::Stretch& s : process.stretches) {
        messages.add(s.begin, s.end, static_cast<double>(s.messages));
        bytes.add(s.begin, s.end, static_cast<double>(s.bytes));
      }
    }
    draw_rate("messages per second, all together", messages, bottom_ + kGap, false);
    draw_rate("bytes per second, all together", bytes, bottom_ + 2 * kGap + kPanel, true);
  }

  void draw_rate(std::string_view name, const Bins& sums, double top, bool is_bytes) {
    double most = 0;
    for (std::size_t i = 0; i < kBins; ++i) most = std::max(most, sums[i] / sums.width());
    if (most <= 0) most = 1;
    const double bottom = top + kPanel;
    const auto y = [&](double value) { return bottom - value / most * kPanel; };
    text(kRowsLeft, top - 10, name, "font-weight='600'");
    // Steps of bytes are round in their unit.
    double unit = 1;
    while (is_bytes && most / unit >= 1024) unit *= 1024;
    const double step = round_step(most / unit, 3) * unit;
    for (int i = 0; i * step <= most * 1.0001; ++i) {
      const double at = y(i * step);
      svg_ << "<line x1='" << kRowsLeft << "' x2='" << kRowsRight << "' y1='" << at << "' y2='"
           << at << "' stroke='" << (i == 0 ? "#98a2b3" : "#e6e8ec") << "'/>\n";
      const auto whole = static_cast<std::uint64_t>(i * step + 0.5);
      const std::string value = is_bytes ? spell_bytes(whole) : spell_on_scale(i * step, step);
      text(kRowsRight + 16, at + 4, value, quiet());
    }
    svg_ << "<path fill='#1f69b0' fill-opacity='0.18' stroke='#1f69b0' stroke-width='1.3' d='M"
         << kRowsLeft << ' ' << bottom;
    for (std::size_t i = 0; i < kBins; ++i) {
      const double value = y(sums[i] / sums.width());
      svg_ << 'L' << x(sums.at(i)) << ' ' << value << 'H' << x(sums.at(i + 1));
    }
    svg_ << 'V' << bottom << "Z'/>\n";
  }

  static constexpr int kShades = 10;

  const JobReport& report_;
  double length_;
  double row_;
  double bottom_ = 0;
  std::map<ProcessorId, double> rows_;  ///< Where each begins.
  std::ostringstream svg_;
};

}  // namespace

std::string report_page(const JobReport& report, const std::string& title,
                        const std::string& subtitle) {
  return Page(report).draw(title, subtitle);
}

}  // namespace phx::app
