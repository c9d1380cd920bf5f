#include "runtime/jobs/job_output.h"

#include <algorithm>
#include <utility>

namespace phx::runtime {

// --- Where a process runs ----------------------------------------------------------------------

void JobOutput::on_written(const Surroundings& around, Output& output, JobOutbox& out) {
  output.number = ++written_;
  kept_bytes_ += size(output);
  kept_.push_back(output);
  regulate(around, out);
}

void JobOutput::on_taken(const Surroundings& around, std::uint64_t count, JobOutbox& out) {
  while (!kept_.empty() && kept_.front().number <= count) {
    kept_bytes_ -= size(kept_.front());
    kept_.pop_front();
  }
  regulate(around, out);
}

void JobOutput::regulate(const Surroundings& around, JobOutbox& out) {
  const std::uint64_t share = kWindowsBytes / std::max<std::uint64_t>(around.members.size(), 1);
  const std::uint64_t window = std::clamp(share, kWindowMin, kWindowMax);
  if (!is_held_up_ && kept_bytes_ > window) hold_up(true, out);
  if (is_held_up_ && kept_bytes_ <= window / 2) hold_up(false, out);
}

void JobOutput::hold_up(bool is_held_up, JobOutbox& out) {
  is_held_up_ = is_held_up;
  out.report(Effect{HoldOutput{job_, is_held_up}});
}

void JobOutput::on_over(JobOutbox& out) {
  kept_.clear();
  kept_bytes_ = 0;
  if (is_held_up_) hold_up(false, out);
}

void JobOutput::repeat(ProcessorId home, JobOutbox& out) const {
  for (const Output& output : kept_) out.send(home, output);
}

// --- At the home -------------------------------------------------------------------------------

void JobOutput::on_come(Output output, JobOutbox& out) {
  if (!tool_) return;  // It will be asked for.
  const ProcessorId id = output.processor;
  Writer& writer = writers_[id];
  if (output.number <= writer.given) return;
  if (output.number > writer.given + 1) {
    // What was before it went to another home, or came when no tool was here.
    if (!std::exchange(writer.is_asked, true)) {
      out.send(id, OutputTaken{job_, writer.given, true});
    }
    return;
  }
  writer.is_asked = false;
  writer.given = output.number;
  writer.untold_bytes += size(output);
  is_given_ = true;
  out.report(Effect{Reply{tool_->client, RunOutput{std::move(output)}}});
}

void JobOutput::on_forgotten(ProcessorId writer, std::uint64_t count) {
  if (!tool_ || count == 0) return;
  Writer& known = writers_[writer];
  known.given = std::max(known.given, count);
}

void JobOutput::on_tool(const Tool& tool, const Numbers& shown, const ProcessorSet& asked,
                        JobOutbox& out) {
  on_tool_gone();
  tool_ = tool;
  for (const auto& [id, number] : shown) writers_[id].given = number;
  for (const ProcessorId id : asked.ids()) {
    Writer& writer = writers_[id];
    writer.is_asked = true;
    out.send(id, OutputTaken{job_, writer.given, true});
  }
}

void JobOutput::on_tool_took(const Surroundings& around, JobOutbox& out) {
  is_given_ = false;
  for (auto& [id, writer] : writers_) {
    const std::uint64_t enough = around.staying.contains(id) ? kTakenBytes : 1;
    if (writer.untold_bytes < enough) continue;
    writer.untold_bytes = 0;
    if (!is_gone(around, id)) out.send(id, OutputTaken{job_, writer.given, false});
  }
}

void JobOutput::on_tool_gone() {
  tool_.reset();
  is_given_ = false;
  writers_.clear();
}

std::uint64_t JobOutput::given(ProcessorId writer) const {
  const auto found = writers_.find(writer);
  return found == writers_.end() ? 0 : found->second.given;
}

}  // namespace phx::runtime
