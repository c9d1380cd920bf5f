#include "runtime/jobs/job_output.h"

#include <algorithm>
#include <utility>

namespace phx::runtime {

// --- Where a process runs ----------------------------------------------------------------------

void JobOutput::on_written(const Surroundings& around, Output& output, JobOutbox& out) {
  output.number = ++written_;
  untaken_.push_back(size(output));
  untaken_bytes_ += untaken_.back();
  regulate(around, out);
}

void JobOutput::on_taken(const Surroundings& around, std::uint64_t count, JobOutbox& out) {
  // Homes count, and one may hear of an older count than the one before told.
  while (!untaken_.empty() && written_ - untaken_.size() < count) {
    untaken_bytes_ -= untaken_.front();
    untaken_.pop_front();
  }
  regulate(around, out);
}

void JobOutput::regulate(const Surroundings& around, JobOutbox& out) {
  const std::uint64_t share = kWindowsBytes / std::max<std::uint64_t>(around.members.size(), 1);
  const std::uint64_t window = std::clamp(share, kWindowMin, kWindowMax);
  if (!is_held_up_ && untaken_bytes_ > window) hold_up(true, out);
  if (is_held_up_ && untaken_bytes_ <= window / 2) hold_up(false, out);
}

void JobOutput::hold_up(bool is_held_up, JobOutbox& out) {
  is_held_up_ = is_held_up;
  out.report(Effect{HoldOutput{job_, is_held_up}});
}

void JobOutput::on_over(JobOutbox& out) {
  if (is_held_up_) hold_up(false, out);
}

// --- At the home -------------------------------------------------------------------------------

void JobOutput::on_come(const Surroundings& around, Output output, JobOutbox& out) {
  const ProcessorId id = output.processor;
  Writer& writer = writers_[id];
  const std::uint64_t bytes = size(output);
  writer.untold_bytes += bytes;
  if (output.number > writer.next()) {
    const std::uint64_t number = output.number;
    if (!writer.ahead.emplace(number, std::move(output)).second) return;  // nobody numbers so
    ahead_bytes_ += bytes;
    if (ahead_bytes_ > bytes_max_) take_all_ahead(writer, out);
    // Its writer does not wait: what is missing may need it to go on.
    if (tool_ && is_taken() && writer.untold_bytes >= kTakenBytes) tell(around, id, writer, out);
    return;
  }
  const bool was_given_up = output.number < writer.next() && writer.count.lost > 0;
  if (was_given_up) --writer.count.lost;
  take(writer, std::move(output), out);
  while (!writer.ahead.empty() && writer.ahead.begin()->first <= writer.next()) {
    take_next_ahead(writer, out);
  }
  drop_finished(around, id);
}

void JobOutput::take(Writer& writer, Output output, JobOutbox& out) {
  ++writer.count.come;
  if (tool_) return give(std::move(output), out);
  kept_bytes_ += size(output);
  kept_.push_back(std::move(output));
  while (kept_bytes_ > bytes_max_) {
    kept_bytes_ -= size(kept_.front());
    kept_.pop_front();
  }
}

void JobOutput::take_next_ahead(Writer& writer, JobOutbox& out) {
  auto first = writer.ahead.extract(writer.ahead.begin());
  ahead_bytes_ -= size(first.mapped());
  take(writer, std::move(first.mapped()), out);
}

void JobOutput::lose_up_to(std::uint64_t number, Writer& writer) {
  writer.count.lost = number - writer.count.come;
  writer.untold_bytes += kTakenBytes;  // So that it is told.
}

void JobOutput::take_all_ahead(Writer& writer, JobOutbox& out) {
  while (!writer.ahead.empty()) {
    const std::uint64_t number = writer.ahead.begin()->first;
    if (number > writer.next()) lose_up_to(number - 1, writer);
    take_next_ahead(writer, out);
  }
}

void JobOutput::give(Output output, JobOutbox& out) {
  is_given_ = true;
  out.report(Effect{Reply{*tool_, RunOutput{std::move(output)}}});
}

void JobOutput::on_tool(ClientId tool, JobOutbox& out) {
  tool_ = tool;
  for (Output& output : kept_) give(std::move(output), out);
  kept_.clear();
  kept_bytes_ = 0;
}

void JobOutput::on_tool_took(const Surroundings& around, JobOutbox& out) {
  is_given_ = false;
  for (auto& [id, writer] : writers_) {
    if (writer.untold_bytes >= kTakenBytes) tell(around, id, writer, out);
  }
}

void JobOutput::tell(const Surroundings& around, ProcessorId id, Writer& writer, JobOutbox& out) {
  writer.untold_bytes = 0;
  const std::uint64_t count =
      writer.ahead.empty() ? writer.next() - 1 : writer.ahead.rbegin()->first;
  if (!is_gone(around, id)) out.send(id, OutputTaken{job_, count});
}

void JobOutput::on_tool_gone() {
  tool_.reset();
  is_given_ = false;
}

void JobOutput::on_gone(const Surroundings& around, const ViewChange::Gone& gone) {
  // What one has written that left in order is here or on its way; what others had, may be lost.
  if (gone.why != Departure::kLeft) died_.insert(gone.id);
  drop_finished(around, gone.id);
}

void JobOutput::on_lost(const Surroundings& around, JobOutbox& out) {
  for (auto& [id, writer] : writers_) {
    take_all_ahead(writer, out);
    if (writer.count.written >= writer.next()) lose_up_to(writer.count.written, writer);
  }
  if (tool_ && is_taken()) on_tool_took(around, out);
}

void JobOutput::drop_finished(const Surroundings& around, ProcessorId writer) {
  const auto found = writers_.find(writer);
  // What still waits here for the tool may be handed on, and has to be counted again.
  if (found == writers_.end() || !is_gone(around, writer) || !kept_.empty()) return;
  const OutputCount& count = found->second.count;
  if (!found->second.ahead.empty()) return;
  if (count.come >= count.written || died_.contains(writer)) writers_.erase(found);
}

void JobOutput::become_home(const Surroundings& around, const Counts& counts,
                            const std::map<ProcessorId, JobStage>& stages, JobOutbox& out) {
  forget_writers();
  // What has come to homes before and was not given away again, the tool has taken.
  for (const auto& [id, count] : counts) tell(around, id, writers_[id] = {count}, out);
  for (const auto& [id, stage] : stages) {
    std::uint64_t& written = writers_[id].count.written;
    written = std::max(written, stage.written);
  }
}

void JobOutput::uncount_kept() {
  for (const Output& output : kept_) --writers_[output.processor].count.come;
}

void JobOutput::give_away(ProcessorId home, JobOutbox& out) {
  for (Output& output : kept_) out.send(home, std::move(output));
  kept_.clear();
  kept_bytes_ = 0;
  for (auto& [id, writer] : writers_) {
    for (auto& [number, output] : writer.ahead) out.send(home, std::move(output));
    writer.ahead.clear();
  }
  ahead_bytes_ = 0;
}

void JobOutput::forget_writers() {
  writers_.clear();
  ahead_bytes_ = 0;
}

JobOutput::Counts JobOutput::counts() const {
  Counts counts;
  for (const auto& [id, writer] : writers_) {
    // The next home may be too young to know who has died.
    const std::uint64_t written = died_.contains(id) ? 0 : writer.count.written;
    counts.emplace_hint(counts.end(), id,
                        OutputCount{written, writer.count.come, writer.count.lost});
  }
  return counts;
}

bool JobOutput::has_all_come() const {
  return std::ranges::all_of(writers_, [this](const auto& entry) {
    const OutputCount& count = entry.second.count;
    if (!entry.second.ahead.empty()) return false;
    return count.come >= count.written || died_.contains(entry.first);
  });
}

}  // namespace phx::runtime
