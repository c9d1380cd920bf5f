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

TEST_CASE("what costs only time, messages or memory is found") {
  for (const PlantedFault fault :
       {PlantedFault::kNoTrees, PlantedFault::kCopiesTwice, PlantedFault::kNoPulls,
        PlantedFault::kEndlessHops, PlantedFault::kNoTreeClose}) {
    CAPTURE(static_cast<int>(fault));
    CHECK(found(16, fault) != "");
  }
}
