#include "runtime/sim/faults.h"

#include <algorithm>
#include <set>
#include <vector>

namespace phx::sim {

FaultOptions FaultOptions::churn() {
  FaultOptions options;
  options.joins = 300ms;
  options.drains = 350ms;
  options.releases = 100ms;
  options.breaks = 60ms;
  options.half_opens = 700ms;
  options.spikes = 500ms;
  options.slow_downs = 700ms;
  options.freezes = 900ms;
  options.partitions = 2s;
  return options;
}

Faults::Faults(Cluster& cluster, const FaultOptions& options, Rng rng)
    : cluster_(cluster), options_(options), rng_(rng) {}

void Faults::start() {
  is_on_ = true;
  repeat(options_.joins, &Faults::join);
  repeat(options_.drains, &Faults::drain);
  repeat(options_.releases, &Faults::release);
  repeat(options_.breaks, &Faults::break_link);
  repeat(options_.half_opens, &Faults::half_open);
  repeat(options_.spikes, &Faults::spike);
  repeat(options_.slow_downs, &Faults::slow_down);
  repeat(options_.freezes, &Faults::freeze);
  repeat(options_.kills, &Faults::kill);
  repeat(options_.losses, &Faults::lose);
  repeat(options_.idle_deaths, &Faults::kill_idle);
  repeat(options_.partitions, &Faults::cut_off);
  repeat(options_.bars, &Faults::bar);
  repeat(options_.refusals, &Faults::refuse);
  repeat(options_.way_cuts, &Faults::cut_way);
  repeat(options_.tool_stops, &Faults::stop_tools);
  repeat(options_.tool_breaks, &Faults::break_tool);
  repeat(options_.tool_losses, &Faults::lose_tool);
}

void Faults::stop() {
  is_on_ = false;
  cluster_.heal();
}

Duration Faults::draw(Duration most) {
  return Duration{
      static_cast<Duration::rep>(rng_.below(static_cast<std::uint64_t>(most.count()) + 1))};
}

MachineId Faults::pick(const std::vector<MachineId>& from) {
  return from[static_cast<std::size_t>(rng_.below(from.size()))];
}

void Faults::repeat(Duration mean, Happening happening) {
  if (mean <= Duration{}) return;
  cluster_.agenda().schedule_in(draw(2 * mean), [this, mean, happening] {
    if (!is_on_) return;
    (this->*happening)();
    repeat(mean, happening);
  });
}

void Faults::join() {
  std::uint32_t alive = 0;
  for (const SimDriver& machine : cluster_.machines()) {
    if (machine.is_running()) ++alive;
  }
  if (alive >= options_.members_max) return;
  const std::size_t sites = cluster_.model().topology().sites.size();
  // Sometimes two at once.
  const std::uint64_t count = 1 + rng_.below(2);
  for (std::uint64_t i = 0; i < count; ++i) {
    cluster_.add_machine(static_cast<std::size_t>(rng_.below(sites)));
  }
}

void Faults::drain() {
  const auto staying = cluster_.staying();
  if (staying.size() <= options_.members_min) return;
  constexpr double kCoordinator = 0.15;
  const MachineId leaver = rng_.chance(kCoordinator) ? staying.front() : pick(staying);
  if (!is_between(leaver)) cluster_.drain(leaver);
}

void Faults::release() {
  const auto staying = cluster_.staying();
  if (staying.empty()) return;
  Process* process = cluster_.machine(pick(staying)).process();
  if (process == nullptr || process->endpoint().held().empty()) return;
  constexpr std::uint64_t kMost = 4;
  process->release(process->endpoint().held().last_ids(1 + rng_.below(kMost)));
}

void Faults::break_link() {
  cluster_.network().break_one(Network::Break::kBoth);
}
void Faults::half_open() {
  cluster_.network().break_one(Network::Break::kHalfOpen);
}

void Faults::spike() {
  const std::size_t sites = cluster_.model().topology().sites.size();
  NetworkModel::Spike spike;
  spike.from = static_cast<std::size_t>(rng_.below(sites));
  spike.to = static_cast<std::size_t>(rng_.below(sites));
  spike.extra = draw(300ms);
  spike.until = cluster_.now() + draw(500ms);
  cluster_.model().add_spike(spike);
}

void Faults::slow_down() {
  const auto running = cluster_.running();
  if (running.empty()) return;
  constexpr std::uint32_t kFactor = 50;
  const MachineId victim = pick(running);
  cluster_.model().slow_down(victim, kFactor);
  cluster_.agenda().schedule_in(draw(800ms),
                                [this, victim] { cluster_.model().slow_down(victim, 1); });
}

void Faults::freeze() {
  const auto running = cluster_.running();
  if (!running.empty()) cluster_.freeze(pick(running), draw(800ms));
}

void Faults::kill() {
  kill_one(/*lost=*/false);
}
void Faults::lose() {
  kill_one(/*lost=*/true);
}

void Faults::kill_one(bool lost) {
  if (cluster_.staying().size() <= options_.members_min) return;
  ++deaths_;
  cluster_.kill(pick(cluster_.running()), lost);
}

/// They may pass on what others send. Whoever has not heard of a job yet may be a holder of it.
void Faults::kill_idle() {
  if (cluster_.staying().size() <= options_.members_min) return;
  std::vector<MachineId> idle = cluster_.running();
  std::size_t jobs = 0;
  for (const MachineId machine : idle) {
    jobs = std::max(jobs, cluster_.machine(machine).daemon()->status().jobs.size());
  }
  std::erase_if(idle, [&](MachineId machine) {
    const runtime::ProcessorStatus status = cluster_.machine(machine).daemon()->status();
    return cluster_.machine(machine).has_processes() || status.jobs.size() < jobs ||
           std::any_of(status.jobs.begin(), status.jobs.end(), [&](const runtime::JobStatus& job) {
             return job.home == status.id || !job.held.empty();
           });
  });
  if (idle.empty()) return;
  const MachineId victim = pick(idle);
  const bool is_lost = rng_.chance(0.5);
  const auto kill = [this, victim, is_lost] {
    if (!is_on_ || !cluster_.machine(victim).is_running()) return;
    ++deaths_;
    cluster_.kill(victim, is_lost);
  };
  constexpr double kLeaves = 0.3;
  if (!rng_.chance(kLeaves)) return kill();
  cluster_.drain(victim);  // It dies while it leaves, wherever it is by then.
  cluster_.agenda().schedule_in(draw(300ms), kill);
}

void Faults::stop_tools() {
  cluster_.stop_tools(draw(3s));
}

/// A tool notices at the latest when it asks for a sign of life, which it does each second.
void Faults::break_tool() {
  JobTools& tools = cluster_.tools();
  if (tools.count() == 0) return;
  const Duration within = draw(2s);
  ToolBreak how{.daemon_after = draw(within), .tool_after = draw(within)};
  switch (rng_.below(3)) {
    case 0:
      how.daemon_after.reset();
      break;
    case 1:
      how.daemon_after = Duration{};
      break;
    default:
      how.tool_after = Duration{};
  }
  const auto index = static_cast<std::size_t>(rng_.below(tools.count()));
  tools.break_off(*tools.workload(index), how);
}

void Faults::lose_tool() {
  JobTools& tools = cluster_.tools();
  if (tools.count() == 0) return;
  const auto index = static_cast<std::size_t>(rng_.below(tools.count()));
  tools.break_off(*tools.workload(index), {.daemon_after = draw(2s), .tool_after = {}});
}

/// Everybody else still reaches both.
void Faults::bar() {
  using Barrier = Network::Barrier;
  std::vector<MachineId> free = cluster_.running();
  std::erase_if(free,
                [&](MachineId machine) { return barred_[machine].size() >= options_.bars_each; });
  constexpr std::size_t kLeast = 4;
  if (free.size() < kLeast) return;
  const MachineId a = pick(free);
  const MachineId b = pick(free);
  if (a == b || barred_[a].contains(b)) return;
  constexpr std::uint64_t kKinds = 3;
  const auto kind = static_cast<Barrier>(rng_.below(kKinds));
  cluster_.network().set_barrier(a, b, kind);
  if (rng_.chance(0.5)) cluster_.network().set_barrier(b, a, kind);
  barred_[a].insert(b);
  barred_[b].insert(a);
  cluster_.agenda().schedule_in(draw(options_.barred_max), [this, a, b] {
    cluster_.network().lift_barriers(a, b);
    barred_[a].erase(b);
    barred_[b].erase(a);
  });
}

void Faults::refuse() {
  const auto running = cluster_.running();
  if (running.empty()) return;
  const MachineId machine = pick(running);
  if (rng_.chance(0.5)) {
    cluster_.network().shut_in({machine});
  } else {
    cluster_.network().close_off(machine);
  }
  // Who notices first that a connection broke counts from then on.
  cluster_.agenda().schedule_in(draw(900ms), [this, machine] {
    cluster_.network().open_again(machine);
    cluster_.network().shut_in({});
  });
}

std::vector<MachineId> Faults::staying_at(std::size_t site) const {
  std::vector<MachineId> there = cluster_.staying();
  std::erase_if(there, [&](MachineId machine) { return cluster_.model().site(machine) != site; });
  return there;
}

/// Others reach each other only through its site.
bool Faults::is_between(MachineId machine) const {
  constexpr std::size_t kLeast = 2;
  const std::size_t site = cluster_.model().site(machine);
  return between_.contains(site) && staying_at(site).size() <= kLeast;
}

void Faults::cut_way() {
  constexpr std::size_t kLeast = 2;
  const std::uint64_t sites = cluster_.model().topology().sites.size();
  if (!between_.empty() || sites <= 2) return;
  const auto between = static_cast<std::size_t>(rng_.below(sites));
  const auto one = static_cast<std::size_t>((between + 1 + rng_.below(sites - 1)) % sites);
  const auto other = static_cast<std::size_t>((between + 1 + rng_.below(sites - 1)) % sites);
  if (one == other || staying_at(between).size() < kLeast) return;
  between_ = {between};
  const std::vector<MachineId> here = staying_at(one);
  const std::vector<MachineId> there = staying_at(other);
  for (const MachineId a : here) {
    for (const MachineId b : there) cluster_.network().set_barrier(a, b, Network::Barrier::kCut);
  }
  cluster_.agenda().schedule_in(draw(options_.barred_max), [this, here, there] {
    for (const MachineId a : here) {
      for (const MachineId b : there) cluster_.network().lift_barriers(a, b);
    }
    between_.clear();
  });
}

void Faults::cut_off() {
  std::set<MachineId> side;
  for (const MachineId machine : cluster_.running()) {
    if (rng_.below(4) == 0) side.insert(machine);
  }
  if (side.empty()) return;
  cluster_.cut_off(std::move(side));
  cluster_.agenda().schedule_in(draw(1500ms), [this] { cluster_.heal(); });
}

}  // namespace phx::sim
