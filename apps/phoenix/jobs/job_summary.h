#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "overlay/base/ids.h"
#include "runtime/messages/client_messages.h"

namespace phx::app {

/// What the daemons together say about one job.
struct JobSummary {
  std::string name;
  ProcessorId home;
  std::uint64_t vnodes = 0;
  std::uint64_t held = 0;
  std::uint64_t running = 0;
  /// What a daemon waits for; who waits in which call, and who does not: "p2 waits for barrier;
  /// missing: p1 (v0-1), computing for 12 s". Empty: nobody waits.
  std::string waiting;
};

[[nodiscard]] std::map<JobId, JobSummary> summarise(const runtime::StatusReply& reply);
[[nodiscard]] const char* name_of(runtime::Stage stage);
/// Its process has finished, and waits for nothing any more.
[[nodiscard]] bool is_done(const runtime::JobStatus& job);

/// All jobs, one per line.
[[nodiscard]] std::string job_table(const runtime::StatusReply& reply);
/// One job, a line per processor, with what its process has done there, and one per vnode. Empty:
/// there is no such job.
[[nodiscard]] std::string job_details(const runtime::StatusReply& reply, JobId job);

}  // namespace phx::app
