#include "apps/phoenix/experiments/plot.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "apps/phoenix/texts/colours.h"

namespace phx::app::plot_test {
namespace {

/// The picture as it is written.
std::string drawn(const Plot& plot) {
  std::string folder = std::filesystem::temp_directory_path() / "phoenix-plot-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  REQUIRE(plot.write(folder + "/plot.svg").ok());
  std::ifstream file(folder + "/plot.svg");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove_all(folder);
  return text;
}

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
  for (std::size_t i = 0; i <= kColours.size(); ++i) plot.lines.push_back({"line", {1, 2}});

  const std::string text = drawn(plot);

  CHECK(count(text, "stroke-dasharray='6 4'") == 2);  // the line and its swatch
  CHECK(count(text, "<line x1='716' x2='742'") == plot.lines.size());
}

TEST_CASE("the axes are named") {
  const std::string text = drawn({"title", "processors", "ms for both", {{"line", {1}}}});

  CHECK(count(text, ">processors</text>") == 1);
  CHECK(count(text, ">ms for both</text>") == 1);
}

}  // namespace phx::app::plot_test
