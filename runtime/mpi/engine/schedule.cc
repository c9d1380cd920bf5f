#include "runtime/mpi/engine/schedule.h"

#include <algorithm>
#include <utility>

#include "runtime/mpi/engine/traffic.h"

namespace phx::mpi {
namespace {

constexpr std::size_t kUsual = 4;  ///< steps of a rank that speaks with one other rank

}  // namespace

Schedule::Schedule(Scope scope, int tag) : Request(Kind::kSchedule), tag_(tag) {
  scopes_.push_front(std::move(scope));
}

Schedule::~Schedule() {
  for (SpareMemory::Block& block : memory_) SpareMemory::of_process().give(std::move(block));
}

Schedule::Step& Schedule::add(Step::Kind what, int rank) {
  // Who speaks with more often speaks with all.
  if (steps_.capacity() == 0) steps_.reserve(kUsual);
  const auto ranks = static_cast<std::size_t>(scope().size());
  if (steps_.size() == kUsual) steps_.reserve(2 * (kUsual + ranks));
  steps_.push_back({what, std::exchange(begins_round_, false), rank, &scope()});
  return steps_.back();
}

void Schedule::add_work(std::function<void()> work) {
  then();
  add(Step::Kind::kWork, 0).work = std::move(work);
  then();
}

void Schedule::contribute(int target, const collectives::ReductionKind& how, const Buffer& value) {
  Step& step = add(Step::Kind::kContribute, target);
  step.buffer = value;
  step.combined = how;
}

void Schedule::result(int target, const collectives::ReductionKind& how, const Buffer& buffer) {
  Step& step = add(Step::Kind::kResult, target);
  step.buffer = buffer;
  step.combined = how;
}

std::byte* Schedule::memory(MPI_Count bytes) {
  memory_.push_back(SpareMemory::of_process().take(static_cast<std::size_t>(bytes)));
  return memory_.back().bytes.get();
}

void Schedule::note(Request& part) {
  if (part.kind != Kind::kReceive || outcome.error != MPI_SUCCESS) return;
  auto& receive = static_cast<ReceiveRequest&>(part);
  const bool is_full = receive.outcome.bytes == receive.buffer.bytes();
  outcome.error = receive.outcome.error;
  if (receive.must_fill && !is_full) outcome.error = MPI_ERR_NOT_SAME;
  if (outcome.error != MPI_SUCCESS) misfit_ = Ref<ReceiveRequest>(&receive);
}

bool Schedule::on_part_done(Request& part) {
  note(part);
  return --open_ == 0;
}

const Request* Schedule::open_part() const {
  const auto open = [](const Ref<Request>& part) { return !part->is_done; };
  const auto found = std::ranges::find_if(parts_, open);
  return found == parts_.end() ? nullptr : found->get();
}

bool Schedule::advance(Traffic& traffic) {
  while (open_ == 0 && at_ < steps_.size()) {
    parts_.clear();
    ++open_;  // the round itself: what is done at once does not end it
    do {
      begin(steps_[at_++], traffic);
    } while (at_ < steps_.size() && !steps_[at_].begins_round);
    --open_;
  }
  return open_ == 0 && at_ == steps_.size();
}

void Schedule::begin(Step& step, Traffic& traffic) {
  const Scope& scope = *step.scope;
  if (step.kind == Step::Kind::kWork) return step.work();
  if (step.kind == Step::Kind::kContribute) {
    return traffic.contribute(scope.peers->process(step.rank), step.combined, *step.buffer);
  }
  const bool sends = step.kind == Step::Kind::kSend;
  if (sends && traffic.send_at_once(scope, step.rank, tag_, *step.buffer)) return;
  Ref<Request> part;
  if (step.kind == Step::Kind::kResult) {
    const int target = scope.peers->process(step.rank);
    part = Ref<Request>(traffic.expect({target, step.combined.to_all}, *step.buffer).get());
  } else if (step.kind == Step::Kind::kCast) {
    part = traffic.cast(scope, tag_, *step.buffer);
  } else if (sends) {
    part = Ref<Request>(traffic.send(scope, step.rank, tag_, *step.buffer).get());
  } else {
    const Ref<ReceiveRequest> receive =
        traffic.receive({scope.context, step.rank, tag_}, *step.buffer);
    receive->must_fill = step.kind == Step::Kind::kFill;
    part = Ref<Request>(receive.get());
  }
  if (part->is_done) return note(*part);
  part->part_of = this;
  ++open_;
  parts_.push_back(std::move(part));
}

}  // namespace phx::mpi
