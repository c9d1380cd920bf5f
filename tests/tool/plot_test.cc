#include "apps/experiments/plot.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "apps/phoenix/texts/colours.h"

namespace phx::app::plot_test {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace

TEST_CASE("a dashed line has a swatch that is long enough for two dashes") {
  Plot plot{"title", "across", "up", {}};
  for (std::size_t i = 0; i <= kColours.size(); ++i) {
    plot.lines.push_back({"line", {1, static_cast<double>(i)}});
  }

  const std::string text = plot.svg("");

  CHECK(count(text, "stroke-dasharray='6 4'") == 2);  // the line and its swatch
  CHECK(count(text, "<line x1='716' x2='742'") == plot.lines.size());
}

TEST_CASE("the axes are named") {
  const std::string text = Plot{"title", "processors", "ms for both", {{"line", {1}}}}.svg("");

  CHECK(count(text, ">processors</text>") == 1);
  CHECK(count(text, ">ms for both</text>") == 1);
}

TEST_CASE("what is no number is left out, on both kinds of axes") {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  constexpr double kHuge = std::numeric_limits<double>::max();
  const std::vector<std::vector<double>> all = {
      {},      {0, 0},         {kNone, kNone}, {kEndless, -kEndless}, {0, kNone, kEndless, 3},
      {-1, 2}, {kTiny, kHuge}, {kHuge, kHuge}};
  for (const std::vector<double>& values : all) {
    for (const bool is_dotted : {false, true}) {
      for (const double least : {0.0, 1.0, kTiny, kHuge, kNone, kEndless, -1.0}) {
        Plot plot{"title", "across", "up", {{"line", values}}};
        plot.is_dotted = is_dotted;
        plot.least = least;
        const std::string text = plot.svg("");
        CHECK(count(text, "nan") == 0);
        CHECK(count(text, "inf") == 0);
      }
      Plot plot{"title", "across", "up", {{"line", values}}};
      plot.least = plot.decade();
      CHECK(plot.least > 0);
      CHECK(count(plot.svg(""), "nan") == 0);
    }
  }
}

TEST_CASE("a logarithmic axis begins at the power of ten below all values") {
  Plot plot{"title", "across", "up", {{"a", {0, 30, 2000}}, {"b", {1000}}}};
  CHECK(plot.decade() == doctest::Approx(10));
  plot.lines.push_back({"c", {0.1}});
  CHECK(plot.decade() == doctest::Approx(0.1));
  CHECK(Plot{}.decade() == doctest::Approx(1));
}

TEST_CASE("what is higher than the axis is at its top, also without end") {
  Plot plot{"title", "across", "up", {{"line", {1, 100, std::numeric_limits<double>::infinity()}}}};
  plot.is_dotted = true;
  plot.most = 10;

  CHECK(count(plot.svg(""), "<circle") == 4);  // and its name
}

TEST_CASE("a line of which nothing is drawn has no name") {
  const Plot plot{"title", "across", "up", {{"nothing", {}}, {"something", {1}}}};

  CHECK(count(plot.svg(""), ">nothing<") == 0);
  CHECK(count(plot.svg(""), ">something<") == 1);
}

TEST_CASE("a line on another one lets it shine through") {
  const Plot plot{"title", "across", "up", {{"below", {1, 2}}, {"above", {1, 2.001}}}};

  CHECK(count(plot.svg(""), "stroke-dasharray='2 6'") == 2);  // the line and its swatch
}

TEST_CASE("points of one place stand beside each other") {
  Plot plot{"title", "across", "up", {}};
  plot.is_dotted = true;
  plot.names = {"one", "two", "three", "four", "five"};
  for (int i = 0; i < 15; ++i) plot.lines.push_back({"line", std::vector<double>(5, 1.0)});

  const std::string text = plot.svg("");

  std::vector<double> at;
  for (std::size_t i = text.find("<circle"); i != std::string::npos;
       i = text.find("<circle", i + 1)) {
    at.push_back(std::stod(text.substr(i + std::string("<circle cx='").size())));
  }
  REQUIRE(at.size() == 15 * 6);  // five places and the name of each
  CHECK(at[6] - at[0] >= 9.9);
}

TEST_CASE("words of a picture are words, and it says what made it") {
  const std::string text = Plot{"a < b & c", "across", "up", {}}.svg("tool --out x --seed 2");

  CHECK(count(text, ">a &lt; b &amp; c</text>") == 1);
  CHECK(count(text, "<desc>tool --out x --seed 2</desc>") == 1);
}

}  // namespace phx::app::plot_test
