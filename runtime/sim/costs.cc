#include "runtime/sim/costs.h"

#include <algorithm>
#include <utility>

#include "runtime/sim/cluster.h"
#include "runtime/sim/cost_limits.h"

namespace phx::sim {
namespace {

constexpr std::uint32_t kSites = 4;
constexpr std::uint64_t kVnodesEach = 4;
constexpr Duration kAfterwards = 3s;
constexpr Duration kBound = 120s;

ClusterOptions cluster_options(const CostOptions& options) {
  ClusterOptions cluster;
  std::vector<std::uint32_t> sites(kSites, options.processors / kSites);
  cluster.topology = overlay::Topology::uniform(sites, {10ms, 0});
  cluster.seed = options.seed;
  cluster.machine.fault = options.planted;
  cluster.daemon.trees = options.trees;
  // Room for those who come besides.
  cluster.daemon.members_max = std::max(cluster.daemon.members_max, 2 * options.processors);
  cluster.machine.spawn_delay = 1ms;
  return cluster;
}

/// Heartbeats go on whatever happens, and each is answered by an acknowledgement.
Meter::Count without_heartbeats(const Meter& cost) {
  const Meter::Count beats = cost.of("Heartbeat");
  const Meter::Count answers = cost.of("acknowledgement");
  Meter::Count all = cost.all();
  all.messages -= std::min(all.messages, 2 * beats.messages);
  const std::uint64_t answer = answers.bytes / std::max<std::uint64_t>(answers.messages, 1);
  all.bytes -= std::min(all.bytes, beats.bytes + beats.messages * answer);
  return all;
}

/// One mesh and its job, event by event.
class Costs {
 public:
  explicit Costs(const CostOptions& options)
      : options_(options), cluster_(cluster_options(options)) {}

  CostReport run();
  CostReport run_mesh(std::uint32_t changes);

 private:
  void measure(std::string_view event, const std::function<void()>& begin,
               const std::function<bool()>& is_done);
  void members();
  void job_begins();
  void collectives();
  void moves();
  void job_ends();
  void move(std::uint64_t givers, std::uint64_t count);
  void reduce(std::string_view event, bool to_all);
  void broadcast(std::string_view event);

  [[nodiscard]] bool is_settled();
  void check(const CostRow& row);
  [[nodiscard]] bool has_no_trees();
  [[nodiscard]] bool has_left();
  [[nodiscard]] bool is_idle();
  /// Each turn of each process costs the simulation something: in a large mesh they are fewer.
  [[nodiscard]] Duration turn_pause() const {
    constexpr std::uint32_t kLarge = 1500;
    constexpr std::uint32_t kEach = 500;
    return options_.processors < kLarge ? 1ms : 1ms * (options_.processors / kEach);
  }
  [[nodiscard]] std::uint64_t vnodes() const { return kVnodesEach * options_.processors; }
  /// The last one, which is neither coordinator nor home nor root.
  [[nodiscard]] MachineId victim() const { return cluster_.staying().back(); }
  [[nodiscard]] std::vector<MachineId> victims(std::uint32_t count) const {
    const std::vector<MachineId> all = cluster_.staying();
    return {all.end() - std::min<std::ptrdiff_t>(count, std::ssize(all)), all.end()};
  }
  void gain(std::uint32_t count);
  void drain(std::uint32_t count);
  void die(std::uint32_t count);
  void die_first();
  [[nodiscard]] Ledger& ledger() { return job_->ledger(); }

  CostOptions options_;
  Cluster cluster_;
  Workload* job_ = nullptr;
  CostReport report_;
  std::uint64_t false_alarms_ = 0;  ///< So far.
};

void Costs::measure(std::string_view event, const std::function<void()>& begin,
                    const std::function<bool()>& is_done) {
  if (!cluster_.violations().empty()) return;
  const Meter before = cluster_.network().meter();
  const Instant begun_at = cluster_.now();
  const std::size_t members = cluster_.staying().size();
  begin();
  if (!cluster_.run_until(is_done, kBound)) {
    report_.violations.push_back(std::string(event) + " does not end: " + cluster_.describe());
  }
  CostRow row;
  row.event = event;
  row.time = cluster_.now() - begun_at;
  // The survey of a start goes on for longer in a large mesh.
  const bool is_long = event == "start" && options_.processors > 1000;
  cluster_.run_for(is_long ? kAfterwards * (options_.processors / 1000) : kAfterwards);
  const Meter cost = cluster_.network().meter().since(before);
  row.all = event == "idle minute" ? cost.all() : without_heartbeats(cost);
  row.busiest = cost.busiest();
  row.kinds = cost.kinds();
  row.fallbacks = cost.of("FallbackCopy").messages;
  const std::uint64_t alarms = cluster_.checkers().counted("false-accusations");
  row.false_alarms = alarms - std::min(alarms, std::exchange(false_alarms_, alarms));
  row.copies = cost.of("TreeCopy").messages + row.fallbacks;
  if (options_.heap_in_use) row.heap = options_.heap_in_use() / options_.processors;
  check(row);
  if (cost.hops_most() > std::max(members, cluster_.staying().size())) {
    report_.violations.push_back("a copy may take more hops than there are processors");
  }
  if (options_.on_row) options_.on_row(row);
  report_.rows.push_back(std::move(row));
}

void Costs::check(const CostRow& row) {
  const auto limit = std::find_if(kCostLimits.begin(), kCostLimits.end(),
                                  [&](const CostLimit& one) { return one.event == row.event; });
  if (limit == kCostLimits.end()) return;
  const double n = options_.processors;
  const auto compare = [&](const char* what, double is, double most) {
    if (is <= most) return;
    report_.violations.push_back(std::string(row.event) + ": " + what + " " + std::to_string(is) +
                                 " instead of " + std::to_string(most) + " at most");
  };
  // Processes that take fewer turns answer later, up to four times per event: one begins, others
  // receive, they take part in turn, and the last one has its result.
  compare("milliseconds", to_ms(row.time), limit->ms.at(n) + 4 * to_ms(turn_pause() - 1ms));
  compare("messages", static_cast<double>(row.all.messages), limit->messages_each.at(n) * n);
  compare("bytes", static_cast<double>(row.all.bytes), limit->bytes_each.at(n) * n);
  compare("messages of one", static_cast<double>(row.busiest.messages),
          limit->own + limit->share * n);
  compare("false accusations", static_cast<double>(row.false_alarms), 0);
  if (row.event != "broadcast") return;
  compare("copies", static_cast<double>(row.copies), n - 1);
  compare("fallbacks", static_cast<double>(row.fallbacks), 0);
}

bool Costs::has_no_trees() {
  return std::all_of(cluster_.machines().begin(), cluster_.machines().end(),
                     [](const SimDriver& machine) {
                       return !machine.is_running() || machine.daemon()->status().trees == 0;
                     });
}

bool Costs::is_settled() {
  return !cluster_.is_joining() && cluster_.checkers().do_views_agree();
}

/// All who were drained have gone, and everybody knows it.
bool Costs::has_left() {
  const auto running = std::count_if(cluster_.machines().begin(), cluster_.machines().end(),
                                     [](const SimDriver& machine) { return machine.is_running(); });
  return static_cast<std::size_t>(running) == cluster_.staying().size() && is_settled();
}

/// No job runs, nor is remembered as running.
bool Costs::is_idle() {
  return std::all_of(cluster_.machines().begin(), cluster_.machines().end(),
                     [](const SimDriver& machine) {
                       return !machine.is_running() || machine.daemon()->status().jobs.empty();
                     });
}

void Costs::gain(std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) cluster_.add_machine(kSites - 1 - i % kSites);
}

void Costs::drain(std::uint32_t count) {
  for (const MachineId machine : victims(count)) cluster_.drain(machine);
}

void Costs::die(std::uint32_t count) {
  for (const MachineId machine : victims(count)) cluster_.kill(machine, /*lost=*/false);
}

/// The coordinator, so that another one takes over.
void Costs::die_first() {
  for (std::uint32_t i = 0; i < cluster_.machines().size(); ++i) {
    const SimDriver& machine = cluster_.machine(MachineId{i});
    if (!machine.is_running()) continue;
    if (machine.self() != machine.daemon()->view().members.first()) continue;
    return cluster_.kill(MachineId{i}, /*lost=*/false);
  }
}

void Costs::members() {
  const auto settled = [this] { return is_settled(); };
  const auto left = [this] { return has_left(); };
  measure(
      "start", [this] { cluster_.add_all(); }, settled);
  measure(
      "join", [this] { gain(1); }, settled);
  measure(
      "leave", [this] { drain(1); }, left);
  measure(
      "join again", [this] { gain(1); }, settled);
  measure(
      "death", [this] { die(1); }, settled);
  const Instant end = cluster_.now() + 60s;
  measure(
      "idle minute", [] {}, [&] { return cluster_.now() >= end; });
}

void Costs::job_begins() {
  WorkloadOptions workload;
  workload.vnodes = vnodes();
  workload.message_bytes = 8;
  workload.state_bytes = 0;
  workload.pause_min = workload.pause_max = turn_pause();
  workload.send_chance = workload.safe_point_chance = 1.0;
  measure(
      "job start",
      [&] {
        job_ = &cluster_.run_job(workload);
        job_->hold_open(true);
      },
      [this] {
        for (std::uint64_t v = 0; v < vnodes(); ++v) {
          if (!ledger().holder(VnodeId{v})) return false;
        }
        return true;
      });
}

void Costs::broadcast(std::string_view event) {
  const std::uint64_t before = ledger().counters().broadcasts;
  measure(
      event, [this] { job_->order_broadcast(VnodeId{vnodes() / 3}); },
      [&] { return ledger().counters().broadcasts >= before + vnodes(); });
}

void Costs::reduce(std::string_view event, bool to_all) {
  const std::uint64_t before = ledger().counters().results;
  const std::uint64_t results = to_all ? vnodes() : 1;
  measure(
      event, [&] { job_->order_round(VnodeId{vnodes() / 2}, {.to_all = to_all}); },
      [&] { return ledger().counters().results >= before + results; });
}

void Costs::collectives() {
  broadcast("first broadcast");
  broadcast("broadcast");
  reduce("first reduction", false);
  reduce("reduction", false);
  reduce("allreduce", true);
}

/// The first `givers` processors with vnodes give `count` each to the next one.
void Costs::move(std::uint64_t givers, std::uint64_t count) {
  const std::vector<MachineId> machines = cluster_.staying();
  for (std::size_t i = 0; i < givers; ++i) {
    Process* giver = cluster_.machine(machines[i]).process();
    if (giver == nullptr) continue;
    const VnodeSet given = giver->endpoint().held().last_ids(count);
    giver->give_up(given);
    const MachineId to = machines[(i + 1) % machines.size()];
    // It asks when the giver has passed a safe point.
    cluster_.agenda().schedule_in(5ms, [this, to, given] {
      if (Process* taker = cluster_.machine(to).process()) taker->assume(given);
    });
  }
}

void Costs::moves() {
  const auto moved = [this](std::uint64_t count) {
    const std::uint64_t before = ledger().counters().moves;
    return [this, before, count] { return ledger().counters().moves >= before + count; };
  };
  const std::uint64_t others = cluster_.staying().size();
  measure(
      "one vnode moves", [this] { move(1, 1); }, moved(1));
  measure(
      "half of them move", [&] { move(others, kVnodesEach / 2); }, moved(others * kVnodesEach / 2));
  measure(
      "join to a job", [this] { gain(1); },
      [this] {
        if (!is_settled()) return false;
        const Process* process = cluster_.machine(victim()).process();
        return process != nullptr && !process->endpoint().held().empty();
      });
  measure(
      "leave from a job", [this] { drain(1); }, [this] { return has_left(); });
}

void Costs::job_ends() {
  measure(
      "job end", [this] { job_->hold_open(false); }, [this] { return is_idle(); });
  if (options_.trees == runtime::TreeSource::kAdaptive) {
    measure(
        "trees close", [] {}, [this] { return has_no_trees(); });
  }
  job_begins();
  measure(
      "death of a holder", [this] { die(1); }, [this] { return is_settled() && is_idle(); });
  measure(
      "death of the first", [this] { die_first(); }, [this] { return is_settled(); });
}

CostReport Costs::run() {
  members();
  job_begins();
  collectives();
  moves();
  job_ends();
  for (const std::string& violation : cluster_.violations().all()) {
    report_.violations.push_back(violation);
  }
  return std::move(report_);
}

CostReport Costs::run_mesh(std::uint32_t changes) {
  const auto settled = [this] { return is_settled(); };
  measure(
      "start", [this] { cluster_.add_all(); }, settled);
  constexpr Duration kStartPerThousand = 3s;
  const Duration start_most = (options_.processors + 999) / 1000 * kStartPerThousand;
  if (!report_.rows.empty() && report_.rows[0].time > start_most) {
    report_.violations.push_back("the start takes more than 3 s per 1,000 processors");
  }
  job_begins();
  collectives();
  measure(
      "gain", [&] { gain(changes); },
      [&] {
        const auto newcomers = victims(changes);
        return std::ranges::all_of(newcomers,
                                   [this](MachineId machine) {
                                     const Process* process = cluster_.machine(machine).process();
                                     return process != nullptr &&
                                            !process->endpoint().held().empty();
                                   }) &&
               is_settled();
      });
  broadcast("broadcast of all");
  reduce("reduction of all", false);
  measure(
      "drain", [&] { drain(changes); }, [this] { return has_left(); });
  broadcast("broadcast of the rest");
  reduce("allreduce of the rest", true);
  measure(
      "job end", [this] { job_->hold_open(false); }, [this] { return is_idle(); });
  measure(
      "deaths", [&] { die(changes); }, settled);
  for (const std::string& violation : cluster_.violations().all()) {
    report_.violations.push_back(violation);
  }
  return std::move(report_);
}

}  // namespace

CostReport measure_mesh(const CostOptions& options, std::uint32_t changes) {
  return Costs(options).run_mesh(changes);
}

CostReport measure_costs(const CostOptions& options) {
  return Costs(options).run();
}

}  // namespace phx::sim
