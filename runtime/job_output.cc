#include "runtime/job_output.h"

#include <algorithm>
#include <utility>

namespace phx::runtime {

void JobOutput::on_come(const Surroundings& around, Output output, JobOutbox& out) {
  const ProcessorId writer = output.processor;
  ++counts_[writer].come;
  drop_finished_count(around, writer);
  pass_on(std::move(output), out);
}

void JobOutput::pass_on(Output output, JobOutbox& out) {
  if (tool_) {
    out.report(Effect{Reply{*tool_, RunOutput{std::move(output)}}});
    return;
  }
  kept_bytes_ += output.bytes.size();
  kept_.push_back(std::move(output));
  while (kept_bytes_ > bytes_max_) {
    kept_bytes_ -= kept_.front().bytes.size();
    kept_.pop_front();
  }
}

void JobOutput::on_tool(ClientId tool, JobOutbox& out) {
  tool_ = tool;
  for (Output& output : kept_) out.report(Effect{Reply{tool, RunOutput{std::move(output)}}});
  kept_.clear();
  kept_bytes_ = 0;
}

void JobOutput::on_gone(const Surroundings& around, const ViewChange::Gone& gone) {
  // What one has written that left in order is here or on its way; what others had, may be lost.
  if (gone.why != Departure::kLeft) died_.insert(gone.id);
  drop_finished_count(around, gone.id);
}

void JobOutput::drop_finished_count(const Surroundings& around, ProcessorId writer) {
  const auto found = counts_.find(writer);
  // What still waits here for the tool may be handed on, and has to be counted again.
  if (found == counts_.end() || !is_gone(around, writer) || !kept_.empty()) return;
  const OutputCount count = found->second;
  if (count.come >= count.written || died_.contains(writer)) counts_.erase(found);
}

void JobOutput::become_home(Counts counts, const std::map<ProcessorId, JobStage>& stages) {
  counts_ = std::move(counts);
  for (const auto& [processor, stage] : stages) {
    std::uint64_t& written = counts_[processor].written;
    written = std::max(written, stage.written);
  }
}

void JobOutput::uncount_kept() {
  for (const Output& output : kept_) --counts_[output.processor].come;
}

void JobOutput::give_away(ProcessorId home, JobOutbox& out) {
  for (Output& output : kept_) out.send(home, std::move(output));
  kept_.clear();
  kept_bytes_ = 0;
}

bool JobOutput::has_all_come() const {
  return std::ranges::all_of(counts_, [this](const auto& entry) {
    return entry.second.come >= entry.second.written || died_.contains(entry.first);
  });
}

}  // namespace phx::runtime
