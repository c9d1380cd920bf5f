#include "runtime/jobs/job_life.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "overlay/base/check.h"

namespace phx::runtime {
namespace {

/// A tool that is stopped while its job's home moves comes when it is continued.
constexpr Duration kFollowTimeout = 1h;
constexpr const char* kUnread = "the tool that follows the job, to read its output";
constexpr std::int32_t kSignalExitBase = 128;  // The shells' convention.

bool takes_part(Stage stage) {
  return stage == Stage::kStarting || stage == Stage::kAttached;
}

std::string describe(const Exit& exit) {
  std::string text = exit.signal != 0 ? "was killed by signal " + std::to_string(exit.signal)
                                      : "ended with exit code " + std::to_string(exit.code);
  if (!exit.detail.empty()) text += ": " + exit.detail;
  return text;
}

}  // namespace

JobLife::JobLife(ProcessorId self, JobStart start, const DaemonConfig& config)
    : self_(self),
      start_(std::move(start)),
      config_(config),
      home_(start_.home),
      output_(self, start_.job, config.output_bytes_max) {
  for (const ProcessorId processor : start_.processors) {
    stages_[processor] = {start_.job, Stage::kStarting, {}};
  }
}

ProcessorSet JobLife::ready() const {
  ProcessorSet result;
  for (const auto& [processor, stage] : stages_) {
    if (stage.stage == Stage::kAttached) result.insert(processor);
  }
  return result;
}

bool JobLife::is_ending() const {
  return ended_ || std::any_of(stages_.begin(), stages_.end(), [](const auto& entry) {
           return entry.second.stage == Stage::kFinished || entry.second.stage == Stage::kExited;
         });
}

std::string JobLife::describe(const Surroundings& around, ProcessorId processor) const {
  const auto found = around.view.members.find(processor);
  const bool has_name = found != around.view.members.end() && !found->second.name.empty();
  return to_string(processor) + (has_name ? " (" + found->second.name + ")" : "");
}

bool JobLife::is_chosen(const Surroundings& around) const {
  const auto& first = start_.processors;
  const bool was_chosen = std::find(first.begin(), first.end(), self_) != first.end();
  if (was_chosen || start_.spec.processors_max == 0) return true;
  ProcessorSet running;
  for (const auto& [processor, stage] : stages_) {
    if (takes_part(stage.stage) && around.staying.contains(processor)) running.insert(processor);
  }
  const ProcessorSet spare = around.staying.minus(running);
  return running.size() < start_.spec.processors_max && !spare.empty() && spare.front() == self_;
}

void JobLife::consider_start(const Surroundings& around, JobOutbox& out) {
  if (stage_ != Stage::kNone) return;
  if (around.leaving) {
    // Chosen before it was known to leave: nobody must wait for its process.
    const auto self = stages_.find(self_);
    const bool is_expected = self != stages_.end() && self->second.stage == Stage::kStarting;
    if (is_expected && !ended_) become(around, Stage::kNone, {}, out);
    return;
  }
  if (is_ending()) return;
  if (start_.spec.command.empty() || !is_chosen(around)) return;
  has_process_ = true;
  become(around, Stage::kStarting, {}, out);
  out.report(Effect{Spawn{id(), start_.spec}});
  out.arm(JobTimer{JobTimer::Kind::kAttach, id(), {}}, around.now + start_.spec.attach_timeout);
}

void JobLife::become(const Surroundings& around, Stage stage, Exit exit, JobOutbox& out) {
  stage_ = stage;
  stages_[self_] = {id(), stage, std::move(exit), 0, 0};
  report_stage(around, out);
}

void JobLife::report_stage(const Surroundings& around, JobOutbox& out) {
  JobStage& here = stages_.at(self_);
  here.change = ++changes_;
  here.written = output_.written();
  if (home_ != self_) {
    out.send(home_, here);
    return;
  }
  output_.on_counted(self_, here.written);
  unannounced_.insert(self_);
  out.arm(JobTimer{JobTimer::Kind::kStages, id(), {}}, around.now + kAnnounceDelay);
  decide(around, out);
}

/// Statements come on several ways; the processor concerned has numbered them.
void JobLife::learn(const Surroundings& around, ProcessorId processor, const JobStage& stage) {
  if (processor == self_ || is_gone(around, processor)) return;
  const auto found = stages_.find(processor);
  if (found != stages_.end() && found->second.change >= stage.change) return;
  stages_[processor] = stage;
  if (home_ == self_) output_.on_counted(processor, stage.written);
}

void JobLife::on_attached(const Surroundings& around, ApplicationId application, JobOutbox& out) {
  application_ = application;
  attached_once_ = true;
  out.disarm(JobTimer{JobTimer::Kind::kAttach, id(), {}});
  out.report(Effect{
      ToApp{application, AppAttached{id(), self_, start_.spec.vnodes, {}, around.view.line}}});
  become(around, Stage::kAttached, {}, out);
}

void JobLife::on_finish(const Surroundings& around, const AppFinish& finish, JobOutbox& out) {
  if (finish.abort) {
    end(around, finish.code, describe(around, self_) + " asked for the end: " + finish.reason, out);
    return;
  }
  // A retired process says it is done, too; that says nothing about the job.
  if (!is_retired_) become(around, Stage::kFinished, {}, out);
}

void JobLife::on_exit(const Surroundings& around, Exit exit, JobOutbox& out) {
  application_.reset();
  app_waiting_.clear();
  exit.finished = exit.finished || stage_ == Stage::kFinished;
  const bool well = exit.code == 0 && exit.signal == 0;
  const bool just_left =
      around.leaving && is_retired_ && (well || is_signalled_ || !attached_once_);
  out.disarm(JobTimer{JobTimer::Kind::kAttach, id(), {}});
  // Ended because the job is over: the home must not take that for the cause.
  if (ended_ && home_ != self_) out.send(home_, *ended_);
  become(around, just_left ? Stage::kNone : Stage::kExited, std::move(exit), out);
}

void JobLife::on_stage(const Surroundings& around, ProcessorId from, JobStage stage,
                       JobOutbox& out) {
  learn(around, from, stage);
  // Who tells a former home will hear of the new one, and tell that.
  if (home_ != self_ || is_gone(around, from)) return;
  // What it sent here before has come, so the rest was sent to homes that are gone.
  if (!may_output_come(around)) output_.on_lost(around, out);
  unannounced_.insert(from);
  out.arm(JobTimer{JobTimer::Kind::kStages, id(), {}}, around.now + kAnnounceDelay);
  decide(around, out);
}

void JobLife::decide(const Surroundings& around, JobOutbox& out) {
  if (ended_ || !is_followed() || !output_.is_taken()) return;
  const bool is_lost = !output_.has_all_come();
  if (is_lost && may_output_come(around)) return;
  bool anybody_left = false;
  bool anybody_exited = false;
  for (const auto& [processor, stage] : stages_) {
    const Exit& exit = stage.exit;
    if (is_gone(around, processor)) continue;
    if (stage.stage == Stage::kExited && (exit.code != 0 || exit.signal != 0)) {
      const std::int32_t code = exit.signal != 0 ? kSignalExitBase + exit.signal : exit.code;
      end(around, code,
          "the application at " + describe(around, processor) + " " + runtime::describe(exit), out);
      return;
    }
    anybody_exited = anybody_exited || stage.stage == Stage::kExited;
    anybody_left = anybody_left || takes_part(stage.stage) || stage.stage == Stage::kFinished;
  }
  if (!anybody_exited || anybody_left) return;
  const char* lost = "output is lost that a former home of the job was passing on when it died";
  end(around, is_lost ? 1 : 0, is_lost ? lost : "", out);
}

/// What has not come with a stage is at former homes. These leave; when none is left, it is lost.
bool JobLife::may_output_come(const Surroundings& around) const {
  const ProcessorSet leavers = around.members.minus(around.staying).minus(ProcessorSet{self_});
  return moves_ == 0 || !leavers.empty() || around.members.contains(home_before_);
}

void JobLife::announce_stages(const Surroundings& around, JobOutbox& out) {
  if (home_ != self_) return;
  JobHome statement{id(), home_, moves_, {}, {}};
  for (const ProcessorId processor : unannounced_.ids()) {
    const auto found = stages_.find(processor);
    if (found != stages_.end()) statement.stages.insert(*found);
  }
  unannounced_ = {};
  for (const ProcessorId member : around.members.minus(ProcessorSet{self_}).ids()) {
    out.send(member, statement);
  }
}

void JobLife::on_home(const Surroundings& around, const JobHome& home, JobOutbox& out) {
  if (home.moves < moves_) return;
  const bool moved = home.moves > moves_;
  moves_ = home.moves;
  if (home_ != home.home) home_before_ = std::exchange(home_, home.home);
  for (const auto& [processor, stage] : home.stages) learn(around, processor, stage);
  if (!moved || ended_) return;
  if (is_gone(around, home_)) {
    end(around, 1, to_string(home_) + " is gone, which was to look after the job", out);
    return;
  }
  if (home_ == self_) output_.become_home(around, home.outputs, stages_, out);
  if (home_ != self_) output_.give_away(home_, out);
  // With what was written since the last report: the new home must know what is on its way to it.
  if (stages_.contains(self_)) report_stage(around, out);
  if (home_ != self_) return;
  note(out, Note::Level::kInfo, "job-home", to_string(id()));
  if (!start_.spec.command.empty()) {
    out.arm(JobTimer{JobTimer::Kind::kFollow, id(), {}}, around.now + kFollowTimeout);
  }
  decide(around, out);
}

void JobLife::pass_home_on(const Surroundings& around, JobOutbox& out) {
  // What the tool has not taken would not reach it any more.
  if (home_ != self_ || ended_ || !output_.is_taken()) return;
  ProcessorSet candidates = ready().common(around.staying);
  if (candidates.empty()) candidates = around.staying;
  candidates.erase(self_);
  if (candidates.empty()) return;
  home_ = candidates.front();
  ++moves_;
  output_.uncount_kept();
  for (const ProcessorId member : around.members.minus(ProcessorSet{self_}).ids()) {
    out.send(member, home_statement());
  }
  output_.give_away(home_, out);
  output_.forget_writers();
  unannounced_ = {};
  if (!output_.tool()) return;
  const auto found = around.view.members.find(home_);
  PHX_CHECK(found != around.view.members.end());
  out.report(Effect{Reply{*output_.tool(), RunMoved{id(), found->second.endpoints}}});
  out.report(Effect{DropClient{*output_.tool()}});
  output_.on_tool_gone();
}

void JobLife::on_written(const Surroundings& around, Output output, JobOutbox& out) {
  if (ended_) return;  // Its tool has been told so, and shows nothing more.
  output_.on_written(around, output, out);
  on_output(around, std::move(output), out);
}

void JobLife::on_output(const Surroundings& around, Output output, JobOutbox& out) {
  if (home_ != self_) {
    out.send(home_, std::move(output));
    return;
  }
  output_.on_come(around, std::move(output), out);
  if (output_.has_gaps() && !may_output_come(around)) output_.on_lost(around, out);
  decide(around, out);  // It may be what the end has waited for.
}

void JobLife::on_taken(const Surroundings& around, const OutputTaken& taken, JobOutbox& out) {
  output_.on_taken(around, taken.count, out);
}

void JobLife::on_follower(const Surroundings& around, ClientId client, JobOutbox& out) {
  if (home_ != self_ && !ended_) {
    const auto found = around.view.members.find(home_);
    const auto endpoints =
        found == around.view.members.end() ? std::vector<std::string>{} : found->second.endpoints;
    out.report(Effect{Reply{client, RunMoved{id(), endpoints}}});
    out.report(Effect{DropClient{client}});
    return;
  }
  if (output_.tool() && output_.tool() != client) {
    out.report(Effect{Reply{client, Done{"another tool follows " + to_string(id()) + " already"}}});
    out.report(Effect{DropClient{client}});
    return;
  }
  out.disarm(JobTimer{JobTimer::Kind::kFollow, id(), {}});
  out.report(Effect{Reply{client, RunStarted{id()}}});
  output_.on_tool(client, out);
  if (home_ == self_) decide(around, out);
  tell_followers(out);
}

bool JobLife::on_follower_took(const Surroundings& around, ClientId client, JobOutbox& out) {
  if (output_.tool() != client) return false;
  output_.on_tool_took(around, out);
  decide(around, out);
  return true;
}

void JobLife::on_follower_down(const Surroundings& around, ClientId client, const std::string& why,
                               JobOutbox& out) {
  if (output_.tool() != client) return;
  output_.on_tool_gone();
  if (ended_) return;
  end(around, kSignalExitBase + SIGHUP,
      "the tool that followed it " + (why.empty() ? "went away" : "was dropped: " + why), out);
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
  RunEnded reply{id(), ended_->code, ended_->reason, stages_};
  std::erase_if(reply.stages, [](const auto& entry) { return entry.second.stage == Stage::kNone; });
  out.report(Effect{Reply{*output_.tool(), std::move(reply)}});
  out.report(Effect{DropClient{*output_.tool()}});
  output_.on_tool_gone();
}

void JobLife::on_gone(const Surroundings& around, const ViewChange::Gone& gone,
                      const std::string& lost, JobOutbox& out) {
  stages_.erase(gone.id);
  output_.on_gone(around, gone);
  if (ended_) return;
  const bool was_home = home_ == gone.id;
  if (gone.why != Departure::kLeft && (was_home || !lost.empty())) {
    end(around, 1,
        to_string(gone.id) + " is gone (" + gone.detail + ")" +
            (lost.empty() ? ", which looked after the job" : ", and with it " + lost),
        out);
    return;
  }
  if (home_ != self_) return;
  if (!may_output_come(around)) output_.on_lost(around, out);
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
        end(around, 1,
            "the application at " + describe(around, self_) +
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

std::string JobLife::waiting() const {
  if (is_held_up()) return kUnread;
  if (!app_waiting_.empty()) return app_waiting_;
  if (stage_ == Stage::kStarting) return "the application to attach";
  if (is_retired_ && is_running()) return "the application to end, as it was told";
  if (home_ != self_ || is_running() || ended_) return {};
  if (!is_followed()) return "the tool that started the job, to follow it to its new home";
  if (!output_.has_all_come()) return "output of the job's processes that is on its way here";
  if (!output_.is_taken()) return kUnread;
  return {};
}

}  // namespace phx::runtime
