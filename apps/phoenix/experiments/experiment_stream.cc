#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/experiments/cast_stream.h"
#include "apps/phoenix/experiments/experiments.h"
#include "apps/phoenix/experiments/networks.h"
#include "apps/phoenix/experiments/plot.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/planners/planners.h"
#include "runtime/sim/plan_run.h"

namespace phx::app {
namespace {

using sim::MachineId;
using sim::Topology;

constexpr double kMega = 1e6;
constexpr std::uint64_t kMbit = 125'000;
constexpr std::uint64_t kEndless = std::uint64_t{64} << 20U;  ///< As good as a stream without end.

/// Bytes per second and processor of a static plan, for a message as long as that.
double planned_rate(std::string_view name, const Topology& topology,
                    const sim::PlanRunOptions& options = {}) {
  const sim::Placing placing = sim::placed_by_site(topology);
  const auto network = sim::known_network(topology, placing);
  const auto plan = planners::plan(name, network, ProcessorId{1}, kEndless);
  if (!plan.ok()) return 0;
  const Duration last = sim::run_broadcast(plan.value(), topology, placing, options).last();
  return static_cast<double>(kEndless) / (to_ms(last) / 1e3);
}

double bound_rate(const Topology& topology) {
  const auto network = sim::known_network(topology, sim::placed_by_site(topology));
  const planners::Costs costs(network);
  const Duration time = planners::lower_bound({costs, *costs.position(ProcessorId{1}), kEndless});
  return static_cast<double>(kEndless) / (to_ms(time) / 1e3);
}

std::string megabytes(double bytes_per_second) {
  return spell_fixed(bytes_per_second / kMega, 2);
}
std::string tenths(Duration time) {
  return spell_fixed(to_ms(time) / 1e3, 1);
}

/// The bytes of all processors together, by interval; for a picture and a file.
struct Series {
  std::string name;
  std::vector<double> megabytes;  ///< Per second.
};

Series series_of(const CastStream& stream, Duration interval) {
  Series series{"learned", {}};
  for (const CastStream::Takes& takes : stream.intervals()) {
    double bytes = 0;
    for (const auto& [machine, got] : takes) bytes += static_cast<double>(got);
    series.megabytes.push_back(bytes / kMega / (to_ms(interval) / 1e3));
  }
  return series;
}

Status write_series(const ExperimentOptions& options, const std::string& title, Duration interval,
                    const std::vector<Series>& all) {
  const std::string& name = options.name;
  std::string csv = "seconds";
  std::size_t rows = 0;
  for (const Series& one : all) {
    csv += "," + one.name;
    rows = std::max(rows, one.megabytes.size());
  }
  csv += "\n";
  for (std::size_t row = 0; row < rows; ++row) {
    csv += spell_fixed(to_ms(interval) / 1e3 * static_cast<double>(row), 2);
    for (const Series& one : all) {
      csv += "," + (row < one.megabytes.size() ? spell_fixed(one.megabytes[row], 3) : "");
    }
    csv += "\n";
  }
  if (const Status status = write_result(options, name + ".csv", csv); !status.ok()) return status;
  Plot plot;
  plot.title = title;
  plot.across = "seconds";
  plot.up = "MB/s of all processors together";
  plot.stride = to_ms(interval) / 1e3;
  for (const Series& one : all) plot.lines.push_back({one.name, one.megabytes});
  return plot.write(options.out + "/" + name + ".svg");
}

/// Writes the table and prints it.
int conclude(const ExperimentOptions& options, CastStream& stream, const Table& table) {
  const auto violations = stream.trial().cluster().violations().all();
  for (const std::string& violation : violations) {
    std::fprintf(stderr, "violation: %s\n", violation.c_str());
  }
  if (!violations.empty()) return fail("a checker found something");
  const std::string& name = options.name;
  const Status status = write_result(options, name + ".txt", table.text());
  if (!status.ok()) return fail(status.error().what, kUsage);
  std::printf("%sWritten: %s.csv, .svg and .txt in %s\n", table.text().c_str(), name.c_str(),
              options.out.c_str());
  return kOk;
}

// --- Half leave, and return ----------------------------------------------------------------------

constexpr Duration kLeaveAt = 60s;
constexpr Duration kReturnAt = 90s;
constexpr Duration kEnd = 120s;

Topology hundred_megabit(std::string_view sites, std::uint32_t each) {
  Topology topology = Topology::parse(sites).value();
  for (Topology::Site& site : topology.sites) site.processors = each;
  for (Topology::Link& link : topology.links) link.bytes_per_second = 100 * kMbit;
  topology.interface_bytes_per_second = 100 * kMbit;
  return topology;
}

/// Every second one of each site, but the root.
std::vector<MachineId> every_second(CastStream& stream) {
  std::vector<MachineId> half;
  std::map<std::size_t, std::size_t> seen;
  for (const MachineId machine : stream.trial().cluster().staying()) {
    const std::size_t site = stream.trial().cluster().model().site(machine);
    if (++seen[site] % 2 == 0 && machine != stream.root()) half.push_back(machine);
  }
  return half;
}

/// The longest time in which a receiver got nothing; of the first so many, as far as they stayed.
Duration longest_gap(CastStream& stream, std::uint32_t first) {
  Duration gap{};
  for (const MachineId machine : stream.trial().cluster().staying()) {
    if (machine.value < first && machine != stream.root()) {
      gap = std::max(gap, stream.longest_gap(machine));
    }
  }
  return gap;
}

/// What static plans give with who is there, were they made anew at once.
std::vector<Series> static_series(const Topology& all, const Topology& half, Duration interval) {
  std::vector<Series> result;
  for (const std::string_view name :
       {"list", "two-tree", "binary", "magpie-long", "mpich-ring", "binomial"}) {
    Series& series = result.emplace_back();
    series.name = std::string(name) + ", anew";
    const double before = planned_rate(name, all) * all.processors() / kMega;
    const double during = planned_rate(name, half) * half.processors() / kMega;
    for (Duration at{}; at < kEnd; at += interval) {
      series.megabytes.push_back(at >= kLeaveAt && at < kReturnAt ? during : before);
    }
  }
  return result;
}

}  // namespace

int experiment_fig9(const ExperimentOptions& options) {
  constexpr std::uint32_t kEach = 40;
  constexpr Duration kInterval = 100ms;
  constexpr double kStable = 0.9;
  const Topology topology = hundred_megabit(kFourSites, kEach);
  constexpr std::uint64_t kFourMessages = std::uint64_t{16} << 20U;
  CastStream stream({.topology = topology,
                     .seed = options.seed,
                     .kept_bytes = kFourMessages,
                     .interval = kInterval});
  if (const Status status = stream.start(); !status.ok()) return fail(status.error().what);
  const auto tell = [](const char* what) { std::fprintf(stderr, "phoenix: %s\n", what); };
  tell("160 processors, for a minute");
  stream.run_until(kLeaveAt);
  sim::Cluster& cluster = stream.trial().cluster();
  const std::vector<MachineId> leavers = every_second(stream);
  for (const MachineId machine : leavers) cluster.drain(machine);
  tell("half of them leave");
  stream.run_until(kReturnAt);
  const std::size_t stayed = cluster.staying().size();
  for (const MachineId machine : leavers) cluster.add_machine(cluster.model().site(machine));
  tell("as many return");
  stream.run_until(kEnd);

  Table table(
      {"from s", "processors", "MB/s each", "MB/s of all", "of it from s on", "bound each"});
  struct Phase {
    Duration begin, end;
    std::size_t processors;
    double bound;
  };
  const double whole = bound_rate(topology);
  const double half = bound_rate(hundred_megabit(kFourSites, kEach / 2));
  for (const Phase& phase : {Phase{0s, kLeaveAt, std::size_t{4} * kEach, whole},
                             Phase{kLeaveAt, kReturnAt, stayed, half},
                             Phase{kReturnAt, kEnd, cluster.staying().size(), whole}}) {
    const double rate = stream.rate((phase.begin + phase.end) / 2, phase.end);
    const auto at = stream.reaches(kStable * rate, phase.begin, 1s);
    table.add({tenths(phase.begin), std::to_string(phase.processors), megabytes(rate),
               megabytes(rate * static_cast<double>(phase.processors)),
               at ? spell_fixed(to_ms(*at - phase.begin) / 1e3, 1) : "never",
               megabytes(phase.bound)});
  }
  std::printf("The longest time in which one that stayed got nothing: %s ms\n",
              spell_fixed(to_ms(longest_gap(stream, 4 * kEach)), 0).c_str());
  std::vector<Series> all{series_of(stream, kInterval)};
  for (Series& one : static_series(topology, hundred_megabit(kFourSites, kEach / 2), kInterval)) {
    all.push_back(std::move(one));
  }
  const Status status = write_series(
      options, "4 MiB back to back to 160 processors; half leave at 60 s, return at 90 s",
      kInterval, all);
  if (!status.ok()) return fail(status.error().what, kUsage);
  return conclude(options, stream, table);
}

// --- Changes of the network ----------------------------------------------------------------------

namespace {

constexpr Duration kChangeAt = 10s;
constexpr Duration kChangedEnd = 30s;
constexpr std::uint32_t kFew = 12;

Topology few_in_three_sites() {
  return hundred_megabit(kThreeSites, kFew);
}

}  // namespace

/// One receiver has a tenth of the others' bandwidth: from the start, and from some time on.
int experiment_slow(const ExperimentOptions& options) {
  constexpr Duration kInterval = 100ms;
  constexpr Duration kSlowEnd = 60s;
  const CastStreamOptions stream_options{.topology = few_in_three_sites(),
                                         .seed = options.seed,
                                         .bytes = std::size_t{1} << 20U,
                                         .interval = kInterval};
  const CastStream::Slow slow{MachineId{kFew + 1}, 10 * kMbit};
  CastStream known(stream_options);
  if (const Status status = known.start(slow); !status.ok()) return fail(status.error().what);
  known.run_until(kChangeAt);
  CastStream stream(stream_options);
  if (const Status status = stream.start(); !status.ok()) return fail(status.error().what);
  stream.run_until(kChangeAt);
  stream.trial().cluster().model().set_interface(slow.machine, slow.bytes_per_second);
  stream.run_until(kSlowEnd);

  const double before = stream.rate(kChangeAt / 2, kChangeAt, slow.machine);
  Table table({"the other 35", "MB/s each", "of before"});
  const auto add = [&](const char* name, double rate) {
    table.add({name, megabytes(rate), spell_fixed(rate / before, 2)});
  };
  add("none is slow", before);
  add("one is, from the start", known.rate(kChangeAt / 2, kChangeAt, slow.machine));
  add("one is, from 10 s on: to 20 s", stream.rate(kChangeAt, 2 * kChangeAt, slow.machine));
  add("and to 60 s", stream.rate(kSlowEnd - 10s, kSlowEnd, slow.machine));
  Series from_start = series_of(known, kInterval);
  from_start.name = "from the start";
  Series later = series_of(stream, kInterval);
  later.name = "from 10 s on";
  const Status status =
      write_series(options, "One of 36 receivers has a tenth of the others' bandwidth", kInterval,
                   {later, from_start});
  if (!status.ok()) return fail(status.error().what, kUsage);
  return conclude(options, stream, table);
}

int experiment_drop(const ExperimentOptions& options) {
  constexpr Duration kInterval = 100ms;
  constexpr double kNear = 1.2;
  Topology topology = few_in_three_sites();
  CastStream stream({.topology = topology,
                     .seed = options.seed,
                     .bytes = std::size_t{1} << 20U,
                     .interval = kInterval});
  if (const Status status = stream.start(); !status.ok()) return fail(status.error().what);
  stream.run_until(kChangeAt);
  const double before = stream.rate(kChangeAt / 2, kChangeAt);
  stream.trial().cluster().model().set_link(0, 1, 10 * kMbit);
  stream.run_until(kChangedEnd);
  Topology changed = topology;
  changed.links[1].bytes_per_second = changed.links[3].bytes_per_second = 10 * kMbit;
  const double optimum = planned_rate("two-tree", changed);
  const double after = stream.rate(kChangedEnd - 10s, kChangedEnd);
  const auto at = stream.reaches(optimum / kNear, kChangeAt, 1s);
  Table table({"link A-B", "MB/s each", "best plan", "within 1.2 of it after s"});
  table.add({"100 Mbit/s", megabytes(before), megabytes(planned_rate("two-tree", topology)), "-"});
  table.add(
      {"10 Mbit/s", megabytes(after), megabytes(optimum), at ? tenths(*at - kChangeAt) : "never"});
  const Status status =
      write_series(options, "The link between two of three sites drops to a tenth at 10 s",
                   kInterval, {series_of(stream, kInterval)});
  if (!status.ok()) return fail(status.error().what, kUsage);
  return conclude(options, stream, table);
}

}  // namespace phx::app
