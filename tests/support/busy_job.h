#pragma once

#include <doctest/doctest.h>

#include "runtime/sim/cluster.h"

namespace phx::support {

/// A job with messages, broadcasts and reductions over this time: it ends, and all is delivered.
inline void check_busy_job(sim::Cluster& cluster, Duration lasts) {
  sim::WorkloadOptions work;
  work.vnodes = 24;
  work.messages = 30;
  work.broadcasts = 60;
  work.reductions = 10;
  work.lasts = lasts;
  sim::Workload& job = cluster.run_job(work);
  const auto& result = cluster.result(job);
  REQUIRE(cluster.run_until([&] { return result.has_value(); }, 60s));
  CHECK(result->code == 0);
  CHECK(job.ledger().outstanding() == 0);
  CHECK(cluster.violations().empty());
}

}  // namespace phx::support
