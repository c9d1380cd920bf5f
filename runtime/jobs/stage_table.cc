#include "runtime/jobs/stage_table.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace phx::runtime {
namespace {

/// Those of whom it may be said that they are at this stage.
ProcessorSet believed(const Surroundings& around, const JobStages::Run& said) {
  ProcessorSet result = not_gone(around, said);
  const std::uint32_t next = around.view.next_processor;
  if (is_over(said.value.stage) && said.first.value < next) {
    result.insert({said.first, std::min(said.last, ProcessorId{next - 1})});
  }
  return result;
}

/// The oldest ones.
ProcessorSet first_of(const ProcessorSet& all, std::uint64_t count) {
  ProcessorSet first;
  for (const ProcessorId id : all.ids()) {
    if (first.size() == count) break;
    first.insert(id);
  }
  return first;
}

JobStage without_counts(JobStage stage) {
  stage.written = stage.taken = 0;
  return stage;
}

}  // namespace

bool takes_part(Stage stage) {
  return stage == Stage::kStarting || stage == Stage::kAttached;
}

bool is_over(Stage stage) {
  return stage == Stage::kFinished || stage == Stage::kExited;
}

ProcessorSet not_gone(const Surroundings& around, const JobStages::Run& run) {
  constexpr std::uint32_t kAheadMost = 1U << 16U;  ///< A view may be so far behind what is said.
  const ProcessorId next{around.view.next_processor};
  const ProcessorId last{next.value + kAheadMost};
  ProcessorSet result = around.members.common(ProcessorSet::range(run.first, run.last));
  if (run.last >= next && run.first <= last) {
    result.insert({std::max(run.first, next), std::min(run.last, last)});
  }
  return result;
}

StageTable::StageTable(ProcessorId self, const JobStart& start) : self_(self), job_(start.job) {
  for (const auto& range : start.processors.ranges()) {
    runs_.put({range.first, range.last, {job_, Stage::kStarting, {}}});
  }
}

void StageTable::learn(const Surroundings& around, const JobStages::Run& said, bool is_own) {
  ProcessorSet newer = believed(around, said).minus(ProcessorSet{self_});
  const bool is_first = said.value.change == 0;
  if (!is_own && is_first && said.value.stage == Stage::kStarting) return;
  // Who has not heard yet that it is chosen says nothing against that.
  if (is_own && is_first && chosen_.contains(said.first)) return;
  const std::uint64_t known = said.value.change + (is_own ? 1 : 0);
  const auto end = runs_.runs().end();
  for (auto run = runs_.from(said.first); run != end && run->first <= said.last; ++run) {
    if (run->value.change < known) continue;
    newer = newer.minus(ProcessorSet::range(run->first, run->last));
  }
  for (const auto& range : newer.ranges()) runs_.put({range.first, range.last, said.value});
}

void StageTable::on_gone(ProcessorId processor) {
  const JobStage* last = find(processor);
  if (last != nullptr && !is_over(last->stage)) runs_.erase(processor);
}

ProcessorSet StageTable::choose(const Surroundings& around, const JobSpec& spec,
                                const ProcessorSet& unheard) {
  if (spec.command.empty() || spec.fixed || is_ending()) return {};
  const ProcessorSet chosen_before = runs_.ids_where(
      [](const JobStage& one) { return one.stage != Stage::kNone || one.change != 0; });
  ProcessorSet chosen = around.staying.minus(chosen_before).minus(unheard);
  if (spec.processors_max != 0) {
    // Who has not said what it runs may be one of those that are wanted.
    std::uint64_t wanted = unheard.empty() ? spec.processors_max : 0;
    wanted -= std::min<std::uint64_t>(wanted, taking_part().common(around.staying).size());
    chosen = wanted == 0 ? ProcessorSet{} : first_of(chosen, wanted);
  }
  for (const auto& range : chosen.ranges()) {
    runs_.put({range.first, range.last, {job_, Stage::kStarting, {}}});
    chosen_.insert(range);
  }
  return chosen;
}

void StageTable::forget_choices() {
  const ProcessorSet unanswered = chosen_.common(silent());
  for (const ProcessorId id : unanswered.ids()) runs_.erase(id);
  chosen_ = {};
}

JobStages StageTable::said() const {
  JobStages all;
  for (const JobStages::Run& run : runs()) {
    all.put({run.first, run.last, without_counts(run.value)});
  }
  return all;
}

JobStages StageTable::said(const ProcessorSet& of) const {
  JobStages some;
  for (const JobStages::Run& run : runs()) {
    const ProcessorSet said = of.common(ProcessorSet::range(run.first, run.last));
    for (const auto& range : said.ranges()) {
      some.put({range.first, range.last, without_counts(run.value)});
    }
  }
  return some;
}

ProcessorSet StageTable::ready() const {
  return runs_.ids_where([](const JobStage& one) { return one.stage == Stage::kAttached; });
}

ProcessorSet StageTable::taking_part() const {
  return runs_.ids_where([](const JobStage& one) { return takes_part(one.stage); });
}

ProcessorSet StageTable::silent() const {
  return runs_.ids_where(
      [](const JobStage& one) { return one.stage == Stage::kStarting && one.change == 0; });
}

bool StageTable::is_ending() const {
  return std::ranges::any_of(runs(),
                             [](const JobStages::Run& run) { return is_over(run.value.stage); });
}

bool StageTable::has_sessions() const {
  return std::ranges::any_of(runs(), [](const JobStages::Run& run) {
    const JobStage& one = run.value;
    return one.stage == Stage::kAttached || one.stage == Stage::kFinished || one.exit.finished;
  });
}

}  // namespace phx::runtime
