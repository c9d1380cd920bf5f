#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/experiments/cast_stream.h"
#include "apps/experiments/experiments.h"
#include "apps/experiments/networks.h"
#include "apps/experiments/plot.h"
#include "apps/experiments/results.h"
#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/csv.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/planners/planners.h"
#include "runtime/sim/plan_run.h"

namespace phx::app {
namespace {

using overlay::Topology;
using sim::MachineId;

constexpr double kMega = 1e6;
constexpr std::uint64_t kMbit = 125'000;
constexpr std::uint64_t kEndless = std::uint64_t{64} << 20U;  ///< As good as a stream without end.

/// Bytes per second and processor of a static plan, for a message as long as that.
double planned_rate(std::string_view name, const Topology& topology,
                    const sim::PlanRunOptions& options = {}) {
  const overlay::Placing placing = overlay::placed_by_site(topology);
  const auto network = overlay::known_network(topology, placing);
  const auto plan = planners::plan(name, network, ProcessorId{1}, kEndless);
  if (!plan.ok()) return 0;
  const Duration last = sim::run_broadcast(plan.value(), topology, placing, options).last();
  return static_cast<double>(kEndless) / (to_ms(last) / 1e3);
}

double bound_rate(const Topology& topology) {
  const auto network = overlay::known_network(topology, overlay::placed_by_site(topology));
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

/// Megabytes per second, by interval; for a picture and a file.
struct Series {
  std::string name;
  std::vector<double> megabytes;
};

/// Of all receivers together.
Series series_of(const CastStream& stream, Duration interval) {
  Series series{"learned", {}};
  for (const CastStream::Takes& takes : stream.intervals()) {
    double bytes = 0;
    for (const auto& [machine, got] : takes) bytes += static_cast<double>(got);
    series.megabytes.push_back(bytes / kMega / (to_ms(interval) / 1e3));
  }
  return series;
}

/// Of each receiver, as the tables have it.
Series series_of_each(const CastStream& stream, Duration interval, std::string name,
                      std::optional<MachineId> without = {}) {
  Series series{std::move(name), {}};
  for (std::size_t i = 0; i < stream.intervals().size(); ++i) {
    const Duration from = interval * static_cast<Duration::rep>(i);
    series.megabytes.push_back(stream.rate(from, from + interval, without) / kMega);
  }
  return series;
}

std::string csv_of(const std::vector<Series>& all, Duration interval) {
  std::vector<std::string> fields{"seconds"};
  std::size_t rows = 0;
  for (const Series& one : all) {
    fields.push_back(one.name);
    rows = std::max(rows, one.megabytes.size());
  }
  Csv csv(fields);
  for (std::size_t row = 0; row < rows; ++row) {
    fields = {spell_fixed(to_ms(interval) / 1e3 * static_cast<double>(row), 2)};
    for (const Series& one : all) {
      fields.push_back(row < one.megabytes.size() ? spell_fixed(one.megabytes[row], 3) : "");
    }
    csv.add(fields);
  }
  return csv.text();
}

struct Picture {
  std::string title;
  std::string up;
  Duration interval;
  std::vector<Series> all;
};

/// Prints the table, and writes everything, if no checker found anything.
int conclude(const ExperimentOptions& options, CastStream& stream, const std::string& text,
             const Picture& picture) {
  const auto violations = stream.trial().cluster().violations().all();
  for (const std::string& violation : violations) {
    std::fprintf(stderr, "violation: %s\n", violation.c_str());
  }
  if (!violations.empty()) return fail("a checker found something");
  Plot plot;
  plot.title = picture.title;
  plot.across = "seconds";
  plot.up = picture.up;
  plot.stride = to_ms(picture.interval) / 1e3;
  for (const Series& one : picture.all) plot.lines.push_back({one.name, one.megabytes});
  const std::string name = name_of_results(options.name, options);
  return show(options, {name, text, csv_of(picture.all, picture.interval), {{name, plot}}});
}

/// Tells how far a stream is that lasts so long.
std::function<void(Duration)> teller(Progress& progress, Duration total) {
  return [&progress, total](Duration time) { progress.reach(time, total); };
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
    const double before = planned_rate(name, all) * (all.processors() - 1) / kMega;
    const double during = planned_rate(name, half) * (half.processors() - 1) / kMega;
    for (Duration at{}; at < kEnd; at += interval) {
      series.megabytes.push_back(at >= kLeaveAt && at < kReturnAt ? during : before);
    }
  }
  return result;
}

}  // namespace

int experiment_fig9(const ExperimentOptions& options, Progress& progress) {
  constexpr std::uint32_t kEach = 40;
  constexpr Duration kInterval = 100ms;
  constexpr double kStable = 0.9;
  const Topology topology = hundred_megabit(kFourSites, kEach);
  constexpr std::uint64_t kFourMessages = std::uint64_t{16} << 20U;
  CastStream stream({.topology = topology,
                     .seed = options.seed,
                     .kept_bytes = kFourMessages,
                     .interval = kInterval,
                     .on_time = teller(progress, kEnd)});
  progress.begin("a mesh of 160 processors to form and to learn its network");
  if (const Status status = stream.start(); !status.ok()) return fail(status.error().what);
  progress.begin("a stream to 160 processors");
  stream.run_until(kLeaveAt);
  sim::Cluster& cluster = stream.trial().cluster();
  const std::vector<MachineId> leavers = every_second(stream);
  for (const MachineId machine : leavers) cluster.drain(machine);
  progress.begin("the stream while half of them leave");
  stream.run_until(kReturnAt);
  const std::size_t stayed = cluster.staying().size();
  for (const MachineId machine : leavers) cluster.add_machine(cluster.model().site(machine));
  progress.begin("the stream while as many return");
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
               megabytes(stream.total_rate((phase.begin + phase.end) / 2, phase.end)),
               at ? spell_fixed(to_ms(*at - phase.begin) / 1e3, 1) : "never",
               megabytes(phase.bound)});
  }
  progress.begin("what static plans take");
  const std::string gap = "The longest time in which one that stayed got nothing: " +
                          spell_fixed(to_ms(longest_gap(stream, 4 * kEach)), 0) + " ms\n";
  std::vector<Series> all{series_of(stream, kInterval)};
  for (Series& one : static_series(topology, hundred_megabit(kFourSites, kEach / 2), kInterval)) {
    all.push_back(std::move(one));
  }
  return conclude(options, stream, gap + table.text(),
                  {"4 MiB back to back to 160 processors; half leave at 60 s, return at 90 s",
                   "MB/s of all receivers together", kInterval, all});
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
int experiment_slow(const ExperimentOptions& options, Progress& progress) {
  constexpr Duration kInterval = 100ms;
  constexpr Duration kSlowEnd = 60s;
  CastStreamOptions stream_options{.topology = few_in_three_sites(),
                                   .seed = options.seed,
                                   .bytes = std::size_t{1} << 20U,
                                   .interval = kInterval,
                                   .on_time = teller(progress, kChangeAt)};
  const CastStream::Slow slow{MachineId{kFew + 1}, 10 * kMbit};
  progress.begin("a stream with a receiver that is slow from the start");
  CastStream known(stream_options);
  if (const Status status = known.start(slow); !status.ok()) return fail(status.error().what);
  known.run_until(kChangeAt);
  progress.begin("a stream with a receiver that becomes slow");
  stream_options.on_time = teller(progress, kSlowEnd);
  CastStream stream(stream_options);
  if (const Status status = stream.start(); !status.ok()) return fail(status.error().what);
  stream.run_until(kChangeAt);
  stream.trial().cluster().model().set_interface(slow.machine, slow.bytes_per_second);
  stream.run_until(kSlowEnd);

  const double before = stream.rate(kChangeAt / 2, kChangeAt, slow.machine);
  Table table({"the other 34", "MB/s each", "of before"});
  const auto add = [&](const char* name, double rate) {
    table.add({name, megabytes(rate), spell_fixed(rate / before, 2)});
  };
  add("none is slow", before);
  add("one is, from the start", known.rate(kChangeAt / 2, kChangeAt, slow.machine));
  add("one is, from 10 s on: to 20 s", stream.rate(kChangeAt, 2 * kChangeAt, slow.machine));
  add("and to 60 s", stream.rate(kSlowEnd - 10s, kSlowEnd, slow.machine));
  return conclude(options, stream, table.text(),
                  {"One of 35 receivers has a tenth of the others' bandwidth",
                   "MB/s of each of the other 34",
                   kInterval,
                   {series_of_each(stream, kInterval, "from 10 s on", slow.machine),
                    series_of_each(known, kInterval, "from the start", slow.machine)}});
}

int experiment_drop(const ExperimentOptions& options, Progress& progress) {
  constexpr Duration kInterval = 100ms;
  constexpr double kNear = 1.2;
  Topology topology = few_in_three_sites();
  CastStream stream({.topology = topology,
                     .seed = options.seed,
                     .bytes = std::size_t{1} << 20U,
                     .interval = kInterval,
                     .on_time = teller(progress, kChangedEnd)});
  progress.begin("a stream while a link drops");
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
  return conclude(options, stream, table.text(),
                  {"The link between two of three sites drops to a tenth at 10 s",
                   "MB/s of each receiver",
                   kInterval,
                   {series_of_each(stream, kInterval, "learned")}});
}

}  // namespace phx::app
