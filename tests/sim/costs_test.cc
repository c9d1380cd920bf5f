#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "runtime/sim/costs.h"

using namespace phx;
using namespace phx::sim;

namespace {

std::string found(std::uint32_t processors, PlantedFault planted) {
  CostOptions options;
  options.processors = processors;
  options.planted = planted;
  std::string text;
  for (const std::string& violation : measure_costs(options).violations) text += violation + '\n';
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("sim/costs");

TEST_CASE("each event costs what it may: messages, bytes and time, at 16 and 64 processors") {
  CHECK(found(16, PlantedFault::kNone) == "");
  CHECK(found(64, PlantedFault::kNone) == "");
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

TEST_CASE("what costs only time, messages or memory is found") {
  for (const PlantedFault fault :
       {PlantedFault::kNoTrees, PlantedFault::kCopiesTwice, PlantedFault::kNoPulls,
        PlantedFault::kEndlessHops, PlantedFault::kNoTreeClose, PlantedFault::kAllDirect}) {
    CAPTURE(static_cast<int>(fault));
    CHECK(found(16, fault) != "");
  }
}
