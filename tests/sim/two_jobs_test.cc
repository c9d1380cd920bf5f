#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "runtime/sim/cluster.h"
#include "runtime/sim/faults.h"
#include "tests/support/planted_runs.h"
#include "tests/support/seeds.h"

namespace two_jobs_test {

using namespace phx;
using namespace phx::sim;

namespace {

/// Two jobs at once, on processors that come and go: what is wrong, if anything.
std::string found(std::uint64_t seed, PlantedFault planted) {
  ClusterOptions options;
  options.topology = overlay::Topology::uniform({4, 3}, {10ms, 0});
  options.seed = seed;
  options.jitter = 0.2;
  options.machine.fault = planted;
  Cluster cluster(std::move(options));
  cluster.add_all();
  if (!cluster.stabilize(10s)) return "the mesh does not come together";
  WorkloadOptions work;
  work.vnodes = 24;
  work.messages = 30;
  work.broadcasts = 40;
  work.reductions = 15;
  work.lasts = 1500ms;
  Workload& first = cluster.run_job(work);
  Workload& second = cluster.run_job(work);
  FaultOptions happens = FaultOptions::churn();
  happens.members_max = 12;
  Faults faults(cluster, happens, Rng(seed).fork("faults"));
  faults.start();
  cluster.run_until([] { return false; }, work.lasts);
  faults.stop();
  const auto& one = cluster.result(first);
  const auto& other = cluster.result(second);
  const bool done = cluster.run_until([&] { return one && other; }, 60s);
  for (const std::string& violation : cluster.violations().all()) return violation;
  if (!done) return "they do not end: " + cluster.describe();
  if (one->code != 0 || other->code != 0) return one->reason + other->reason;
  const bool is_whole = first.ledger().outstanding() + second.ledger().outstanding() == 0;
  return is_whole ? "" : first.ledger().missing() + second.ledger().missing();
}

}  // namespace

TEST_SUITE_BEGIN("sim/two_jobs");

TEST_CASE("two jobs at once have nothing to do with each other") {
  for (std::uint64_t seed = 1; seed <= support::seeds(15); ++seed) {
    CAPTURE(seed);
    CHECK(found(seed, PlantedFault::kNone) == "");
  }
}

TEST_CASE("the checkers find what leaks from one job into another one") {
  support::check_found(found, PlantedFault::kLeakyJobs, "is of another job");
}

}  // namespace two_jobs_test
