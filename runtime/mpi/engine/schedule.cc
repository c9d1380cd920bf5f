#include "runtime/mpi/engine/schedule.h"

#include <utility>

#include "runtime/mpi/engine/traffic.h"

namespace phx::mpi {

Schedule::Schedule(Scope scope, int tag) : Request(Kind::kSchedule), tag_(tag) {
  scopes_.push_back(std::move(scope));
}

Schedule::~Schedule() {
  for (SpareMemory::Block& block : memory_) SpareMemory::of_process().give(std::move(block));
}

void Schedule::add(Step step) {
  rounds_.back().push_back({std::move(step), &scopes_.back()});
}

void Schedule::then() {
  if (!rounds_.back().empty()) rounds_.emplace_back();
}

void Schedule::run(std::function<void()> work) {
  then();
  add({Step::Kind::kWork, 0, {}, std::move(work), {}});
  then();
}

void Schedule::contribute(int target, const collectives::ReductionKind& how, const Buffer& value) {
  add({Step::Kind::kContribute, target, value, {}, how});
}

void Schedule::result(int target, const collectives::ReductionKind& how, const Buffer& buffer) {
  add({Step::Kind::kResult, target, buffer, {}, how});
}

std::byte* Schedule::memory(MPI_Count bytes) {
  memory_.push_back(SpareMemory::of_process().take(static_cast<std::size_t>(bytes)));
  return memory_.back().bytes.get();
}

void Schedule::note(const Request& part) {
  if (part.outcome.error != MPI_SUCCESS) outcome.error = part.outcome.error;
  if (part.kind != Kind::kReceive || outcome.error != MPI_SUCCESS) return;
  const auto& receive = static_cast<const ReceiveRequest&>(part);
  const bool is_full = receive.outcome.bytes == receive.buffer.bytes();
  if (receive.must_fill && !is_full) outcome.error = MPI_ERR_NOT_SAME;
}

bool Schedule::on_part_done(const Request& part) {
  note(part);
  return --open_ == 0;
}

bool Schedule::advance(Traffic& traffic) {
  while (open_ == 0 && at_ < rounds_.size()) {
    parts_.clear();
    ++open_;  // the round itself: what is done at once does not end it
    for (Place& place : rounds_[at_++]) {
      Step& step = place.step;
      if (step.kind == Step::Kind::kWork) {
        step.work();
        continue;
      }
      if (step.kind == Step::Kind::kContribute) {
        traffic.contribute(place.scope->peers->process(step.rank), step.combined, *step.buffer);
        continue;
      }
      Ref<Request> part;
      if (step.kind == Step::Kind::kResult) {
        const int target = place.scope->peers->process(step.rank);
        part = Ref<Request>(traffic.expect({target, step.combined.to_all}, *step.buffer).get());
      } else if (step.kind == Step::Kind::kCast) {
        part = traffic.cast(*place.scope, tag_, *step.buffer);
      } else if (step.kind == Step::Kind::kSend) {
        part = Ref<Request>(traffic.send(*place.scope, step.rank, tag_, *step.buffer).get());
      } else {
        const Ref<ReceiveRequest> receive =
            traffic.receive({place.scope->context, step.rank, tag_}, *step.buffer);
        receive->must_fill = step.kind == Step::Kind::kFill;
        part = Ref<Request>(receive.get());
      }
      if (part->is_done) {
        note(*part);
        continue;
      }
      part->part_of = this;
      ++open_;
      parts_.push_back(std::move(part));
    }
    --open_;
  }
  return open_ == 0 && at_ == rounds_.size();
}

}  // namespace phx::mpi
