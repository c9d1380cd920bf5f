#include "runtime/sim/job_tools.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "overlay/base/check.h"
#include "overlay/base/overloaded.h"
#include "runtime/messages/client_end.h"

namespace phx::sim {
namespace {

constexpr Duration kStartAgain = 200ms;
constexpr Duration kLook = 100ms;                // As the tool.
constexpr Duration kArrives = 2 * kClientDelay;  // what is on its way
constexpr std::uint64_t kFirstNumber = 1000;
constexpr std::string_view kAlone = "the tool that followed it did not come back";

}  // namespace

Workload& JobTools::run(const WorkloadOptions& options, std::uint64_t seed) {
  Tool& tool = tools_.emplace_back();
  tool.workload = std::make_unique<Workload>(options, seed, violations_);
  tool.number = kFirstNumber + tools_.size();
  start(tools_.size() - 1);
  return *tool.workload;
}

void JobTools::start(std::size_t index) {
  const auto member = around_.pick_member();
  if (!member) {
    around_.agenda.schedule_in(kStartAgain, [this, index] { start(index); });
    return;
  }
  const WorkloadOptions& options = tools_[index].workload->options();
  runtime::RunRequest request;
  request.spec.vnodes = options.vnodes;
  request.spec.command = {"synthetic"};
  request.spec.name = std::to_string(index);
  request.spec.processors_max = options.processors_max;
  request.spec.balance = options.balance;
  request.spec.detached = options.detached;
  request.tool = tools_[index].number;
  const ClientId client = around_.machines[member->value].connect_client();
  followers_[{*member, client}] = index;
  around_.request(*member, client, std::move(request));
}

/// The daemon of a tool went away without a word: the others learn soon what became of the job.
void JobTools::find_again(std::size_t index) {
  Tool& tool = tools_[index];
  if (!tool.moved_at) tool.moved_at = around_.agenda.now();
  const auto member = around_.pick_member();
  const bool is_late = around_.agenda.now() > *tool.moved_at + runtime::kToolReturns;
  if (!member || is_late) {
    tool.result = Result{tool.job, -1,
                         member ? "no daemon knows what became of it" : "the tool lost its daemon"};
    around_.checkers.forget(tool.job);
    return;
  }
  around_.agenda.schedule_in(kLook, [this, index, at = *member] { follow(index, at); });
}

void JobTools::follow(std::size_t index, MachineId at) {
  const Tool& tool = tools_[index];
  const ClientId client = around_.machines[at.value].connect_client();
  followers_[{at, client}] = index;
  around_.request(at, client, runtime::FollowRequest{tool.job, tool.shown, tool.number});
}

// --- Stops and breaks ----------------------------------------------------------------------------

void JobTools::stop(Duration duration) {
  // Not before what is on its way to them has come.
  go_on_at_ = std::max(go_on_at_, around_.agenda.now() + std::max(duration, 2 * kClientDelay));
  around_.agenda.schedule(go_on_at_, [this] { go_on(); });
}

bool JobTools::is_stopped(Client client) const {
  return around_.agenda.now() < go_on_at_ && followers_.contains(client);
}

void JobTools::go_on() {
  if (around_.agenda.now() < go_on_at_) return;
  std::set<Client> took;
  for (Unread::One& one : unread_.take()) {
    if (!one.reply) {
      on_dropped(one.client);
      continue;
    }
    took.insert(one.client);
    on_reply(one.client, std::move(*one.reply));
  }
  for (const auto& [at, client] : took) around_.machines[at.value].on_client_took(client);
}

bool JobTools::break_off(const Workload& job, const ToolBreak& how) {
  const std::size_t index = index_of(job);
  const auto found = std::ranges::find_if(followers_, [&](const auto& entry) {
    return entry.second == index && !broken_.contains(entry.first);
  });
  const bool may_break = found != followers_.end() && !tools_[index].result &&
                         tools_[index].job != JobId{} && !is_stopped(found->first);
  if (!may_break) return false;
  const Client client = found->first;
  broken_[client] = false;
  around_.note("tool-cut-off", to_string(tools_[index].job));
  if (how.daemon_after) {
    around_.agenda.schedule_in(std::max(*how.daemon_after, kArrives), [this, client] {
      if (!broken_[client]) around_.machines[client.first.value].on_client_broken(client.second);
    });
  }
  if (!how.tool_after) {
    constexpr Duration kSlack = 2s;  // a daemon may be frozen, and nothing may get through
    around_.agenda.schedule_in(how.daemon_after.value() + runtime::kToolReturns + kSlack,
                               [this, client, index] { on_lost(index, client); });
    return true;
  }
  around_.agenda.schedule_in(std::max(*how.tool_after, kArrives),
                             [this, client, index] { on_break_noticed(index, client); });
  return true;
}

void JobTools::on_break_noticed(std::size_t index, Client client) {
  if (is_stopped(client)) {
    around_.agenda.schedule(go_on_at_, [this, index, client] { on_break_noticed(index, client); });
    return;
  }
  if (followers_.erase(client) == 0 || tools_[index].result) return;
  around_.note("tool-broke-off", to_string(tools_[index].job));
  find_again(index);
}

/// Another tool follows the job, as `phoenix attach` does.
void JobTools::on_lost(std::size_t index, Client client) {
  Tool& tool = tools_[index];
  if (followers_.erase(client) == 0 || tool.result) return;
  around_.note("tool-replaced", to_string(tool.job));
  constexpr std::uint64_t kOther = 1'000'000;
  tool.number += kOther;
  tool.shown.clear();
  tool.workload->ledger().on_new_tool();
  tool.moved_at.reset();
  tool.lost_by = client.first;
  find_again(index);
}

bool JobTools::takes(Client client, runtime::ClientReply& reply) {
  if (broken_.contains(client)) return false;
  if (!is_stopped(client)) return true;
  unread_.add(client, std::move(reply));
  return false;
}

// --- What daemons say ----------------------------------------------------------------------------

void JobTools::on_dropped(Client client) {
  if (const auto broken = broken_.find(client); broken != broken_.end()) {
    broken->second = true;  // It does not hear of it.
    return;
  }
  if (is_stopped(client)) return unread_.close(client);
  const auto follower = followers_.extract(client);
  if (follower.empty()) return;
  Tool& tool = tools_[follower.mapped()];
  if (tool.result) return;
  if (tool.job == JobId{}) {
    start(follower.mapped());  // It was not accepted there; elsewhere, perhaps.
  } else {
    around_.note("tool-lost", to_string(tool.job));
    find_again(follower.mapped());
  }
}

void JobTools::on_reply(Client client, runtime::ClientReply reply) {
  const auto follower = followers_.find(client);
  if (follower == followers_.end()) return;
  const std::size_t index = follower->second;
  Tool& tool = tools_[index];
  std::visit(Overloaded{
                 [&](const runtime::RunStarted& m) { on_started(index, client, m.job); },
                 [&](const runtime::RunOutput& m) {
                   tool.shown[m.output.processor] = m.output.number;
                   tool.workload->ledger().shown(m.output.bytes);
                 },
                 [&](const runtime::RunEnded& m) {
                   tool.result = Result{m.job, m.code, m.reason};
                   around_.checkers.forget(m.job);
                   around_.note("job-over", to_string(m.job) + " code=" + std::to_string(m.code) +
                                                (m.reason.empty() ? "" : " why=" + m.reason));
                   followers_.erase(client);
                 },
                 [&](const runtime::RunMoved& m) { on_moved(index, client, m); },
                 [&](const runtime::Done& m) { on_refused(index, client, m.error); },
                 [](const auto&) {},
             },
             reply);
}

void JobTools::on_started(std::size_t index, Client client, JobId job) {
  Tool& tool = tools_[index];
  if (tool.job == JobId{}) tool.workload->begin(around_.agenda.now());
  tool.moved_at.reset();
  tool.job = job;
  around_.checkers.watch(job);
  // Another home does not know that it ever had a tool, and waits for an hour, for any.
  if (tool.lost_by == client.first && !tool.workload->options().detached) {
    violations_.add(to_string(job) + " goes on, and its tool has not come back for 15 s");
  }
}

void JobTools::on_moved(std::size_t index, Client client, const runtime::RunMoved& moved) {
  followers_.erase(client);
  if (!tools_[index].moved_at) tools_[index].moved_at = around_.agenda.now();
  if (const auto home = around_.resolve(moved.endpoints)) return follow(index, *home);
  find_again(index);
}

void JobTools::on_refused(std::size_t index, Client client, const std::string& why) {
  Tool& tool = tools_[index];
  if (tool.job == JobId{}) return;  // The connection closes now.
  // It has moved there, but was not announced there yet.
  if (tool.moved_at && around_.agenda.now() < *tool.moved_at + runtime::kToolReturns) {
    followers_.erase(client);
    around_.agenda.schedule_in(kLook, [this, index, at = client.first] { follow(index, at); });
    return;
  }
  tool.result = Result{tool.job, -1, why};
  around_.note("tool-refused", why);
}

// --- Queries -------------------------------------------------------------------------------------

std::vector<Client> JobTools::clients_at(MachineId machine) const {
  std::vector<Client> there;
  for (const auto& [client, index] : followers_) {
    if (client.first == machine) there.push_back(client);
  }
  return there;
}

std::size_t JobTools::index_of(const Workload& job) const {
  const auto found =
      std::ranges::find_if(tools_, [&](const Tool& tool) { return tool.workload.get() == &job; });
  PHX_CHECK(found != tools_.end());
  return static_cast<std::size_t>(found - tools_.begin());
}

const std::optional<JobTools::Result>& JobTools::result(const Workload& job) const {
  return tools_[index_of(job)].result;
}

JobId JobTools::id(const Workload& job) const {
  return tools_[index_of(job)].job;
}

bool JobTools::has_ended_alone(const Workload& job) const {
  const Tool& tool = tools_[index_of(job)];
  return tool.lost_by && !job.options().detached && tool.result && tool.result->reason == kAlone;
}

Workload* JobTools::workload(std::size_t index) {
  return index < tools_.size() ? tools_[index].workload.get() : nullptr;
}

std::string JobTools::missing() const {
  std::string text;
  for (const Tool& tool : tools_) {
    if (!tool.result) text += "  missing: " + tool.workload->ledger().missing() + '\n';
  }
  return text;
}

}  // namespace phx::sim
