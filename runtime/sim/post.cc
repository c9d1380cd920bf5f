#include "runtime/sim/post.h"

#include <algorithm>

#include "overlay/base/rng.h"

namespace phx::sim {
namespace {

MachineId machine_of(ProcessorId processor) {
  return MachineId{processor.value - 1};
}

}  // namespace

Post::Post(const overlay::Topology& topology, const overlay::Placing& placing,
           const PlanRunOptions& options)
    : model_(topology, 0.0, Rng(1)), options_(options) {
  for (const std::size_t site : placing) static_cast<void>(model_.add_machine(site));
  for (const auto& [id, rate] : options.interfaces) model_.set_interface(machine_of(id), rate);
}

void Post::schedule(Step step, Instant at, Stage stage) {
  step.at = at;
  step.number = next_step_++;
  step.stage = stage;
  steps_.push(step);
}

std::size_t Post::keep(const Letter& letter) {
  if (free_.empty()) {
    letters_.push_back(letter);
    return letters_.size() - 1;
  }
  const std::size_t place = free_.back();
  free_.pop_back();
  letters_[place] = letter;
  return place;
}

void Post::signal(const Letter& letter) {
  const Duration travel = model_.travel_time(now_, machine_of(letter.from), machine_of(letter.to));
  schedule({now_, 0, Stage::kArrived, true, 0, keep(letter)}, now_ + travel, Stage::kArrived);
}

void Post::send(const Letter& letter) {
  const MachineId from = machine_of(letter.from);
  const MachineId to = machine_of(letter.to);
  ++outcome_.messages;
  outcome_.bytes += letter.bytes;
  const bool crosses = model_.has_link(from, to);
  if (crosses) ++outcome_.crossings;
  const std::size_t place = keep(letter);
  std::uint64_t left = letter.bytes + options_.header_bytes;
  Instant at = model_.leave_processor(now_, from);
  do {
    const std::uint64_t part = std::min(left, NetworkModel::kSegmentBytes);
    left -= part;
    at = model_.leave_interface(at, from, part);
    const Step step{at, 0, Stage::kLink, left == 0, static_cast<std::uint32_t>(part), place};
    schedule(step, at, crosses ? Stage::kLink : Stage::kTravel);
  } while (left > 0);
}

void Post::run(const OnLetter& on_letter) {
  while (!steps_.empty()) {
    const Step step = steps_.top();
    steps_.pop();
    now_ = step.at;
    on_step(step, on_letter);
  }
}

void Post::on_step(const Step& step, const OnLetter& on_letter) {
  const Letter letter = letters_[step.letter];
  const MachineId from = machine_of(letter.from);
  const MachineId to = machine_of(letter.to);
  switch (step.stage) {
    case Stage::kLink:
      return schedule(step, model_.pass_link(now_, from, to, step.bytes), Stage::kTravel);
    case Stage::kTravel:
      return schedule(step, now_ + model_.travel_time(now_, from, to), Stage::kEnter);
    case Stage::kEnter:
      return schedule(step, model_.enter_interface(now_, to, step.bytes), Stage::kTake);
    case Stage::kTake:
      if (step.is_last) schedule(step, model_.enter_processor(now_, to), Stage::kArrived);
      return;
    case Stage::kArrived:
      free_.push_back(step.letter);
      return on_letter(letter);
  }
}

}  // namespace phx::sim
