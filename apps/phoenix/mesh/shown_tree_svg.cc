#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/phoenix/mesh/network_text.h"
#include "apps/phoenix/mesh/shown_tree.h"
#include "apps/phoenix/texts/colours.h"

namespace phx::app {
namespace {

constexpr double kColumn = 150;
constexpr double kRow = 24;
constexpr double kTreeLeft = 40;
constexpr double kTreeTop = 80;
constexpr double kBoxWidth = 52;
constexpr double kBoxHeight = 18;

/// Places processors, and writes the elements.
class TreePicture {
 public:
  explicit TreePicture(const ShownTree& tree) : tree_(tree), below_(tree.by_parent()) {
    place(tree.id.root, 0);
    for (const auto& [processor, site] : tree.sites) {
      colours_.try_emplace(site, kColours[colours_.size() % kColours.size()]);
    }
  }

  std::string draw() {
    const double depth = static_cast<double>(tree_.depth());
    const double width = std::max(2 * kTreeLeft + depth * kColumn + kBoxWidth, kLeastWidth);
    const double height = kTreeTop + (rows_ + 1) * kRow;
    svg_ << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << height
         << "' font-family='sans-serif' font-size='11'>\n<rect width='100%' height='100%' "
            "fill='white'/>\n<text x='"
         << kTreeLeft << "' y='26' font-size='16' font-weight='bold'>" << title() << "</text>\n";
    legend();
    for (const ShownTree::Edge& edge : tree_.edges) draw(edge);
    for (const ShownTree::Edge& edge : tree_.edges) label(edge);
    for (const auto& [processor, at] : places_) box(processor);
    svg_ << "</svg>\n";
    return svg_.str();
  }

 private:
  static constexpr double kLeastWidth = 620;
  struct Place {
    double x = 0;
    double y = 0;
  };

  /// A parent stands in the middle of its children.
  double place(ProcessorId processor, std::size_t depth) {
    const auto children = below_.find(processor);
    double y = 0;
    if (children == below_.end()) {
      y = kTreeTop + rows_ * kRow + kRow / 2;
      ++rows_;
    } else {
      double first = -1;
      double last = 0;
      for (const ShownTree::Edge* edge : children->second) {
        last = place(edge->to, depth + 1);
        if (first < 0) first = last;
      }
      y = (first + last) / 2;
    }
    places_[processor] = {kTreeLeft + static_cast<double>(depth) * kColumn, y};
    return y;
  }

  [[nodiscard]] std::string title() const {
    const std::size_t processors = tree_.edges.size() + 1;
    return spell(tree_.id) + ": " + std::to_string(processors) +
           (processors == 1 ? " processor" : " processors, depth " + std::to_string(tree_.depth()));
  }

  void legend() {
    double x = kTreeLeft;
    for (const auto& [site, colour] : colours_) {
      const std::string name = site.empty() ? "in no site yet" : "site " + site;
      svg_ << "<rect x='" << x << "' y='42' width='12' height='12' fill='" << colour
           << "'/><text x='" << x + 17 << "' y='52'>" << name << "</text>\n";
      x += 30 + 7 * static_cast<double>(name.size());
    }
  }

  void draw(const ShownTree::Edge& edge) {
    const Place& from = places_.at(edge.from);
    const Place& to = places_.at(edge.to);
    const bool is_far = tree_.sites.at(edge.from) != tree_.sites.at(edge.to);
    const double begin = from.x + kBoxWidth;
    const double bend = begin + (to.x - begin) / 3;
    svg_ << "<path fill='none' stroke='" << (is_far ? "#222" : "#bbb") << "' stroke-width='"
         << (is_far ? 1.8 : 1) << "'" << (edge.other_above ? " stroke-dasharray='4 3'" : "")
         << " d='M" << begin << ' ' << from.y << " C" << bend << ' ' << from.y << ' ' << begin + 8
         << ' ' << to.y << ' ' << bend << ' ' << to.y << " L" << to.x << ' ' << to.y << "'/>\n";
  }

  /// In front of all lines, which are wiped away behind it.
  void label(const ShownTree::Edge& edge) {
    const Place& to = places_.at(edge.to);
    const bool is_far = tree_.sites.at(edge.from) != tree_.sites.at(edge.to);
    svg_ << "<text x='" << to.x - 4 << "' y='" << to.y - 3
         << "' text-anchor='end' font-size='9' fill='#555' stroke='white' stroke-width='3' "
            "paint-order='stroke'>"
         << spell_latency(edge.latency) << " ms"
         << (is_far ? ", " + spell_rate(edge.rate) + " Mbit/s" : "") << "</text>\n";
  }

  void box(ProcessorId processor) {
    const Place& at = places_.at(processor);
    const auto site = tree_.sites.find(processor);
    const std::string_view colour =
        site == tree_.sites.end() ? kColours.back() : colours_.at(site->second);
    svg_ << "<rect x='" << at.x << "' y='" << at.y - kBoxHeight / 2 << "' width='" << kBoxWidth
         << "' height='" << kBoxHeight << "' rx='3' fill='" << colour << "'/><text x='"
         << at.x + kBoxWidth / 2 << "' y='" << at.y + 4 << "' text-anchor='middle' fill='white'>"
         << to_string(processor) << "</text>\n";
  }

  const ShownTree& tree_;
  std::map<ProcessorId, std::vector<const ShownTree::Edge*>> below_;
  std::map<ProcessorId, Place> places_;
  std::map<std::string, std::string_view> colours_;  ///< By site.
  double rows_ = 0;
  std::ostringstream svg_;
};

}  // namespace

std::string ShownTree::svg() const {
  return TreePicture(*this).draw();
}

}  // namespace phx::app
