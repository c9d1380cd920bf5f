#include "runtime/tools.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "runtime/membership/view_change.h"

namespace phx::runtime {
namespace {

constexpr Duration kDrainPeriod = 200ms;

/// What a leaver waits for because of a job, and what its process does meanwhile.
std::string awaited_for(const JobStatus& job) {
  if (job.waiting.empty() || job.is_held_up || job.stage != Stage::kAttached) return job.waiting;
  if (!job.process_waits.empty()) {
    return job.waiting + "; its process waits for " + job.process_waits +
           " (phoenix ps says for whom)";
  }
  const std::uint64_t silent_s = job.figures.silent_ms / 1000;
  if (silent_s == 0) return job.waiting;
  return job.waiting + "; its process has been computing for " + std::to_string(silent_s) + " s";
}

void refuse(ClientId client, std::string why, Tools::Outbox& out) {
  out.report(Effect{Reply{client, Done{std::move(why)}}});
  out.report(Effect{DropClient{client}});
}

}  // namespace

/// The answers to an earlier question of this number count, too: the way may be long.
void Tools::ask(Instant now, std::uint64_t number, Question question, const ProcessorStatus& own,
                Outbox& out) {
  const Duration wait = question.drained.empty() ? timeout_ : kDrainPeriod;
  if (question.missing.contains(self_)) {
    question.missing.erase(self_);
    question.answers[self_] = own;
  }
  for (const ProcessorId processor : question.missing.ids()) {
    out.send(processor, StatusQuestion{number, question.job, question.trees});
  }
  out.arm(Timer{number}, now + wait);
  questions_[number] = std::move(question);
}

void Tools::on_status(Instant now, ClientId client, const StatusRequest& request, const View& view,
                      const ProcessorStatus& own, Outbox& out) {
  Question question{client, {}, {}, {}};
  question.job = request.job;
  question.trees = request.trees;
  question.missing = request.ask_all ? ids_of(view) : ProcessorSet{self_};
  const bool alone = question.missing == ProcessorSet{self_};
  if (alone) {
    question.missing = {};
    question.answers[self_] = own;
    answer_status(question, view, out);
    return;
  }
  ask(now, next_++, std::move(question), own, out);
}

void Tools::on_drain(Instant now, ClientId client, const DrainRequest& request, const View& view,
                     const ProcessorStatus& own, Outbox& out) {
  ProcessorSet staying;
  for (const auto& [id, member] : view.members) {
    if (!member.leaving) staying.insert(id);
  }
  for (const ProcessorId processor : request.processors) {
    if (processor == kNobody || processor.value >= view.next_processor) {
      refuse(client, "no processor " + to_string(processor) + "; see phoenix status", out);
      return;
    }
    staying.erase(processor);
  }
  if (staying.empty()) {
    refuse(client, "that would leave no processor; to end the mesh, use phoenix down", out);
    return;
  }
  Question question{client, request.processors, {}, {}};
  for (const ProcessorId processor : request.processors) {
    const auto found = view.members.find(processor);
    if (found == view.members.end()) continue;
    question.missing.insert(processor);
    if (processor == self_) {
      out.report(DrainSelf{});
    } else {
      out.send(processor, DrainOrder{});
    }
  }
  if (report_drain(question, view, out)) return;
  ask(now, next_++, std::move(question), own, out);
}

void Tools::on_answer(ProcessorId from, const StatusAnswer& answer, const View& view, Outbox& out) {
  const auto found = questions_.find(answer.request);
  if (found == questions_.end() || !found->second.missing.contains(from)) return;
  Question& question = found->second;
  question.missing.erase(from);
  question.answers[from] = answer.status;
  if (!question.missing.empty() || !question.drained.empty()) return;
  answer_status(question, view, out);
  out.disarm(Timer{found->first});
  questions_.erase(found);
}

void Tools::on_timer(Instant now, const Timer& timer, const View& view, const ProcessorStatus& own,
                     Outbox& out) {
  auto found = questions_.extract(timer.question);
  if (found.empty()) return;
  Question& question = found.mapped();
  if (question.drained.empty()) {
    answer_status(question, view, out);
    return;
  }
  if (report_drain(question, view, out)) return;
  question.missing = {};
  for (const ProcessorId processor : question.drained) {
    if (view.members.contains(processor)) question.missing.insert(processor);
  }
  ask(now, timer.question, std::move(question), own, out);
}

void Tools::answer_status(const Question& question, const View& view, Outbox& out) {
  StatusReply reply;
  reply.view = view;
  if (!view.members.empty()) reply.coordinator = view.members.first();
  for (const auto& [id, status] : question.answers) reply.processors.push_back(status);
  reply.silent = question.missing.ids();
  out.report(Effect{Reply{question.client, std::move(reply)}});
}

bool Tools::report_drain(const Question& question, const View& view, Outbox& out) {
  DrainProgress progress;
  bool all_gone = true;
  for (const ProcessorId processor : question.drained) {
    DrainProgress::One one{processor, !view.members.contains(processor), {}, {}, {}};
    if (const std::string* died = died_.find(processor)) one.lost = *died;
    all_gone = all_gone && one.gone;
    const auto answer = question.answers.find(processor);
    if (!one.gone && answer != question.answers.end()) {
      one.vnodes_left = 0;
      for (const JobStatus& job : answer->second.jobs) {
        *one.vnodes_left += job.held.size();
        if (one.waiting.empty()) one.waiting = awaited_for(job);
      }
      if (one.waiting.empty()) one.waiting = answer->second.leaving_waits_for;
    }
    progress.processors.push_back(std::move(one));
  }
  out.report(Effect{Reply{question.client, std::move(progress)}});
  return all_gone;
}

void Tools::on_client_down(ClientId client) {
  std::erase_if(questions_, [&](const auto& entry) { return entry.second.client == client; });
}

void Tools::on_refused(const LeaveRefused& refused, Outbox& out) {
  for (auto at = questions_.begin(); at != questions_.end();) {
    const auto& drained = at->second.drained;
    const bool concerns = std::find(drained.begin(), drained.end(), refused.who) != drained.end();
    if (concerns) {
      refuse(at->second.client, refused.why, out);
      out.disarm(Timer{at->first});
    }
    at = concerns ? questions_.erase(at) : std::next(at);
  }
}

void Tools::on_view(const View& view, const std::vector<ViewChange::Gone>& gone, Outbox& out) {
  for (const ViewChange::Gone& one : gone) {
    if (one.why != Departure::kLeft) died_.put(one.id, one.detail.empty() ? "it died" : one.detail);
  }
  for (auto at = questions_.begin(); at != questions_.end();) {
    Question& question = at->second;
    question.missing = question.missing.common(ids_of(view));
    const bool drained = !question.drained.empty() &&
                         std::none_of(question.drained.begin(), question.drained.end(),
                                      [&](ProcessorId p) { return view.members.contains(p); });
    const bool answered = question.drained.empty() && question.missing.empty();
    if (drained) report_drain(question, view, out);
    if (answered) answer_status(question, view, out);
    if (drained || answered) out.disarm(Timer{at->first});
    at = drained || answered ? questions_.erase(at) : std::next(at);
  }
}

}  // namespace phx::runtime
