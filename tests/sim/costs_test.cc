#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sim/costs.h"
#include "tests/support/seeds.h"

namespace costs_test {

using namespace phx;
using namespace phx::sim;

namespace {

std::string found(std::uint32_t processors, PlantedFault planted,
                  runtime::TreeSource trees = runtime::TreeSource::kLearned) {
  CostOptions options;
  options.trees = trees;
  options.processors = processors;
  options.planted = planted;
  std::string text;
  for (const std::string& violation : measure_costs(options).violations) text += violation + '\n';
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("sim/costs");

TEST_CASE("each event costs what it may: messages, bytes and time, at 16 and 64 processors" *
          phx::support::long_search()) {
  CHECK(found(16, PlantedFault::kNone) == "");
  CHECK(found(64, PlantedFault::kNone) == "");
}

// A row is the name of an event and four figures of four sizes; each size has every fourth one.
TEST_CASE("the table in runtime/README.md is what is measured, at 16 and 64 processors" *
          phx::support::long_search()) {
  std::map<std::string, std::vector<double>> table;
  std::ifstream page(PHX_ROOT
                     "/"
                     "runtime/README.md");
  constexpr std::size_t kFigures = 16;
  constexpr double kTolerance = 0.15;
  for (std::string line; std::getline(page, line);) {
    std::istringstream words(line);
    std::string event;
    std::vector<double> figures;
    for (std::string word; words >> word;) {
      const bool is_number = word.find_first_not_of("0123456789.") == std::string::npos;
      if (is_number) figures.push_back(std::stod(word));
      if (!is_number) event += (event.empty() ? "" : " ") + word;
    }
    const bool is_head = event.starts_with("event ");
    if (figures.size() == kFigures && !is_head) table.emplace(event, figures);
  }
  CostOptions options;
  for (std::size_t size = 0; size < 2; ++size) {
    options.processors = size == 0 ? 16 : 64;
    std::set<std::string_view> seen;
    for (const CostRow& row : measure_costs(options).rows) {
      if (!seen.insert(row.event).second) continue;  // The second job finds trees and links.
      CAPTURE(row.event);
      REQUIRE(table.contains(std::string(row.event)));
      const std::vector<double>& figures = table.at(std::string(row.event));
      const double n = options.processors;
      const double measured[] = {static_cast<double>(row.all.messages) / n,
                                 static_cast<double>(row.all.bytes) / n,
                                 static_cast<double>(row.busiest.messages), to_ms(row.time)};
      for (std::size_t i = 0; i < std::size(measured); ++i) {
        CAPTURE(i);
        const double said = figures[4 * i + size];
        CAPTURE(said);
        CAPTURE(measured[i]);
        // As it is rounded in the table.
        CHECK(std::abs(measured[i] - said) <= kTolerance * said + (i == 0 ? 0.05 : 0.5));
      }
    }
    for (const auto& entry : table) {
      CAPTURE(entry.first);
      CHECK(seen.contains(entry.first));
    }
  }
}

TEST_CASE("many who join a job at once have their vnodes soon, and leave as soon") {
  CostOptions options;
  for (const std::uint32_t processors : {16U, 64U}) {
    CAPTURE(processors);
    options.processors = processors;
    const CostReport report = measure_mesh(options, processors / 4);
    for (const std::string& violation : report.violations) FAIL_CHECK(violation);
    for (const CostRow& row : report.rows) {
      // A round of requests, and a second one for who was refused; at most two pauses between them.
      if (row.event == "gain" || row.event == "drain") CHECK(row.time < 1s);
    }
  }
}

TEST_CASE("what costs only time, messages or memory is found" * phx::support::long_search()) {
  for (const PlantedFault fault :
       {PlantedFault::kCopiesTwice, PlantedFault::kNoPulls, PlantedFault::kEndlessHops,
        PlantedFault::kAllDirect, PlantedFault::kLongWaits}) {
    CAPTURE(static_cast<int>(fault));
    CHECK(found(16, fault) != "");
  }
}

// They cost more than learned trees in many ways; these are what each fault adds.
TEST_CASE("what is wrong with trees by local rules is found" * phx::support::long_search()) {
  const auto says = [](PlantedFault fault, const std::string& what) {
    return found(16, fault, runtime::TreeSource::kAdaptive).find(what) != std::string::npos;
  };
  CHECK_FALSE(says(PlantedFault::kNone, "fallbacks"));
  CHECK_FALSE(says(PlantedFault::kNone, "trees close does not end"));
  CHECK(says(PlantedFault::kNoTrees, "fallbacks"));
  CHECK(says(PlantedFault::kNoTreeClose, "trees close does not end"));
}

}  // namespace costs_test
