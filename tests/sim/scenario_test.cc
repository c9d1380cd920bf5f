#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/sim/scenario.h"

namespace scenario_test {

using namespace phx;
using namespace phx::sim;

namespace {

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PHX_SCENARIOS)) {
    if (entry.path().extension() == ".trace") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string read_all(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

ScenarioOutcome run(const std::string& script) {
  auto outcome = run_scenario(script);
  if (!outcome.ok()) FAIL(outcome.error().what);
  return std::move(outcome).value();
}

}  // namespace

TEST_SUITE_BEGIN("sim/scenario");

// PHX_UPDATE_TRACES=1 writes the transcripts anew; read the difference before you keep it.
TEST_CASE("every scenario goes the way its transcript says") {
  const bool rewrites = std::getenv("PHX_UPDATE_TRACES") != nullptr;
  const auto files = scenario_files();
  REQUIRE(files.size() > 0);
  for (const auto& path : files) {
    CAPTURE(path.filename().string());
    ScenarioFile file = split_scenario(read_all(path));
    const ScenarioOutcome outcome = run(file.script);
    CHECK(outcome.violations == std::vector<std::string>{});
    if (rewrites) {
      file.transcript = outcome.transcript;
      std::ofstream(path) << join_scenario(file);
    }
    CHECK(outcome.transcript == file.transcript);
  }
}

TEST_CASE("a scenario file is read back as it was written") {
  const ScenarioFile file{"cluster sites=1\nrun 1s\n", {"[0ms] p1 something", "[1ms] p1 more"}};

  const ScenarioFile again = split_scenario(join_scenario(file));

  CHECK(again.script == file.script);
  CHECK(again.transcript == file.transcript);
}

TEST_CASE("a script that cannot be read names the statement") {
  for (const char* script : {"dance", "run 1s", "cluster sites=x", "cluster sites=1; run fast",
                             "cluster sites=1; drain 5", "cluster sites=1; join site=7"}) {
    CAPTURE(script);
    const auto outcome = run_scenario(script);
    REQUIRE(!outcome.ok());
    CHECK(outcome.error().code == ErrorCode::kBadInput);
  }
}

}  // namespace scenario_test
