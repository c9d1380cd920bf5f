#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "apps/phoenix/jobs/job_summary.h"
#include "runtime/messages/client_messages.h"

namespace phx::app::tool_test {

inline constexpr JobId kJob{4};

/// Processors 1, 2, ... of which each holds two of the job's vnodes.
class Mesh {
 public:
  explicit Mesh(std::uint32_t processors) {
    for (std::uint32_t i = 0; i < processors; ++i) {
      runtime::JobStatus job;
      job.job = kJob;
      job.name = "heat";
      job.home = ProcessorId{1};
      job.stage = runtime::Stage::kAttached;
      job.vnodes = 2 * processors;
      job.held = VnodeSet::range(VnodeId{2 * i}, VnodeId{2 * i + 1});
      runtime::ProcessorStatus processor;
      processor.id = ProcessorId{i + 1};
      processor.jobs = {std::move(job)};
      reply.processors.push_back(std::move(processor));
    }
  }
  runtime::JobStatus& at(std::uint32_t processor) {
    return reply.processors[processor - 1].jobs[0];
  }
  void wait(std::uint32_t first, std::uint32_t last, const std::string& call) {
    for (std::uint32_t i = first; i <= last; ++i) at(i).process_waits = call;
  }
  [[nodiscard]] std::string waiting() const { return summarise(reply).at(kJob).waiting; }

  runtime::StatusReply reply;
};

}  // namespace phx::app::tool_test
