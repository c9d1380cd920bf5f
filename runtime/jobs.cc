#include "runtime/jobs.h"

#include <utility>

#include "overlay/base/check.h"
#include "overlay/base/overloaded.h"

namespace phx::runtime {

Jobs::Entry* Jobs::find(JobId job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : found->second.get();
}

void Jobs::on_start(const Surroundings& around, const JobStart& start, JobOutbox& out) {
  const JobId job = start.job;
  if (find(job) != nullptr || over_.contains(job) || start.spec.vnodes == 0) return;
  auto& entry = *jobs_.emplace(job, std::make_unique<Entry>(self_, start, config_)).first->second;
  note(out, Note::Level::kInfo, "job-started",
       to_string(job) + " vnodes=" + std::to_string(start.spec.vnodes) +
           " home=" + to_string(start.home));
  if (start.home == self_) {
    auto asked = asked_.extract(start.request);
    if (asked.empty()) {
      entry.life.end(around, 1, "announced twice", out);
    } else {
      if (asked.mapped().client) entry.life.on_follower(around, *asked.mapped().client, out);
      for (const ApplicationId application : asked.mapped().applications) {
        attach(around, application, {job, start.spec.vnodes, 0}, out);
      }
    }
  }
  entry.life.consider_start(around, out);
  auto early = early_.extract(job);
  if (!early.empty()) {
    early_count_ -= early.mapped().size();
    for (Early& one : early.mapped()) {
      std::visit([&](auto& m) { dispatch(around, one.from, entry, std::move(m), out); },
                 one.message);
    }
  }
  settle(around, job, out);
}

void Jobs::on_end(const Surroundings& around, const JobEnd& end, JobOutbox& out) {
  Entry* entry = find(end.job);
  if (entry == nullptr) {
    // Over before it was announced here, or long ago.
    over_.insert(end.job);
    const auto early = early_.extract(end.job);
    if (!early.empty()) early_count_ -= early.mapped().size();
    return;
  }
  const bool is_news = !entry->life.ended();
  entry->life.on_end(around, end, out);
  if (is_news && around.coordinator == self_) {
    for (const ProcessorId member : around.members.minus(ProcessorSet{self_}).ids()) {
      out.send(member, end);
    }
  }
  settle(around, end.job, out);
}

void Jobs::settle(const Surroundings& around, JobId job, JobOutbox& out) {
  Entry* entry = find(job);
  if (entry == nullptr) return;
  JobLife& life = entry->life;
  const std::string limit = entry->traffic.limit_reached();
  if (!limit.empty() && !life.ended()) life.end(around, 1, limit, out);
  if (!life.ended()) {
    entry->traffic.on_standing(around, life.ready(), life.is_ending(), out);
    life.consider_retire(
        around, entry->traffic.router().map().owned_by(self_).empty() && entry->traffic.is_empty(),
        out);
    const bool may_pass_home = around.leaving && !life.is_running();
    if (may_pass_home) life.pass_home_on(around, out);
    return;
  }
  if (life.is_running()) return;
  constexpr std::size_t kEndsMax = 100;
  ends_[job] = *life.ended();
  if (ends_.size() > kEndsMax) ends_.erase(ends_.begin());
  over_.insert(job);
  dropped_ += entry->traffic.unknown();
  jobs_.erase(job);
}

void Jobs::dispatch(const Surroundings& around, ProcessorId from, Entry& entry, JobStage m,
                    JobOutbox& out) {
  entry.life.on_stage(around, from, std::move(m), out);
}

void Jobs::dispatch(const Surroundings& around, ProcessorId, Entry& entry, JobHome m,
                    JobOutbox& out) {
  entry.life.on_home(around, m, out);
  entry.life.consider_start(around, out);
}

void Jobs::dispatch(const Surroundings& around, ProcessorId, Entry& entry, Output m,
                    JobOutbox& out) {
  entry.life.on_output(around, std::move(m), out);
}

void Jobs::dispatch(const Surroundings& around, ProcessorId, Entry& entry, JobSignal m,
                    JobOutbox& out) {
  (void)around;
  entry.life.on_signal(m, out);
}

void Jobs::on_view(const Surroundings& around, const std::vector<Member>& joined,
                   const std::vector<ViewChange::Gone>& gone, JobOutbox& out) {
  std::vector<JobId> ids;
  for (const auto& [job, entry] : jobs_) ids.push_back(job);
  for (const JobId job : ids) {
    Entry& entry = *jobs_.at(job);
    entry.life.on_joined(around, joined, out);
    for (const auto& one : gone) {
      entry.life.on_gone(around, one, entry.traffic.router().map().owned_by(one.id), out);
      entry.traffic.on_gone(one.id);
    }
    entry.life.consider_start(around, out);
    settle(around, job, out);
  }
  if (coordinator_ != around.coordinator) report_holdings(around, out);
  for (auto& [request, asked] : asked_) {
    if (asked.asked != around.coordinator) request_job(around, request, out);
  }
}

void Jobs::report_holdings(const Surroundings& around, JobOutbox& out) {
  coordinator_ = around.coordinator;
  if (coordinator_ == self_) return;
  for (const auto& [job, entry] : jobs_) {
    Routes routes{job, {}};
    const VnodeMap& map = entry->traffic.router().map();
    for (auto& group : map.groups(map.owned_by(self_))) {
      routes.routes.push_back({std::move(group.vnodes), self_, group.epoch});
    }
    if (!routes.routes.empty()) out.send(coordinator_, std::move(routes));
  }
}

void Jobs::on_tree_changed(const Surroundings& around, TreeId tree, JobOutbox& out) {
  for (auto& [job, entry] : jobs_) entry->traffic.on_tree_changed(around, tree, out);
}

void Jobs::on_leaving(const Surroundings& around, JobOutbox& out) {
  std::vector<JobId> ids;
  for (const auto& [job, entry] : jobs_) ids.push_back(job);
  for (const JobId job : ids) {
    jobs_.at(job)->traffic.on_leaving(around, out);
    settle(around, job, out);
  }
}

void Jobs::on_timer(const Surroundings& around, const JobTimer& timer, JobOutbox& out) {
  Entry* entry = find(timer.job);
  if (entry == nullptr) return;
  entry->life.on_timer(around, timer, out);
  if (!entry->life.ended()) entry->traffic.on_timer(around, timer, out);
  if (timer.kind == JobTimer::Kind::kAttach || timer.kind == JobTimer::Kind::kFollow) {
    settle(around, timer.job, out);
  }
}

void Jobs::attach(const Surroundings& around, ApplicationId application, const AppAttach& m,
                  JobOutbox& out) {
  JobId job = m.job;
  if (job == JobId{} && !jobs_.empty()) job = jobs_.begin()->first;
  const bool is_possible = m.vnodes > 0 && m.vnodes <= config_.vnodes_max && !around.leaving;
  if (job == JobId{} && !is_possible) {
    out.report(
        Effect{ToApp{application, AppAttached{job, self_, 0, "no job, and none can start"}}});
    out.report(Effect{DropApp{application}});
    return;
  }
  if (job == JobId{}) {  // Embedded, and nothing runs yet: the mesh's first job is this one's.
    const std::uint64_t request = next_request_++;
    JobSpec spec;
    spec.vnodes = m.vnodes;
    spec.name = "embedded";
    asked_[request] = {std::move(spec), std::nullopt, {application}, kNobody};
    request_job(around, request, out);
    return;
  }
  Entry* entry = find(job);
  std::string refusal;
  if (entry == nullptr) refusal = to_string(job) + " does not run here";
  if (entry != nullptr && entry->life.application()) refusal = "another process has attached";
  if (entry != nullptr && entry->life.ended()) refusal = to_string(job) + " is over";
  if (!refusal.empty()) {
    out.report(Effect{ToApp{application, AppAttached{job, self_, 0, refusal}}});
    out.report(Effect{DropApp{application}});
    return;
  }
  applications_[application] = job;
  entry->life.on_attached(around, application, out);
  entry->traffic.on_attached(around, application, out);
  settle(around, job, out);
}

void Jobs::on_app_message(const Surroundings& around, ApplicationId application, ToDaemon message,
                          JobOutbox& out) {
  if (const auto* m = std::get_if<AppAttach>(&message)) {
    if (!applications_.contains(application)) attach(around, application, *m, out);
    return;
  }
  const auto found = applications_.find(application);
  Entry* entry = found == applications_.end() ? nullptr : find(found->second);
  // Whoever is done has nothing more to say, but that all must end.
  const bool is_late = entry != nullptr && entry->traffic.router().is_finished() &&
                       !std::holds_alternative<AppFinish>(message);
  if (entry == nullptr || entry->life.ended() || is_late) {
    ++dropped_;
    return;
  }
  const JobId job = found->second;
  bool flows = false;  // Plain traffic changes nothing that settle() looks at.
  std::visit(Overloaded{
                 [](AppAttach&) {},
                 [&](AppFinish& m) {
                   entry->life.on_finish(around, m, out);
                   if (!m.abort) entry->traffic.on_finished(around, out);
                 },
                 [&](AppWaiting& m) { entry->life.on_waiting(std::move(m.what)); },
                 [&](auto& m) {
                   flows = !std::is_same_v<std::decay_t<decltype(m)>, AppReleased>;
                   entry->traffic.on_app(around, std::move(m), out);
                 },
             },
             message);
  if (!flows) settle(around, job, out);
}

void Jobs::on_app_down(const Surroundings& around, ApplicationId application, JobOutbox& out) {
  for (auto& [request, asked] : asked_) std::erase(asked.applications, application);
  const auto found = applications_.extract(application);
  if (found.empty()) return;
  Entry* entry = find(found.mapped());
  // A process the daemon started is known to have ended by its exit, which comes anyway.
  const bool embedded = entry != nullptr && entry->life.start().spec.command.empty();
  if (!embedded || !entry->life.is_running()) return;
  const bool done =
      entry->life.stage() == Stage::kFinished || entry->life.ended() || around.leaving;
  Exit exit{done ? 0 : 1, 0, done, done ? "" : "it closed the connection to its daemon"};
  entry->life.on_exit(around, std::move(exit), out);
  settle(around, found.mapped(), out);
}

void Jobs::on_process_ended(const Surroundings& around, JobId job, const Exit& exit,
                            JobOutbox& out) {
  Entry* entry = find(job);
  if (entry == nullptr) return;
  if (entry->life.application()) applications_.erase(*entry->life.application());
  entry->life.on_exit(around, exit, out);
  if (!entry->life.ended()) entry->traffic.on_finished(around, out);
  settle(around, job, out);
}

void Jobs::on_output(const Surroundings& around, Output output, JobOutbox& out) {
  Entry* entry = find(output.job);
  if (entry != nullptr) entry->life.on_output(around, std::move(output), out);
}

void Jobs::run(const Surroundings& around, ClientId client, JobSpec spec, JobOutbox& out) {
  std::string refusal;
  if (spec.vnodes == 0) refusal = "a job needs at least one vnode";
  if (spec.vnodes > config_.vnodes_max) {
    refusal = "at most " + std::to_string(config_.vnodes_max) + " vnodes per job";
  }
  if (spec.command.empty()) refusal = "no command given";
  if (jobs_.size() >= config_.jobs_max) refusal = "too many jobs at once";
  if (around.leaving) refusal = to_string(self_) + " is leaving the mesh; ask another processor";
  if (!refusal.empty()) {
    out.report(Effect{Reply{client, Done{refusal}}});
    out.report(Effect{DropClient{client}});
    return;
  }
  const std::uint64_t request = next_request_++;
  asked_[request] = {std::move(spec), client, {}, kNobody};
  request_job(around, request, out);
}

void Jobs::request_job(const Surroundings& around, std::uint64_t request, JobOutbox& out) {
  Asked& asked = asked_.at(request);
  asked.asked = around.coordinator;
  out.send(around.coordinator, JobRequest{request, asked.spec});
}

void Jobs::follow(const Surroundings& around, ClientId client, JobId job, JobOutbox& out) {
  Entry* entry = find(job);
  const auto end = ends_.find(job);
  if (entry == nullptr) {
    if (end != ends_.end()) {
      out.report(Effect{Reply{client, RunEnded{job, end->second.code, end->second.reason, {}}}});
    } else {
      out.report(Effect{Reply{client, Done{"no job " + std::to_string(job.value)}}});
    }
    out.report(Effect{DropClient{client}});
    return;
  }
  entry->life.on_follower(around, client, out);
  settle(around, job, out);
}

void Jobs::signal(const Surroundings& around, ClientId client, const SignalRequest& request,
                  JobOutbox& out) {
  constexpr std::int32_t kTerminated = 143;
  Entry* entry = find(request.job);
  Done done;
  if (entry == nullptr || entry->life.ended()) {
    done.error = "no job " + std::to_string(request.job.value) + "; see phoenix ps";
  } else if (request.signal == 0) {
    entry->life.end(around, kTerminated, "ended by request", out);
    settle(around, request.job, out);
  } else {
    entry->life.on_signal({request.job, request.signal}, out);
    for (const ProcessorId member : around.members.minus(ProcessorSet{self_}).ids()) {
      out.send(member, JobSignal{request.job, request.signal});
    }
  }
  out.report(Effect{Reply{client, std::move(done)}});
}

void Jobs::on_client_down(const Surroundings& around, ClientId client, JobOutbox& out) {
  std::vector<JobId> ids;
  for (const auto& [job, entry] : jobs_) ids.push_back(job);
  for (const JobId job : ids) {
    jobs_.at(job)->life.on_follower_down(around, client, out);
    settle(around, job, out);
  }
}

void Jobs::end_all(const Surroundings& around, const std::string& reason, JobOutbox& out) {
  constexpr std::int32_t kTerminated = 143;
  std::vector<JobId> ids;
  for (const auto& [job, entry] : jobs_) ids.push_back(job);
  for (const JobId job : ids) {
    jobs_.at(job)->life.on_end(around, {job, kTerminated, reason}, out);
    settle(around, job, out);
  }
}

bool Jobs::is_empty() const {
  for (const auto& [job, entry] : jobs_) {
    const bool over = entry->life.ended().has_value();
    if (entry->life.is_running()) return false;
    if (!over && entry->life.home() == self_) return false;
    const bool has_exited = entry->life.stage() == Stage::kExited;
    if (!over && !has_exited && !entry->traffic.is_empty()) return false;
  }
  return asked_.empty();
}

std::vector<JobStatus> Jobs::status(const Surroundings& around) const {
  std::vector<JobStatus> result;
  for (const auto& [job, entry] : jobs_) {
    JobStatus one;
    one.job = job;
    one.name = entry->life.start().spec.name;
    one.home = entry->life.home();
    one.stage = entry->life.stage();
    one.held = entry->traffic.router().map().owned_by(self_);
    one.vnodes = entry->life.start().spec.vnodes;
    one.parked = entry->traffic.router().parked();
    one.waiting = entry->traffic.waiting(around);
    if (one.waiting.empty()) one.waiting = entry->life.waiting();
    result.push_back(std::move(one));
  }
  return result;
}

void Jobs::describe(JoinReply& reply) const {
  for (const auto& [job, entry] : jobs_) {
    if (entry->life.ended()) continue;
    reply.jobs.push_back(entry->life.start());
    reply.routes.push_back({job, entry->traffic.router().map().routes()});
    reply.homes.push_back(entry->life.home_statement());
  }
}

VnodeSet Jobs::owned(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? VnodeSet{} : found->second->traffic.router().map().owned_by(self_);
}

void Jobs::check_invariants() const {
  for (const auto& [job, entry] : jobs_) {
    PHX_CHECK(!over_.contains(job));
    entry->traffic.check_invariants();
  }
}

}  // namespace phx::runtime
