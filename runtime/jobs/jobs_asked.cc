#include <type_traits>
#include <utility>

#include "overlay/base/overloaded.h"
#include "overlay/planners/tree_styles.h"
#include "runtime/jobs/jobs.h"

// What applications and tools at this processor ask for.
namespace phx::runtime {
namespace {

/// Empty: nothing.
std::string wrong_with_trees(const JobSpec& spec, const DaemonConfig& config) {
  if (spec.trees.empty()) return {};
  if (config.trees == TreeSource::kAdaptive) {
    return "the daemons of this mesh find trees by local rules, and draw none";
  }
  return planners::wrong_tree_style(spec.trees);
}

}  // namespace

void Jobs::refuse(ApplicationId application, std::string why, JobOutbox& out) const {
  out.report(Effect{ToApp{application, AppAttached{{}, self_, 0, std::move(why)}}});
  out.report(Effect{DropApp{application}});
}

void Jobs::refuse(ClientId client, std::string why, JobOutbox& out) const {
  out.report(Effect{Reply{client, Done{std::move(why)}}});
  out.report(Effect{DropClient{client}});
}

void Jobs::refuse(const Asked& asked, const std::string& why, JobOutbox& out) const {
  if (asked.tool) refuse(asked.tool->client, why, out);
  for (const ApplicationId application : asked.applications) refuse(application, why, out);
}

void Jobs::on_refused(ProcessorId from, const JobRefused& refused, JobOutbox& out) {
  const auto found = asked_.find(refused.request);
  // Another one may have been asked since, who has not answered yet.
  if (found == asked_.end() || found->second.asked != from) return;
  refuse(found->second, refused.why, out);
  asked_.erase(found);
}

void Jobs::attach(const Surroundings& around, ApplicationId application, const AppAttach& m,
                  JobOutbox& out) {
  JobId job = m.job;
  if (job == JobId{} && !config_.embedded) {
    refuse(application, "started without a job: run it by phoenix run, or without a daemon", out);
    return;
  }
  if (job == JobId{} && !jobs_.empty()) job = jobs_.begin()->first;
  const bool is_possible = m.vnodes > 0 && m.vnodes <= config_.vnodes_max && !around.leaving;
  if (job == JobId{} && !is_possible) {
    refuse(application, "no job, and none can start", out);
    return;
  }
  if (job == JobId{}) {  // Embedded, and nothing runs yet: the mesh's first job is this one's.
    const std::uint64_t request = next_request_++;
    JobSpec spec;
    spec.vnodes = m.vnodes;
    spec.name = "embedded";
    spec.balance = config_.balance;
    asked_[request] = {std::move(spec), std::nullopt, {application}, kNobody};
    request_job(around, request, out);
    return;
  }
  Entry* entry = find(job);
  std::string refusal;
  if (entry == nullptr) refusal = to_string(job) + " does not run here";
  if (entry != nullptr && entry->life.application()) {
    refusal = "a session has begun here before: a process that phoenix run starts has one";
  }
  if (entry != nullptr && entry->life.ended()) refusal = to_string(job) + " is over";
  if (!refusal.empty()) {
    refuse(application, std::move(refusal), out);
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
    ++counters_.dropped;
    return;
  }
  const JobId job = found->second;
  entry->meter.on_app(around.now, message);
  bool flows = false;  // Plain traffic changes nothing that settle() looks at.
  std::visit(Overloaded{
                 [](AppAttach&) {},
                 [&](AppFinish& m) {
                   entry->life.on_finish(around, m, out);
                   if (!m.abort) entry->traffic.on_finished(around, out);
                 },
                 [&](AppWaiting& m) { entry->life.on_waiting(std::move(m.what)); },
                 [](AppWaited&) {},  // The meter has it.
                 [&](AppKeeps& m) { entry->traffic.on_kept(m); },
                 [](AppNetworkQuestion&) {},  // The daemon answers it.
                 [&](AppReport& m) {
                   if (entry->life.start().spec.command.empty()) return;  // Nobody follows it.
                   entry->life.on_written(
                       around, {job, self_, false, std::move(m.lines), 0, /*is_report=*/true}, out);
                 },
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
  const bool came_by_itself = entry != nullptr && !entry->life.has_process();
  if (!came_by_itself || !entry->life.is_running()) return;
  // The program that has a daemon inside closes this when that leaves.
  const bool is_embedded = entry->life.start().spec.command.empty();
  const bool done = entry->life.stage() == Stage::kFinished || entry->life.ended() ||
                    entry->life.is_retired() || (around.leaving && is_embedded);
  Exit exit{done ? 0 : 1, 0, done, done ? "" : "it closed the connection to its daemon"};
  entry->life.on_exit(around, std::move(exit), out);
  if (!entry->life.ended()) entry->traffic.on_finished(around, out);
  settle(around, found.mapped(), out);
}

void Jobs::run(const Surroundings& around, ClientId client, RunRequest asks, JobOutbox& out) {
  JobSpec& spec = asks.spec;
  std::string refusal;
  if (spec.vnodes == 0) refusal = "a job needs at least one vnode";
  if (spec.vnodes > config_.vnodes_max) {
    refusal = "at most " + std::to_string(config_.vnodes_max) + " vnodes per job";
  }
  if (spec.command.empty()) refusal = "no command given";
  if (auto wrong = wrong_with_trees(spec, config_); !wrong.empty()) refusal = std::move(wrong);
  if (jobs_.size() + asked_.size() >= config_.jobs_max) refusal = "too many jobs at once";
  if (around.leaving) refusal = to_string(self_) + " is leaving the mesh; ask another processor";
  if (!refusal.empty()) return refuse(client, std::move(refusal), out);
  const std::uint64_t request = next_request_++;
  asked_[request] = {std::move(spec), Tool{client, asks.tool, false}, {}, kNobody};
  request_job(around, request, out);
}

void Jobs::request_job(const Surroundings& around, std::uint64_t request, JobOutbox& out) {
  Asked& asked = asked_.at(request);
  asked.asked = around.coordinator;
  out.send(around.coordinator, JobRequest{request, asked.spec});
}

void Jobs::follow(const Surroundings& around, ClientId client, const FollowRequest& request,
                  JobOutbox& out) {
  const JobId job = request.job;
  Entry* entry = find(job);
  if (entry == nullptr) {
    const JobEnd* end = history_.end(job);
    if (end != nullptr) {
      out.report(Effect{Reply{client, RunEnded{job, end->code, end->reason, {}}}});
      out.report(Effect{DropClient{client}});
    } else {
      refuse(client, "no job " + to_string(job) + "; see phoenix ps", out);
    }
    return;
  }
  entry->life.on_follower(around, {client, request.tool, request.is_guest}, request.shown, out);
  settle(around, job, out);
}

void Jobs::signal(const Surroundings& around, ClientId client, const SignalRequest& request,
                  JobOutbox& out) {
  constexpr std::int32_t kTerminated = 143;
  Entry* entry = find(request.job);
  Done done;
  if (entry == nullptr || entry->life.ended()) {
    done.error = "no job " + to_string(request.job) + "; see phoenix ps";
  } else if (request.signal == 0) {
    entry->life.end(around, kTerminated, "ended by request", out);
    settle(around, request.job, out);
  } else {
    entry->life.on_signal({request.job, request.signal}, out);
    send_each(out, around.members, self_, JobSignal{request.job, request.signal});
  }
  out.report(Effect{Reply{client, std::move(done)}});
}

void Jobs::input(const Surroundings& /*around*/, ClientId client, InputRequest request,
                 JobOutbox& out) {
  const JobId job = request.job;
  Entry* entry = find(job);
  const bool is_over = entry == nullptr
                           ? history_.contains(job)
                           : entry->life.ended() || entry->life.stage() == Stage::kExited;
  if (is_over) return out.report(Effect{Reply{client, InputTaken{job, 0, true}}});
  if (entry == nullptr || !entry->life.has_input() || !entry->life.is_running()) {
    Done done{"no process of " + to_string(job) + " takes input at " + to_string(self_)};
    return out.report(Effect{Reply{client, std::move(done)}});
  }
  entry->feeder = client;
  out.report(Effect{FeedProcess{job, request.offset, std::move(request.bytes), request.is_end}});
}

void Jobs::on_input_taken(const InputTaken& taken, JobOutbox& out) {
  const Entry* entry = find(taken.job);
  if (entry != nullptr && entry->feeder) out.report(Effect{Reply{*entry->feeder, taken}});
}

void Jobs::on_client_took(const Surroundings& around, ClientId client, JobOutbox& out) {
  for (const auto& [job, entry] : jobs_) {
    if (entry->life.on_follower_took(around, client, out)) return settle(around, job, out);
  }
}

void Jobs::on_client_down(const Surroundings& around, ClientId client, const ClientEnd& end,
                          JobOutbox& out) {
  for (auto& [request, asked] : asked_) {
    if (asked.tool && asked.tool->client == client) asked.tool.reset();
  }
  std::vector<JobId> ids;
  for (const auto& [job, entry] : jobs_) ids.push_back(job);
  for (const JobId job : ids) {
    if (jobs_.at(job)->feeder == client) jobs_.at(job)->feeder.reset();
    jobs_.at(job)->life.on_follower_down(around, client, end, out);
    settle(around, job, out);
  }
}

}  // namespace phx::runtime
