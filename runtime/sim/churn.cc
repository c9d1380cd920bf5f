#include "runtime/sim/churn.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/sim/drawn.h"

namespace phx::sim {
namespace {

constexpr Duration kStartBound = 30s;

/// Half of the runs have windows and rooms of a few pieces, so that credit is always short.
ChurnOptions with_windows(std::uint64_t seed, ChurnOptions options) {
  options.workload.ignores_window = options.planted == PlantedFault::kNoContributionWindow;
  Rng rng = Rng(seed).fork("windows");
  if (rng.chance(0.5)) return options;
  WorkloadOptions& load = options.workload;
  constexpr std::uint64_t kPieceBytes = 100;  // most contributions are short
  const auto pieces = [&](std::uint64_t most) { return load.piece_bytes * (1 + rng.below(most)); };
  load.unasked_bytes = pieces(4);
  load.window_bytes = load.unasked_bytes * (1 + rng.below(8));
  load.inbox_bytes = pieces(16);
  load.outbox_bytes = pieces(64);
  load.slack_bytes = pieces(8);
  options.flow_bytes_max = pieces(16);
  load.contribution_bytes = rng.below(4) * kPieceBytes;
  load.contributions_ahead = 1 + rng.below(3);
  options.copy_bytes_max = pieces(16);
  return options;
}

/// In `long_share` of the runs some reductions are so long that they go along the trees for long
/// ones, in pieces that are as long, while others go along the short ones.
ChurnOptions with_long_reductions(std::uint64_t seed, ChurnOptions options) {
  Rng rng = Rng(seed).fork("long reductions");
  if (!rng.chance(options.long_share)) return options;
  options.workload.piece_bytes = std::size_t{2} * kLongMessage;
  constexpr std::size_t kElements = 5000;  // two long pieces and a short one
  options.workload.long_elements = kElements;
  return options;
}

/// States take up to some dozens of pieces, and some round trips.
ChurnOptions with_pieces(std::uint64_t seed, ChurnOptions options) {
  Rng rng = Rng(seed).fork("pieces");
  if (rng.chance(0.25)) return options;
  constexpr std::uint64_t kLeast = 64;
  constexpr std::uint64_t kDoublings = 5;
  constexpr std::uint64_t kPieces = 8;
  constexpr std::uint64_t kLeastWindow = 4096;  // per round trip: less takes minutes on slow ways
  options.state_piece_bytes = kLeast << rng.below(kDoublings);
  options.state_window_bytes =
      std::max(kLeastWindow, options.state_piece_bytes * (1 + rng.below(kPieces)));
  return options;
}

ClusterOptions cluster_options(std::uint64_t seed, const ChurnOptions& options) {
  ClusterOptions cluster;
  cluster.topology = options.topology
                         ? *options.topology
                         : overlay::Topology::uniform(options.sites, {options.wan_latency, 0});
  cluster.seed = seed;
  cluster.daemon.flow_bytes_max = options.flow_bytes_max;
  cluster.daemon.copy_bytes_max = options.copy_bytes_max;
  cluster.daemon.tree_style = options.tree_style;
  cluster.daemon.state_receivers = options.state_receivers;
  cluster.daemon.state_piece_bytes = options.state_piece_bytes;
  cluster.daemon.state_window_bytes = options.state_window_bytes;
  cluster.jitter = 0.2;
  cluster.machine.fault = options.planted;
  cluster.machine.late_timers_max = 2ms;
  cluster.machine.wire = options.wire;
  cluster.keeps_lines = options.keeps_lines;
  cluster.has_debug_notes = options.has_debug_notes;
  return cluster;
}

/// One run, phase by phase; a phase that fails ends it.
class Run {
 public:
  Run(std::uint64_t seed, const ChurnOptions& options)
      : options_(with_pieces(
            seed, with_windows(seed, with_long_reductions(
                                         seed, with_draws(seed, with_extras(seed, options)))))),
        cluster_(cluster_options(seed, options_)),
        faults_(cluster_, options_.faults, Rng(seed).fork("faults")) {}

  Outcome churn();
  Outcome deaths();

 private:
  bool start();
  bool run_until(const std::function<bool()>& is_done, Duration bound, const std::string& what);
  void stall(const std::string& what);
  void settle();
  void start_job(const WorkloadOptions& options) { jobs_.push_back(&cluster_.run_job(options)); }
  [[nodiscard]] bool have_all_ended() const;
  void check_result(const Workload& job);
  void check_end();
  void check_stayed();
  [[nodiscard]] Outcome finish();

  ChurnOptions options_;
  Cluster cluster_;
  Faults faults_;
  std::vector<Workload*> jobs_;
  Outcome outcome_;
};

void Run::stall(const std::string& what) {
  if (cluster_.violations().empty()) cluster_.violations().add("stall: " + what);
  outcome_.waiting = cluster_.describe();
}

/// Watches progress while it waits.
bool Run::run_until(const std::function<bool()>& is_done, Duration bound, const std::string& what) {
  struct Seen {
    std::uint64_t progress = 0;
    Instant moved_at;
  };
  std::map<const Workload*, Seen> seen;
  bool has_stalled = false;
  const bool done = cluster_.run_until(
      [&] {
        for (const Workload* job : jobs_) {
          Seen& last = seen.try_emplace(job, Seen{0, cluster_.now()}).first->second;
          const std::uint64_t now = job->ledger().progress();
          if (now != last.progress || cluster_.result(*job)) last = {now, cluster_.now()};
          has_stalled = has_stalled || cluster_.now() - last.moved_at > options_.stalls_after;
        }
        return has_stalled || is_done();
      },
      bound);
  if (done && !has_stalled) return cluster_.violations().empty();
  stall(what);
  return false;
}

bool Run::start() {
  cluster_.add_all();
  if (!run_until([&] { return !cluster_.is_joining() && cluster_.checkers().do_views_agree(); },
                 kStartBound, "the mesh does not come together")) {
    return false;
  }
  start_job(options_.workload);
  for (const auto& [after, job] : options_.more_jobs) {
    const WorkloadOptions& work = job;
    cluster_.agenda().schedule_in(after, [this, &work] { start_job(work); });
  }
  return run_until([&] { return jobs_[0]->ledger().holder(VnodeId{0}).has_value(); }, kStartBound,
                   "the job does not start");
}

bool Run::have_all_ended() const {
  return jobs_.size() == 1 + options_.more_jobs.size() &&
         std::ranges::all_of(
             jobs_, [&](const Workload* job) { return cluster_.result(*job).has_value(); });
}

void Run::settle() {
  const auto is_settled = [&] {
    // Asked each millisecond: what costs least comes first, and tells most.
    if (cluster_.is_joining() || !cluster_.checkers().do_views_agree()) return false;
    // Who leaves has left; but somebody stays, and he may have been told to leave, too.
    const std::size_t staying = cluster_.staying().size();
    if (std::max<std::size_t>(staying, 1) < cluster_.running().size()) return false;
    return std::ranges::none_of(cluster_.machines(), [](const SimDriver& machine) {
      return machine.is_running() &&
             (machine.has_processes() || !machine.daemon()->status().jobs.empty());
    });
  };
  if (!run_until(is_settled, options_.settles_within, "the mesh does not settle")) return;
  cluster_.checkers().check_settled(JobId{}, 0);
}

Outcome Run::churn() {
  if (!start()) return finish();
  faults_.start();
  Duration lasts = options_.workload.lasts;
  for (const auto& [after, job] : options_.more_jobs) lasts = std::max(lasts, after + job.lasts);
  const Instant end = cluster_.now() + lasts;
  if (!run_until([&] { return have_all_ended() || cluster_.now() >= end; }, lasts + 1s,
                 "no progress under faults")) {
    return finish();
  }
  faults_.stop();
  if (!run_until([&] { return have_all_ended(); }, options_.settles_within,
                 "the job does not end after the faults have stopped")) {
    return finish();
  }
  for (const Workload* job : jobs_) check_result(*job);
  settle();
  return finish();
}

void Run::check_result(const Workload& job) {
  const Cluster::JobResult& result = *cluster_.result(job);
  const Ledger& ledger = job.ledger();
  Violations& violations = cluster_.violations();
  if (cluster_.tools().has_ended_alone(job)) return;
  if (options_.is_calm) cluster_.checkers().check_owners_known(cluster_.id(job));
  if (result.code != 0) {
    violations.add("the job ended with code " + std::to_string(result.code) + ": " + result.reason);
  }
  if (ledger.outstanding() > 0) violations.add("the job ended without " + ledger.missing());
  if (ledger.unshown() > 0) {
    std::string what = "the tool has not shown " + std::to_string(ledger.unshown()) + " outputs";
    for (const MachineId writer : ledger.unshown_writers()) {
      what += ' ' + to_string(cluster_.machine(writer).self());
    }
    violations.add(what);
  }
}

Outcome Run::deaths() {
  if (!start()) return finish();
  faults_.start();
  const auto& result = cluster_.result(*jobs_[0]);
  const Instant end = cluster_.now() + options_.workload.lasts;
  if (!run_until([&] { return result || cluster_.now() >= end; }, options_.workload.lasts + 1s,
                 "no progress while processors die")) {
    return finish();
  }
  faults_.stop();
  if (!run_until([&] { return result.has_value(); }, options_.settles_within,
                 "the job neither ends well nor fails")) {
    return finish();
  }
  outcome_.has_failed = result->code != 0;
  check_end();
  settle();
  return finish();
}

/// The reason names a processor that died. When several die at once, daemons may hear of the one or
/// the other first; the tool hears one of them.
void Run::check_end() {
  const auto& result = *cluster_.result(*jobs_[0]);
  const std::string first = result.reason.substr(0, result.reason.find(' '));
  const bool names_dead = cluster_.has_died(first);
  // Whoever is a member knows how it ended.
  const bool is_tool_lost = result.code < 0 && cluster_.staying().empty();
  if (result.code != 0 && !names_dead && !is_tool_lost) {
    cluster_.violations().add("the job ended for an unclear reason: " + result.reason);
  }
  if (result.code == 0 && jobs_[0]->ledger().outstanding() > 0) {
    cluster_.violations().add("the job ended well without " + jobs_[0]->ledger().missing());
  }
  for (const MachineId writer : jobs_[0]->ledger().unshown_writers()) {
    const std::string name = to_string(cluster_.machine(writer).self());
    if (result.code != 0 || cluster_.has_died(name)) continue;
    cluster_.violations().add("the job ended well, and the tool has not shown all of " + name);
  }
  for (const std::string& blamed : cluster_.blamed()) {
    if (!cluster_.has_died(blamed)) {
      cluster_.violations().add("the job ended because of " + blamed + ", which has not died");
    }
  }
}

/// Nobody is put out who lives: all who are there reach each other, if only through a third one.
/// Who was let in through a machine that is lost may never have heard of it, and does not live
/// then.
void Run::check_stayed() {
  for (const std::string& name : cluster_.put_out()) {
    const ProcessorId id{static_cast<ProcessorId::rep>(std::stoul(name.substr(1)))};
    if (!cluster_.has_died(name) && cluster_.find(id)) {
      cluster_.violations().add(name + " lives and was put out");
    }
  }
  for (const auto& [name, why] : cluster_.gave_up()) {
    cluster_.violations().add(name + " gave up: " + why);
  }
}

Outcome Run::finish() {
  check_stayed();
  outcome_.violations = cluster_.violations().all();
  for (const Workload* job : jobs_) outcome_.counters.add(job->ledger().counters());
  outcome_.machines = cluster_.machines().size();
  for (const SimDriver& machine : cluster_.machines()) {
    if (!machine.is_running()) ++outcome_.left;
  }
  outcome_.cost = cluster_.network().meter();
  outcome_.steps = cluster_.agenda().steps();
  outcome_.virtual_time = cluster_.now().time_since_epoch();
  outcome_.hash = cluster_.transcript().hash();
  outcome_.transcript = cluster_.transcript().lines();
  return outcome_;
}

}  // namespace

ChurnOptions ChurnOptions::full() {
  ChurnOptions options;
  options.workload.vnodes = 200;
  options.workload.messages = 40;
  options.workload.broadcasts = 300;
  options.workload.reductions = 30;
  options.workload.lasts = 3s;
  options.settles_within = 20s;
  return options;
}

ChurnOptions ChurnOptions::small() {
  ChurnOptions options;
  options.sites = {4, 3};
  options.workload.vnodes = 40;
  options.workload.messages = 40;
  options.workload.broadcasts = 100;
  options.workload.reductions = 30;
  options.workload.lasts = 2s;
  options.faults.members_max = 12;
  options.extras_share = 0.5;
  options.settles_within = 10s;
  return options;
}

ChurnOptions ChurnOptions::relays() {
  ChurnOptions options = small();
  options.sites = {6, 5};
  options.workload.processors_max = 4;
  options.workload.reductions = 150;
  options.workload.targets = 3;
  options.faults = FaultOptions::churn();
  options.faults.drains = {};
  options.faults.releases = {};
  options.faults.partitions = {};
  options.faults.joins = 250ms;
  options.faults.idle_deaths = 200ms;
  options.settles_within = 60s;
  options.faults.members_min = 6;
  options.faults.members_max = 14;
  return options;
}

ChurnOptions ChurnOptions::barred() {
  ChurnOptions options = small();
  options.sites = {5, 4};
  options.workload.lasts = 20s;
  options.faults.members_min = 6;
  options.faults.joins = 2s;
  options.faults.drains = 2500ms;
  options.faults.breaks = 500ms;
  options.faults.half_opens = 3s;
  options.faults.partitions = Duration{};
  options.faults.bars = 700ms;
  options.faults.refusals = 5s;
  options.settles_within = 90s;
  return options;
}

ChurnOptions ChurnOptions::drawn() {
  ChurnOptions options = small();
  options.is_drawn = true;
  options.settles_within = 60s;
  return options;
}

ChurnOptions ChurnOptions::stopped() {
  ChurnOptions options = small();
  options.faults.tool_stops = 400ms;
  options.settles_within = 60s;
  options.workload.output_bytes = std::size_t{64} << 10U;
  return options;
}

Outcome run_churn(std::uint64_t seed, const ChurnOptions& options) {
  return Run(seed, options).churn();
}

Outcome run_deaths(std::uint64_t seed, const ChurnOptions& options) {
  return Run(seed, options).deaths();
}

}  // namespace phx::sim
