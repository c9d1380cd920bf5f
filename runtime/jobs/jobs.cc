#include "runtime/jobs/jobs.h"

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"
#include "overlay/base/overloaded.h"

namespace phx::runtime {
namespace {

/// To where it came from: there its job is known.
void give_back(ProcessorId to, JobMessage message, JobOutbox& out) {
  std::visit([&](auto& m) { out.send(to, std::move(m)); }, message);
}

}  // namespace

Jobs::Jobs(ProcessorId self, const DaemonConfig& config)
    : self_(self),
      config_(config),
      early_({.messages = config.early_messages_max, .bytes = config.parked_bytes_max}) {}

Jobs::Entry* Jobs::find(JobId job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : found->second.get();
}

void Jobs::on_birth(const IntervalSet<JobId>& over, const std::vector<JobEnd>& ends) {
  history_.add(over);
  for (const JobEnd& end : ends) history_.add(end);
}

void Jobs::on_start(const Surroundings& around, ProcessorId from, const JobStart& start,
                    JobOutbox& out) {
  const JobId job = start.job;
  if (find(job) != nullptr || history_.contains(job) || start.spec.vnodes == 0) return;
  const bool is_dead = from == start.home && from != self_ && is_gone(around, from);
  // If the job goes on although its first home has died, then its present home announces it, too.
  if (is_dead) return;
  if (start.home == self_ && !announce(around, start, out)) {
    history_.add(IntervalSet<JobId>{job});
    early_.take(job);
    return;
  }
  auto& entry = *jobs_.emplace(job, std::make_unique<Entry>(self_, start, config_)).first->second;
  entry.traffic.on_line(around, out);
  note(out, Note::Level::kInfo, "job-started",
       to_string(job) + " vnodes=" + std::to_string(start.spec.vnodes) +
           " home=" + to_string(start.home));
  if (start.home == self_) {
    const auto asked = asked_.extract(start.request);
    if (asked.mapped().tool) entry.life.on_follower(around, *asked.mapped().tool, {}, out);
    for (const ApplicationId application : asked.mapped().applications) {
      attach(around, application, {job, start.spec.vnodes, 0}, out);
    }
  }
  if (entry.life.on_view(around, out)) introduce(entry, around.members, true, out);
  entry.life.consider_start(around, out);
  entry.life.choose(around, {}, out);
  for (JobBacklog::One& one : early_.take(job)) {
    on_message(around, one.from, std::move(one.message), out);
  }
  settle(around, job, out);
}

bool Jobs::announce(const Surroundings& around, const JobStart& start, JobOutbox& out) {
  const auto asked = asked_.find(start.request);
  if (asked == asked_.end()) return false;
  const bool is_wanted = asked->second.tool || !asked->second.applications.empty();
  if (!is_wanted || around.leaving) {
    refuse(asked->second, to_string(self_) + " is leaving the mesh; ask another processor", out);
    asked_.erase(asked);
    return false;
  }
  send_each(out, around.members, self_, start);
  return true;
}

void Jobs::introduce(const Entry& entry, const ProcessorSet& to, bool is_new_home, JobOutbox& out) {
  const ProcessorSet others = to.minus(ProcessorSet{self_});
  if (others.empty()) return;
  const VnodeMap& map = entry.traffic.router().map();
  const Routes routes{entry.life.id(), map.routes(map.all())};
  const JobHome statement = entry.life.home_statement(is_new_home);
  for (const ProcessorId member : others.ids()) {
    out.send(member, entry.life.start());
    out.send(member, routes);
    out.send(member, statement);
  }
}

void Jobs::on_end(const Surroundings& around, const JobEnd& end, JobOutbox& out) {
  Entry* entry = find(end.job);
  const bool is_news = entry != nullptr ? !entry->life.ended() : !history_.contains(end.job);
  if (entry != nullptr) {
    const bool is_home = entry->life.home() == self_;
    if (is_news && (is_home || around.coordinator == self_)) entry->life.tell_end(around, end, out);
    entry->life.on_end(around, end, out);
  } else if (is_news) {
    // Over before it was announced here.
    history_.add(end);
    early_.take(end.job);
    if (around.coordinator == self_) tell_all(around, end, out);
  }
  settle(around, end.job, out);
}

/// By somebody who knows no home of the job.
void Jobs::tell_all(const Surroundings& around, const JobEnd& end, JobOutbox& out) {
  send_each(out, around.members, self_, end);
}

void Jobs::on_unknown(const Surroundings& around, ProcessorId from, JobMessage message,
                      JobOutbox& out) {
  const JobId job = std::visit([](const auto& m) { return m.job; }, message);
  if (history_.contains(job)) {
    ++counters_.dropped;
    // A member that takes it for alive: its end was lost with the coordinator before.
    const JobEnd* end = history_.end(job);
    const bool asks = std::holds_alternative<Routes>(message);
    if (asks && end != nullptr && around.coordinator == self_) out.send(from, *end);
    return;
  }
  if (around.leaving && from != self_ && JobBacklog::is_token(message)) {
    return give_back(from, std::move(message), out);
  }
  if (early_.keep(job, from, std::move(message))) return;
  const JobEnd end{
      job, 1, "more than can be kept came to " + to_string(self_) + " before it heard of the job"};
  tell_all(around, end, out);
  on_end(around, end, out);
}

void Jobs::settle(const Surroundings& around, JobId job, JobOutbox& out) {
  Entry* entry = find(job);
  if (entry == nullptr) return;
  JobLife& life = entry->life;
  const std::string limit = entry->traffic.limit_reached();
  if (!limit.empty() && !life.ended()) life.end(around, 1, limit, out);
  if (!life.ended()) {
    entry->traffic.on_home(around, life.home(), out);
    entry->traffic.on_standing(around, life.ready(), life.is_ending(), out);
    life.consider_retire(
        around, entry->traffic.router().map().owned_by(self_).empty() && entry->traffic.is_empty(),
        out);
    return;
  }
  if (life.is_running()) return;
  counters_ += entry->traffic.counters();
  history_.add(*life.ended());
  jobs_.erase(job);
}

void Jobs::on_message(const Surroundings& around, ProcessorId from, JobMessage&& message,
                      JobOutbox& out) {
  const JobId job = std::visit([](const auto& m) { return m.job; }, message);
  Entry* entry = find(job);
  if (entry == nullptr) {
    on_unknown(around, from, std::move(message), out);
    return;
  }
  const bool is_plain = std::holds_alternative<CollectiveMessage>(message) ||
                        std::holds_alternative<StatePiece>(message) ||
                        std::holds_alternative<VnodeMessage>(message);
  if (const auto* m = std::get_if<Migrate>(&message); m != nullptr && from != self_) {
    entry->passed[from] = around.now;
    entry->meter.on_moved_here(m->parcels);
  }
  dispatch(around, from, *entry, std::move(message), out);
  // Plain traffic changes who should hold what only while this processor empties itself, or all do.
  const bool matters = around.leaving || (entry->traffic.is_ending() &&
                                          entry->traffic.router().map().owned_by(self_).empty());
  if (!is_plain || matters || entry->traffic.is_over_limit()) settle(around, job, out);
}

void Jobs::dispatch(const Surroundings& around, ProcessorId from, Entry& entry,
                    JobMessage&& message, JobOutbox& out) {
  std::visit(Overloaded{
                 [&](JobStage& m) { entry.life.on_stage(around, from, std::move(m), out); },
                 [&](JobHome& m) { entry.life.on_home(around, from, m, out); },
                 [&](Output& m) { entry.life.on_output(around, std::move(m), out); },
                 [&](OutputTaken& m) { entry.life.on_taken(around, from, m, out); },
                 [&](JobSignal& m) { entry.life.on_signal(m, out); },
                 [&](auto& m) { entry.traffic.on_message(around, from, std::move(m), out); },
             },
             message);
}

void Jobs::on_view(const Surroundings& around, const std::vector<SharedMember>& joined,
                   const std::vector<ViewChange::Gone>& gone, JobOutbox& out) {
  ProcessorSet newcomers;
  for (const SharedMember& member : joined) {
    if (!member->leaving) newcomers.insert(member.id());
  }
  std::vector<JobId> ids;
  for (const auto& [job, entry] : jobs_) ids.push_back(job);
  for (const JobId job : ids) {
    Entry& entry = *jobs_.at(job);
    for (const auto& one : gone) {
      entry.life.on_gone(around, one, lost_with(around, entry, one.id), out);
      entry.traffic.on_gone(around, one.id, out);
      entry.passed.erase(one.id);
    }
    if (!entry.life.ended()) entry.traffic.on_line(around, out);
    const bool is_new_home = entry.life.on_view(around, out);
    entry.life.choose(around, newcomers, out);
    // Newcomers may have missed the home before as well as this one.
    if (is_new_home) {
      introduce(entry, around.members, true, out);
    } else if (entry.life.home() == self_ && !entry.life.ended()) {
      introduce(entry, newcomers, false, out);
    }
    entry.life.consider_start(around, out);
    settle(around, job, out);
  }
  if (coordinator_ != around.coordinator) report_holdings(around, out);
  for (auto& [request, asked] : asked_) {
    if (asked.asked != around.coordinator) request_job(around, request, out);
  }
}

bool Jobs::is_held(JobId job, VnodeId vnode) const {
  const auto found = jobs_.find(job);
  return found != jobs_.end() && found->second->traffic.router().held().contains(vnode);
}

void Jobs::on_dropped(const CollectiveMessage& copy, ProcessorId peer) {
  Entry* entry = find(copy.job);
  const collectives::BroadcastPiece* piece = copied_piece(copy);
  if (entry == nullptr || piece == nullptr) return;
  entry->dropped[peer].add(*piece, vnodes_of(copy));
  dropped_for_.insert(peer);
}

void Jobs::on_relieved(ProcessorId peer, JobOutbox& out) {
  dropped_for_.erase(peer);
  for (auto& [job, entry] : jobs_) {
    auto dropped = entry->dropped.extract(peer);
    if (dropped.empty()) continue;
    const VnodeSet all = entry->traffic.router().map().all();
    entry->traffic.on_relieved(dropped.mapped().take(all), out);
  }
}

/// A processor that held no vnodes may have had some all the same, on their way to others; but not
/// for long, since what cannot be passed on for peer_timeout is the death of somebody else.
std::string Jobs::lost_with(const Surroundings& around, const Entry& entry,
                            ProcessorId gone) const {
  const VnodeSet held = entry.traffic.router().map().owned_by(gone);
  if (!held.empty()) return "v" + to_string(held);
  const auto passed = entry.passed.find(gone);
  const bool is_recent =
      passed != entry.passed.end() && around.now - passed->second < 3 * config_.peer_timeout;
  return is_recent ? "vnodes that it was passing on" : "";
}

void Jobs::report_holdings(const Surroundings& around, JobOutbox& out) {
  coordinator_ = around.coordinator;
  if (coordinator_ == self_) return;
  for (const auto& [job, entry] : jobs_) {
    const VnodeMap& map = entry->traffic.router().map();
    // Empty or not, for the answer: the coordinator knows of jobs that are over.
    out.send(coordinator_, Routes{job, map.routes(map.owned_by(self_))});
  }
}

void Jobs::on_tree_changed(const Surroundings& around, TreeId tree, JobOutbox& out) {
  for (auto& [job, entry] : jobs_) entry->traffic.on_tree_changed(around, tree, out);
}

/// Contributions leave their source once. A leaver that never hears of their job would take them
/// along. (Broadcasts and messages are sent again by their ends.)
void Jobs::on_leaving(const Surroundings& around, JobOutbox& out) {
  for (JobBacklog::One& one : early_.take_tokens()) {
    give_back(one.from, std::move(one.message), out);
  }
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
  settle(around, timer.job, out);
}

void Jobs::on_process_ended(const Surroundings& around, JobId job, const Exit& exit,
                            JobOutbox& out) {
  Entry* entry = find(job);
  if (entry == nullptr) return;
  if (entry->life.application()) applications_.erase(*entry->life.application());
  Exit said = exit;
  const std::string lost = lost_with(around, *entry, self_);
  if ((exit.code != 0 || exit.signal != 0) && said.detail.empty() && !lost.empty()) {
    said.detail = "it held " + lost;
  }
  entry->life.on_exit(around, std::move(said), out);
  if (!entry->life.ended()) entry->traffic.on_finished(around, out);
  settle(around, job, out);
}

void Jobs::on_output(const Surroundings& around, Output output, JobOutbox& out) {
  Entry* entry = find(output.job);
  if (entry != nullptr) entry->life.on_written(around, std::move(output), out);
}

void Jobs::end_here(const Surroundings& around, const JobEnd& end, JobOutbox& out) {
  const JobId job = end.job;
  jobs_.at(job)->life.on_end(around, end, out);
  settle(around, job, out);
}

void Jobs::end_all(const Surroundings& around, const std::string& reason, JobOutbox& out) {
  std::vector<JobId> ids;
  for (const auto& [job, entry] : jobs_) ids.push_back(job);
  constexpr std::int32_t kTerminated = 143;
  for (const JobId job : ids) end_here(around, {job, kTerminated, reason}, out);
}

void Jobs::on_fenced(const Surroundings& around, const std::string& why, JobOutbox& out) {
  std::vector<JobId> ids;
  for (const auto& [job, entry] : jobs_) ids.push_back(job);
  for (const JobId job : ids) {
    const Entry& entry = *jobs_.at(job);
    const std::string lost = lost_with(around, entry, self_);
    std::string reason = to_string(self_) + " is gone for the others (" + why + ")";
    if (lost.empty() && entry.life.home() == self_) reason += ", which looked after the job";
    if (!lost.empty()) reason += ", and with it " + lost;
    constexpr std::int32_t kLost = 1;  // As at those to whom somebody else is gone.
    end_here(around, {job, kLost, std::move(reason)}, out);
  }
}

/// Of a member that stays, those of a process that has exited stay its own.
bool Jobs::has_vnodes() const {
  return std::ranges::any_of(jobs_, [this](const auto& one) {
    const auto& [job, entry] = one;
    if (entry->life.ended()) return false;
    if (entry->life.stage() == Stage::kExited) return !entry->traffic.is_quiet();
    return !entry->traffic.router().map().owned_by(self_).empty();
  });
}

bool Jobs::is_empty() const {
  for (const auto& [job, entry] : jobs_) {
    const bool over = entry->life.ended().has_value();
    if (entry->life.is_running()) return false;
    if (!over && !entry->life.is_read()) return false;
    // What its vnodes get is answered after the end; but those on their way may still come, or
    // come back.
    const bool has_exited = entry->life.stage() == Stage::kExited;
    const bool is_done = has_exited ? entry->traffic.is_quiet() : entry->traffic.is_empty();
    if (!over && !is_done) return false;
  }
  return asked_.empty();
}

bool Jobs::is_idle() const {
  const auto runs = [](const auto& one) { return !one.second->life.ended(); };
  return is_empty() && std::ranges::none_of(jobs_, runs);
}

/// Of `with_vnodes` with the figures of its vnodes.
std::vector<JobStatus> Jobs::status(const Surroundings& around, JobId with_vnodes) const {
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
    // Who is held up reaches no safe point.
    if (!entry->life.is_held_up()) one.waiting = entry->traffic.waiting(around);
    if (one.waiting.empty()) one.waiting = entry->life.waiting(around);
    one.process_waits = entry->life.process_waits();
    one.is_held_up = entry->life.is_held_up();
    if (entry->life.ended()) one.ends_because = entry->life.ended()->reason;
    one.figures = entry->meter.figures(around.now);
    // It has nothing to compute: its vnodes wait for what its daemon waits for.
    const bool has_none = entry->traffic.router().held().empty();
    if (has_none && one.process_waits.empty()) one.figures.silent_ms = 0;
    if (job == with_vnodes) one.vnode_figures = entry->meter.vnodes(around.now);
    result.push_back(std::move(one));
  }
  return result;
}

void Jobs::describe(JoinReply& reply) const {
  reply.over = history_.over();
  history_.for_each_end([&](const JobEnd& end) { reply.ends.push_back(end); });
  for (const auto& [job, entry] : jobs_) {
    if (entry->life.ended()) {
      reply.over.insert(job);
      reply.ends.push_back(*entry->life.ended());
      continue;
    }
    reply.jobs.push_back(entry->life.start());
    const VnodeMap& map = entry->traffic.router().map();
    reply.routes.push_back({job, map.routes(map.all())});
    reply.homes.push_back(entry->life.home_statement(false));
  }
}

std::vector<Route> Jobs::owners(JobId job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return {};
  const VnodeMap& map = found->second->traffic.router().map();
  return map.routes(map.all());
}

ProcessorSet Jobs::least_busy(const ProcessorSet& among, std::uint64_t count) const {
  std::map<ProcessorId, std::uint64_t> processes;
  for (const auto& [job, entry] : jobs_) {
    if (entry->life.ended()) continue;
    for (const ProcessorId id : entry->life.taking_part().common(among).ids()) ++processes[id];
  }
  std::vector<ProcessorId> order = among.ids();
  std::stable_sort(order.begin(), order.end(), [&processes](ProcessorId a, ProcessorId b) {
    return processes[a] < processes[b];
  });
  order.resize(std::min<std::size_t>(order.size(), count));
  ProcessorSet chosen;
  for (const ProcessorId id : order) chosen.insert(id);
  return chosen;
}

VnodeSet Jobs::owned(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? VnodeSet{} : found->second->traffic.router().map().owned_by(self_);
}

void Jobs::check_invariants(const std::function<bool(const JobTimer&)>& is_armed,
                            const ProcessorSet& there) const {
  for (const auto& [job, entry] : jobs_) {
    PHX_CHECK(!history_.contains(job));
    entry->traffic.check_invariants(is_armed, there);
  }
}

}  // namespace phx::runtime
