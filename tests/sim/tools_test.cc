#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/sim/churn.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/job_tools.h"
#include "tests/support/planted_runs.h"
#include "tests/support/seeds.h"

namespace tools_test {

using namespace phx;
using namespace phx::sim;

namespace {

constexpr Duration kLasts = 3s;
constexpr Duration kBreaksAfter = 500ms;
constexpr ToolBreak kNeverBack{.daemon_after = 100ms, .tool_after = {}};

/// A job that writes all the time, and whose tool is cut off while it runs.
struct Harness {
  explicit Harness(bool detached = false) {
    cluster.add_all();
    REQUIRE(cluster.stabilize(10s));
    WorkloadOptions work;
    work.vnodes = 16;
    work.messages = 20;
    work.output_bytes = 500;
    work.lasts = kLasts;
    work.detached = detached;
    job = &cluster.run_job(work);
    cluster.run_for(kBreaksAfter);
    REQUIRE(job->ledger().counters().outputs > 0);
  }
  static ClusterOptions machines() {
    ClusterOptions options;
    options.topology = overlay::Topology::uniform({5}, {1ms, 0});
    return options;
  }
  void break_off(const ToolBreak& how) {
    broken_at = cluster.now();
    REQUIRE(cluster.tools().break_off(*job, how));
  }
  /// The machine that looks after the job.
  [[nodiscard]] MachineId home() const {
    for (const MachineId id : cluster.running()) {
      for (const auto& status : cluster.machines()[id.value].daemon()->status().jobs) {
        return *cluster.find(status.home);
      }
    }
    return {};
  }
  void end() {
    REQUIRE(cluster.run_until([&] { return cluster.result(*job).has_value(); }, 60s));
    CHECK(cluster.violations().empty());
  }
  /// ... well, with all that was written.
  void end_well() {
    end();
    const auto& result = *cluster.result(*job);
    CHECK(result.reason == "");
    CHECK(result.code == 0);
    CHECK(job->ledger().outstanding() == 0);
    CHECK(job->ledger().unshown() == 0);
  }

  Cluster cluster{machines()};
  Workload* job = nullptr;
  Instant broken_at{};
};

std::string found(std::uint64_t seed, PlantedFault fault) {
  ChurnOptions options = ChurnOptions::small();
  options.planted = fault;
  options.extras_share = 0;
  options.workload.output_bytes = 2000;
  const bool is_lost = fault == PlantedFault::kPatientHome;
  (is_lost ? options.faults.tool_losses : options.faults.tool_breaks) = 200ms;
  options.faults.drains = is_lost ? Duration{} : options.faults.drains;
  options.settles_within = 40s;
  options.stalls_after = 40s;
  std::string text;
  for (const std::string& violation : run_churn(seed, options).violations) text += violation + '\n';
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("sim/tools");

TEST_CASE(
    "a tool whose connection breaks comes back, whoever notices, and shows each output once") {
  const ToolBreak breaks[] = {
      {.daemon_after = 0ms, .tool_after = 1s},      {.daemon_after = {}, .tool_after = 0ms},
      {.daemon_after = 300ms, .tool_after = 300ms}, {.daemon_after = 1s, .tool_after = 0ms},
      {.daemon_after = 0ms, .tool_after = 14s},
  };
  for (const ToolBreak& how : breaks) {
    CAPTURE(how.tool_after->count());
    Harness h;

    h.break_off(how);

    h.end_well();
  }
}

TEST_CASE("a tool finds its job, which has gone elsewhere before the break was noticed") {
  Harness h;
  const MachineId before = h.home();

  h.break_off({.daemon_after = {}, .tool_after = 1s});
  h.cluster.drain(before);

  h.cluster.run_for(900ms);
  CHECK(h.home() != before);
  h.end_well();
}

TEST_CASE("a job whose tool does not come back for 15 s ends, and says why") {
  Harness h;
  const runtime::Daemon& home = *h.cluster.machine(h.home()).daemon();

  h.break_off(kNeverBack);
  h.cluster.run_for(15s);
  CHECK(home.status().jobs.size() == 1);
  h.cluster.run_for(1s);
  CHECK(home.status().jobs.empty());

  h.end();
  CHECK(h.cluster.result(*h.job)->code == 129);
  CHECK(h.cluster.result(*h.job)->reason == "the tool that followed it did not come back");
  CHECK(h.cluster.tools().has_ended_alone(*h.job));
}

TEST_CASE("a detached job whose tool does not come back waits for another one") {
  Harness h(/*detached=*/true);

  h.break_off(kNeverBack);

  h.end_well();
  CHECK(h.cluster.now() > h.broken_at + 15s);
}

TEST_CASE("a job that has gone elsewhere does not know that its tool is lost, and waits longer") {
  Harness h;
  const MachineId before = h.home();

  h.break_off({.daemon_after = 2s, .tool_after = {}});
  h.cluster.drain(before);

  h.end_well();
  CHECK(h.home() != before);
  CHECK(h.cluster.now() > h.broken_at + 15s);
}

TEST_CASE("the checkers find a home that has forgotten what its tool was shown, or who it is" *
          phx::support::long_search()) {
  support::check_found(found, PlantedFault::kForgottenShown, "was shown again");
  support::check_found(found, PlantedFault::kNamelessTools, "another tool follows j1 already");
}

TEST_CASE("the checkers find a home that waits for too long for a tool that is lost" *
          phx::support::long_search()) {
  support::check_found(found, PlantedFault::kPatientHome, "its tool has not come back for 15 s");
}

TEST_SUITE_END();

}  // namespace tools_test
