#include "runtime/jobs/job_life.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "overlay/base/signal_name.h"
#include "runtime/vnodes/vnode_map.h"

namespace phx::runtime {
namespace {

/// A tool that is stopped while its job's home moves comes when it is continued.
constexpr Duration kFollowTimeout = 1h;
constexpr const char* kAborted = " asked for the end: ";
constexpr std::int32_t kSignalExitBase = 128;  // The shells' convention.
constexpr const char* kUnfinished =
    "it had not called finish(), and the others would wait for its vnodes for ever; a session that "
    "ends by an exception or by exit() is not finished";
constexpr const char* kUnfinishedRank =
    "it had not called MPI_Finalize, and the others would wait for it for ever";
constexpr const char* kNeverAttached =
    "it had not attached, as others of the job have; every process needs a phx::Session";
constexpr const char* kNoRank = "it had not called MPI_Init, as others of the job have";

/// What a job waits for, and what somebody may do about it.
std::string the_tool(JobId job, const std::string& what) {
  const std::string name = to_string(job);
  return "the tool that follows " + name + ", " + what + " (if it is gone: phoenix attach " + name +
         ", or phoenix kill " + name + ")";
}

std::string describe(const Exit& exit) {
  std::string text = exit.signal != 0 ? "was killed by " + signal_name(exit.signal)
                                      : "ended with exit code " + std::to_string(exit.code);
  if (!exit.detail.empty()) text += ": " + exit.detail;
  return text;
}

/// What its process is to run. It may have to know which vnodes it begins with before it attaches.
JobSpec spec_for(const JobStart& start, ProcessorId self) {
  JobSpec spec = start.spec;
  if (!start.processors.contains(self)) return spec;
  const VnodeSet own = VnodeMap(spec.vnodes, start.processors.ids()).owned_by(self);
  if (own.empty()) return spec;
  spec.environment.push_back("PHOENIX_FIRST_VNODE=" + std::to_string(own.front().value));
  return spec;
}

}  // namespace

JobLife::JobLife(ProcessorId self, JobStart start, const DaemonConfig& config)
    : self_(self),
      start_(std::move(start)),
      config_(config),
      duty_(start_.home),
      home_(start_.home),
      stages_(self, start_),
      output_(self, start_.job) {}

std::string JobLife::describe(const Surroundings& around, ProcessorId processor) const {
  const auto found = around.view.members.find(processor);
  const bool has_name = found != around.view.members.end() && !found->second.name.empty();
  std::string text = to_string(processor) + (has_name ? " (" + found->second.name + ")" : "");
  if (!start_.spec.fixed || !start_.processors.contains(processor)) return text;
  const ProcessorSet before = start_.processors.common(ProcessorSet::range(kNobody, processor));
  return "rank " + std::to_string(before.size() - 1) + " at " + text;
}

ProcessorId JobLife::first() const {
  if (start_.processors.empty() || start_.spec.vnodes == 0) return kNobody;
  return VnodeMap(start_.spec.vnodes, start_.processors.ids()).owner(VnodeId{0}).first;
}

void JobLife::consider_start(const Surroundings& around, JobOutbox& out) {
  const JobStage* self = stages_.find(self_);
  const bool is_chosen = self != nullptr && self->stage == Stage::kStarting;
  if (stage_ != Stage::kNone || !is_chosen || ended_) return;
  if (start_.spec.command.empty()) return;
  // Nobody must wait for its process.
  const bool is_late = around.leaving || is_ending();
  if (is_late && !start_.spec.fixed) return become(around, Stage::kNone, {}, out);
  if (is_ending()) return;
  has_process_ = true;
  become(around, Stage::kStarting, {}, out);
  out.report(Effect{Spawn{id(), spec_for(start_, self_), has_input()}});
  out.arm(JobTimer{JobTimer::Kind::kAttach, id(), {}}, around.now + start_.spec.attach_timeout);
}

bool JobLife::is_running() const {
  return stage_ != Stage::kNone && stage_ != Stage::kExited;
}

void JobLife::become(const Surroundings& around, Stage stage, Exit exit, JobOutbox& out) {
  stage_ = stage;
  stages_.put(self_, {id(), stage, std::move(exit), ++changes_, output_.written(), 0});
  report_change(around, out);
}

void JobLife::report_change(const Surroundings& around, JobOutbox& out) {
  if (home_ != self_) return report_stage(home_, out);
  if (ended_) return;
  announce_later(around, self_, out);
  decide(around, out);
}

/// Of one that starts nobody else need know.
void JobLife::announce_later(const Surroundings& around, ProcessorId changed, JobOutbox& out) {
  const JobStage* known = stages_.find(changed);
  if (known == nullptr || known->stage == Stage::kStarting) return;
  // As long as more come, who come together are one statement; but those who come one after the
  // other for long do not put it off for ever.
  constexpr int kPausesMost = 10;
  const Duration pause = announce_pause(around);
  if (unannounced_.empty()) announced_by_ = around.now + kPausesMost * pause;
  unannounced_.insert(changed);
  out.arm(JobTimer{JobTimer::Kind::kStages, id(), {}}, std::min(around.now + pause, announced_by_));
}

void JobLife::report_stage(ProcessorId home, JobOutbox& out) {
  const JobStage* known = stages_.find(self_);
  JobStage here = known != nullptr ? *known : JobStage{};
  here.job = id();
  here.taken = output_.taken();
  stages_.put(self_, here);
  out.send(home, std::move(here));
}

void JobLife::on_attached(const Surroundings& around, ApplicationId application, JobOutbox& out) {
  application_ = application;
  attached_once_ = true;
  out.disarm(JobTimer{JobTimer::Kind::kAttach, id(), {}});
  out.report(Effect{
      ToApp{application,
            AppAttached{id(), self_, start_.spec.vnodes, {}, around.view.line, start_.cast_cut}}});
  is_one_machine_ = false;
  tell_place(around, out);
  become(around, Stage::kAttached, {}, out);
}

void JobLife::tell_place(const Surroundings& around, JobOutbox& out) {
  if (!application_ || is_one_machine_ == is_one_machine(around)) return;
  is_one_machine_ = is_one_machine(around);
  out.report(Effect{ToApp{*application_, AppPlace{is_one_machine_}}});
}

void JobLife::on_finish(const Surroundings& around, const AppFinish& finish, JobOutbox& out) {
  if (finish.abort) {
    const std::int32_t code = std::max(finish.code, std::int32_t{1});
    if (!has_process_) {
      return end(around, code, describe(around, self_) + kAborted + finish.reason, out);
    }
    if (!abort_) abort_ = Exit{code, 0, false, finish.reason, true};
    // Its exit is told when all is read that it wrote before.
    out.report(Effect{SignalProcess{id(), SIGTERM, config_.kill_grace}});
    return;
  }
  // A retired process says it is done, too; that says nothing about the job.
  if (!is_retired_) become(around, Stage::kFinished, {}, out);
}

void JobLife::on_exit(const Surroundings& around, Exit exit, JobOutbox& out) {
  application_.reset();
  app_waiting_.clear();
  if (abort_) exit = *abort_;
  // Who was told to end holds nothing any more.
  exit.finished = exit.finished || stage_ == Stage::kFinished || is_retired_;
  const bool well = exit.code == 0 && exit.signal == 0;
  if (well && attached_once_ && !exit.finished) {
    exit.detail = start_.spec.fixed ? kUnfinishedRank : kUnfinished;
  }
  const bool just_left =
      around.leaving && is_retired_ && (well || is_signalled_ || !attached_once_);
  out.disarm(JobTimer{JobTimer::Kind::kAttach, id(), {}});
  // Ended because the job is over: the home must not take that for the cause.
  if (ended_ && home_ != self_) out.send(home_, *ended_);
  become(around, just_left ? Stage::kNone : Stage::kExited, std::move(exit), out);
}

void JobLife::on_stage(const Surroundings& around, ProcessorId from, JobStage stage,
                       JobOutbox& out) {
  output_.on_forgotten(from, stage.taken);
  const bool is_none = stage.stage == Stage::kNone;
  stages_.learn(around, {from, from, std::move(stage)}, /*is_own=*/true);
  // Another home will ask for it; and after the end nobody does.
  if (home_ != self_ || ended_ || is_gone(around, from)) return;
  const bool is_news = unheard_.contains(from) || is_none;
  unheard_.erase(from);
  announce_later(around, from, out);
  if (is_news) choose(around, {}, out);
  decide(around, out);
}

void JobLife::decide(const Surroundings& around, JobOutbox& out) {
  if (ended_ || home_ != self_ || !is_followed()) return;
  if (!output_.is_taken() || !has_all_come(around)) return;
  std::optional<JobEnd> failure;
  const bool is_joint = stages_.has_sessions();
  bool anybody_left = !unheard_.empty();
  bool anybody_done = false;
  for (const JobStages::Run& run : stages_.runs()) {
    const Stage stage = run.value.stage;
    if (!failure) failure = failure_at(around, run.first, is_joint);
    anybody_done = anybody_done || is_over(stage);
    if (anybody_left || !(takes_part(stage) || stage == Stage::kFinished)) continue;
    anybody_left = !not_gone(around, run).empty();
  }
  if (failure) return end(around, failure->code, failure->reason, out);
  if (anybody_done && !anybody_left) end(around, 0, "", out);
}

bool JobLife::has_all_come(const Surroundings& around) const {
  return std::ranges::all_of(stages_.runs(), [&](const JobStages::Run& run) {
    const ProcessorSet there = not_gone(around, run);
    // How much it has written it says itself.
    if (run.value.stage == Stage::kExited && !there.common(unheard_).empty()) return false;
    const std::uint64_t written = run.value.written;
    return written == 0 || std::ranges::all_of(there.ids(), [&](ProcessorId writer) {
             return output_.given(writer) >= written;
           });
  });
}

std::optional<JobEnd> JobLife::failure_at(const Surroundings& around, ProcessorId processor,
                                          bool is_joint) const {
  const JobStage* found = stages_.find(processor);
  if (found == nullptr || found->stage != Stage::kExited) return std::nullopt;
  Exit exit = found->exit;
  std::int32_t code = exit.signal != 0 ? kSignalExitBase + exit.signal : exit.code;
  if (code == 0) {
    if (is_joint && !exit.finished && exit.detail.empty()) {
      exit.detail = start_.spec.fixed ? kNoRank : kNeverAttached;
    }
    if (exit.detail.empty()) return std::nullopt;
    code = 1;
  }
  const std::string who = describe(around, processor);
  if (exit.aborted) return JobEnd{id(), code, who + kAborted + exit.detail};
  return JobEnd{
      id(), code,
      (start_.spec.fixed ? "" : "the application at ") + who + " " + runtime::describe(exit)};
}

void JobLife::announce_stages(const Surroundings& around, JobOutbox& out) {
  if (home_ != self_ || ended_) return;
  send_each(out, around.members, self_, statement_of(std::exchange(unannounced_, {})));
}

JobHome JobLife::home_statement(bool is_new) const {
  return {id(), home_, home_view_, is_new, stages_.said()};
}

JobHome JobLife::statement_of(const ProcessorSet& processors) const {
  return {id(), home_, home_view_, false, stages_.said(processors)};
}

void JobLife::choose(const Surroundings& around, const ProcessorSet& told, JobOutbox& out) {
  if (home_ != self_ || duty_ != self_ || ended_) return;
  if (unheard_.contains(before_)) return;  // It might end the job before it hears of this.
  const ProcessorSet chosen = stages_.choose(around, start_.spec, unheard_);
  if (chosen.empty()) return;
  send_each(out, chosen.minus(told), self_, statement_of(chosen));
  consider_start(around, out);
}

void JobLife::on_home(const Surroundings& around, ProcessorId from, const JobHome& home,
                      JobOutbox& out) {
  for (const JobStages::Run& said : home.stages.runs()) {
    stages_.learn(around, said, /*is_own=*/false);
  }
  if (home.view > home_view_) {  // The view comes here later.
    home_ = home.home;
    home_view_ = home.view;
  }
  const std::uint64_t before = changes_;
  // One that is the home no more does not tell the next one whom it has chosen.
  const JobStage* own = home.stages.find(self_);
  const bool is_chosen = own != nullptr && own->stage == Stage::kStarting;
  if (is_chosen && from == home_ && stage_ == Stage::kNone && changes_ == 0) {
    stages_.put(self_, {id(), Stage::kStarting, {}});
  }
  consider_start(around, out);
  const bool is_told = changes_ != before && home_ == home.home;
  if (home.is_new && !ended_ && home.home != self_ && !is_told) report_stage(home.home, out);
}

/// The processor that was asked for the job; when that leaves, the oldest one that stays.
ProcessorId JobLife::home_in(const Surroundings& around) const {
  const bool is_to_come = start_.home.value >= around.view.next_processor;
  if (is_to_come || around.staying.contains(start_.home)) return start_.home;
  if (!around.staying.empty()) return around.staying.front();
  return around.members.empty() ? home_ : around.members.front();
}

bool JobLife::on_view(const Surroundings& around, JobOutbox& out) {
  if (ended_) return false;
  tell_place(around, out);
  // Who leaves now hears of what it would have heard later.
  if (home_ == self_ && output_.tool() && output_.is_taken()) output_.on_tool_took(around, out);
  const ProcessorId before = std::exchange(duty_, home_in(around));
  if (around.view.number >= home_view_) {
    home_ = duty_;
    home_view_ = around.view.number;
  }
  if (before == duty_) return false;
  if (before == self_) give_home_up(around, out);
  if (duty_ == self_) {
    before_ = before;
    take_home(around, out);
  }
  return duty_ == self_;
}

void JobLife::take_home(const Surroundings& around, JobOutbox& out) {
  note(out, Note::Level::kInfo, "job-home", to_string(id()));
  unheard_ = around.members.minus(ProcessorSet{self_});
  if (!start_.spec.command.empty()) {
    out.arm(JobTimer{JobTimer::Kind::kFollow, id(), {}}, around.now + kFollowTimeout);
  }
}

void JobLife::give_home_up(const Surroundings& around, JobOutbox& out) {
  unheard_ = {};
  unannounced_ = {};
  out.disarm(JobTimer{JobTimer::Kind::kStages, id(), {}});
  stages_.forget_choices();
  out.disarm(JobTimer{JobTimer::Kind::kFollow, id(), {}});
  if (output_.tool()) send_elsewhere(around, output_.tool()->client, out);
  output_.on_tool_gone();
}

void JobLife::send_elsewhere(const Surroundings& around, ClientId tool, JobOutbox& out) const {
  const auto found = around.view.members.find(home_);
  const auto endpoints =
      found == around.view.members.end() ? std::vector<std::string>{} : found->second.endpoints;
  out.report(Effect{Reply{tool, RunMoved{id(), endpoints}}});
  out.report(Effect{DropClient{tool}});
}

void JobLife::on_written(const Surroundings& around, Output output, JobOutbox& out) {
  if (ended_) return;  // Its tool has been told so, and shows nothing more.
  output_.on_written(around, output, out);
  on_output(around, std::move(output), out);
}

void JobLife::on_output(const Surroundings& around, Output output, JobOutbox& out) {
  if (output.processor == self_ && home_ != self_) return out.send(home_, std::move(output));
  if (home_ != self_) return;  // Its writer keeps it, and another home will ask for it.
  output_.on_come(std::move(output), out);
  decide(around, out);  // It may be what the end has waited for.
}

void JobLife::on_taken(const Surroundings& around, ProcessorId from, const OutputTaken& taken,
                       JobOutbox& out) {
  output_.on_taken(around, taken.count, out);
  if (!taken.again || ended_) return;
  report_stage(from, out);
  output_.repeat(from, out);
}

void JobLife::on_follower(const Surroundings& around, const Tool& tool,
                          const JobOutput::Numbers& shown, JobOutbox& out) {
  if (home_ != self_ && !ended_) return send_elsewhere(around, tool.client, out);
  const std::optional<Tool> before = output_.tool();
  if (before && before->client != tool.client) {
    if (!tool.is_same(*before)) {
      const Done refusal{"another tool follows " + to_string(id()) + " already"};
      out.report(Effect{Reply{tool.client, refusal}});
      return out.report(Effect{DropClient{tool.client}});
    }
    out.report(Effect{DropClient{before->client}});
  }
  out.disarm(JobTimer{JobTimer::Kind::kFollow, id(), {}});
  out.report(Effect{Reply{tool.client, RunStarted{id(), first()}}});
  const bool is_first = start_.home == self_ && !std::exchange(was_followed_, true);
  output_.on_tool(tool, shown, is_first ? ProcessorSet{} : around.members, out);
  if (home_ == self_) decide(around, out);
  tell_followers(out);
}

bool JobLife::on_follower_took(const Surroundings& around, ClientId client, JobOutbox& out) {
  if (!output_.is_for(client)) return false;
  output_.on_tool_took(around, out);
  decide(around, out);
  return true;
}

void JobLife::on_follower_down(const Surroundings& around, ClientId client, const ClientEnd& how,
                               JobOutbox& out) {
  if (!output_.is_for(client)) return;
  const bool goes_on = start_.spec.detached || output_.tool()->is_guest;
  output_.on_tool_gone();
  if (ended_) return;
  if (goes_on || how.is_broken) {
    const bool is_patient = goes_on || how.is_silent;
    const Duration patience = is_patient ? kFollowTimeout : kToolReturns;
    return out.arm(JobTimer{JobTimer::Kind::kFollow, id(), {}}, around.now + patience);
  }
  end(around, kSignalExitBase + SIGHUP,
      "the tool that followed it " + (how.why.empty() ? "went away" : "was dropped: " + how.why),
      out);
}

void JobLife::on_signal(const JobSignal& signal, JobOutbox& out) {
  if (has_process_ && is_running()) {
    out.report(Effect{SignalProcess{id(), signal.signal, kForever}});
  }
}

void JobLife::end(const Surroundings& around, std::int32_t code, std::string reason,
                  JobOutbox& out) {
  if (ended_) return;
  const JobEnd message{id(), code, std::move(reason)};
  on_end(around, message, out);
  tell_end(around, message, out);
}

/// Everybody may find at once that a job is over, for instance when all see the same death. So two
/// tell all others, and the rest tells these two: the home, and the coordinator, since the home
/// may be gone.
void JobLife::tell_end(const Surroundings& around, const JobEnd& end, JobOutbox& out) const {
  ProcessorSet told{home_, around.coordinator};
  if (told.contains(self_)) told = around.members;
  told.erase(self_);
  for (const ProcessorId member : told.common(around.members).ids()) out.send(member, end);
}

void JobLife::on_end(const Surroundings& around, const JobEnd& end, JobOutbox& out) {
  if (ended_) return;
  ended_ = end;
  output_.on_over(out);
  note(out, end.reason.empty() ? Note::Level::kInfo : Note::Level::kWarn, "job-ended",
       to_string(id()) + " code=" + std::to_string(end.code) +
           (end.reason.empty() ? "" : " reason=" + end.reason));
  if (application_) {
    out.report(Effect{ToApp{*application_, AppEnd{end.code, end.reason}}});
    out.report(Effect{DropApp{*application_}});
    // No process of ours will report its exit, and nobody the end of a connection we close.
    if (!has_process_) on_exit(around, Exit{end.code, 0, true, {}}, out);
  }
  if (has_process_ && is_running()) {
    out.report(Effect{SignalProcess{id(), SIGTERM, config_.kill_grace}});
  }
  tell_followers(out);
}

void JobLife::tell_followers(JobOutbox& out) {
  if (!ended_ || !output_.tool()) return;
  RunEnded reply{id(), ended_->code, ended_->reason, {}};
  for (const JobStages::Run& run : stages_.runs()) {
    if (run.value.stage != Stage::kNone) reply.stages.put(run);
  }
  out.report(Effect{Reply{output_.tool()->client, std::move(reply)}});
  out.report(Effect{DropClient{output_.tool()->client}});
  output_.on_tool_gone();
}

void JobLife::on_gone(const Surroundings& around, const ViewChange::Gone& gone,
                      const std::string& lost, JobOutbox& out) {
  stages_.on_gone(gone.id);
  unheard_.erase(gone.id);
  output_.on_gone(gone.id);
  if (ended_) return;
  const bool was_home = duty_ == gone.id;
  if (gone.why != Departure::kLeft && (was_home || !lost.empty())) {
    end(around, 1,
        to_string(gone.id) + " is gone (" + gone.detail + ")" +
            (lost.empty() ? ", which looked after the job" : ", and with it " + lost),
        out);
    return;
  }
  // It may have died before it had announced the job to all, the present home among them.
  const bool may_be_unknown = gone.why != Departure::kLeft && gone.id == start_.home;
  if (may_be_unknown && home_ != self_) out.send(home_, start_);
  decide(around, out);
}

void JobLife::on_timer(const Surroundings& around, const JobTimer& timer, JobOutbox& out) {
  switch (timer.kind) {
    case JobTimer::Kind::kStages:
      announce_stages(around, out);
      break;
    case JobTimer::Kind::kAttach:
      if (is_held_up()) {  // It may have had no chance yet.
        out.arm(timer, around.now + start_.spec.attach_timeout);
      } else if (stage_ == Stage::kStarting) {
        const std::string who = describe(around, self_);
        end(around, 1,
            start_.spec.fixed ? who + " has not called MPI_Init in time"
                              : "the application at " + who +
                                    " has not attached in time; does it create a phx::Session?",
            out);
      }
      break;
    case JobTimer::Kind::kFollow:
      if (home_ == self_ && !output_.tool()) {
        end(around, kSignalExitBase + SIGHUP, "the tool that followed it did not come back", out);
      }
      break;
    case JobTimer::Kind::kBalance:
    case JobTimer::Kind::kReduction:
    case JobTimer::Kind::kRoutes:
      break;
  }
}

void JobLife::consider_retire(const Surroundings& around, bool idle, JobOutbox& out) {
  const bool wanted = around.leaving || is_ending();
  if (!wanted || !idle || is_retired_ || ended_) return;
  if (stage_ == Stage::kAttached && application_) {
    is_retired_ = true;
    out.report(Effect{ToApp{*application_, AppRetire{}}});
  } else if (stage_ == Stage::kStarting && around.leaving) {
    is_retired_ = true;
    is_signalled_ = true;
    out.report(Effect{SignalProcess{id(), SIGTERM, config_.kill_grace}});
  }
}

std::string JobLife::waiting(const Surroundings& around) const {
  const bool is_kept_here = around.leaving && !is_running() && !is_read();
  if (is_held_up() || is_kept_here) return the_tool(id(), "to read its output");
  if (stage_ == Stage::kStarting) return "the application to attach";
  if (is_retired_ && is_running()) return "the application to end, as it was told";
  if (around.leaving && stage_ == Stage::kFinished) return "the application to end";
  if (home_ != self_ || is_running() || ended_) return {};
  if (!is_followed()) return the_tool(id(), "to come here");
  if (!output_.is_taken()) return the_tool(id(), "to read its output");
  ProcessorSet asked = unheard_;
  const ProcessorSet silent = stages_.silent().common(around.members);
  for (const auto& range : silent.ranges()) asked.insert(range);
  if (asked.empty()) return {};
  return "the others, to say which processes of the job they run: p" + to_string(asked);
}

}  // namespace phx::runtime
