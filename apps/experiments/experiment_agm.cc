#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/experiments/agm_trial.h"
#include "apps/experiments/experiments.h"
#include "apps/experiments/plot.h"
#include "apps/experiments/results.h"
#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/csv.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/mst/agm_network.h"
#include "overlay/mst/lab.h"
#include "overlay/network/known_network.h"
#include "overlay/planners/pairs/collective_times.h"
#include "overlay/planners/pairs/pair_tree.h"
#include "overlay/planners/planners.h"

namespace phx::app {
namespace {

using planners::PairTree;

constexpr std::size_t kAll = mst::kAgmProcessors;
constexpr std::size_t kRoot = mst::kAgmRoot.value - 1;
constexpr std::uint64_t kMessageBytes = 24;
constexpr Duration kOverhead = 5us;
constexpr double kHundred = 100;
constexpr double kMs = 1000;

/// A position is a process of the paper.
ProcessorId id_at(std::size_t position) {
  return ProcessorId{static_cast<std::uint32_t>(position + 1)};
}

/// A channel that is not what Table 1 says, from some broadcast on; 0: from the beginning.
struct Injected {
  std::size_t broadcast;
  std::size_t a, b;
  Duration latency;
};

/// How a broadcast gets its tree.
struct Version {
  std::string_view name;
  std::size_t adapts_every = 0;  ///< Of a spanning tree; 0: never.
  PairTree (*make)() = nullptr;  ///< Instead: drawn once, without a message.
};

/// One figure: what happens, and to whom.
struct Figure {
  std::string_view name;
  std::size_t broadcasts;
  std::uint32_t theta;
  std::vector<Injected> injected;
};

struct Outcome {
  Duration building{};
  Duration adapting{};
  std::vector<Duration> broadcasts;
  std::uint64_t messages = 0;  ///< Of building and adapting.

  [[nodiscard]] Duration broadcasting() const {
    Duration sum{};
    for (const Duration time : broadcasts) sum += time;
    return sum;
  }
  [[nodiscard]] Duration total() const { return building + adapting + broadcasting(); }
};

/// MPI's binomial tree over the processes in order, the farthest first.
void add_binomial(PairTree& tree, std::size_t first, std::size_t count, std::size_t root) {
  const auto place = [&](std::size_t i) { return first + (root - first + i) % count; };
  std::size_t top = 1;
  while (top < count) top *= 2;
  for (std::size_t step = top / 2; step > 0; step /= 2) {
    for (std::size_t from = 0; from + step < count; from += 2 * step) {
      tree.hops.emplace_back(place(from), place(from + step));
    }
  }
}

PairTree mpich_like() {
  PairTree tree{kRoot, {}};
  add_binomial(tree, 0, kAll, kRoot);
  return tree;
}

/// The root sends to the first process of each other site, which does the same inside as it does.
PairTree magpie_like() {
  PairTree tree{kRoot, {}};
  for (std::size_t first = 0; first < kAll; first += mst::kAgmPerSite) {
    if (kRoot / mst::kAgmPerSite != first / mst::kAgmPerSite) tree.hops.emplace_back(kRoot, first);
  }
  for (std::size_t first = 0; first < kAll; first += mst::kAgmPerSite) {
    const bool is_own = kRoot / mst::kAgmPerSite == first / mst::kAgmPerSite;
    add_binomial(tree, first, mst::kAgmPerSite, is_own ? kRoot : first);
  }
  return tree;
}

overlay::KnownNetwork known_network() {
  overlay::KnownNetwork network;
  for (std::uint32_t site = 0; site < mst::kAgmSites; ++site) {
    const ProcessorId first = id_at(std::size_t{site} * mst::kAgmPerSite);
    const ProcessorId last{first.value + mst::kAgmPerSite - 1};
    network.sites.push_back({.name = "S" + std::to_string(site),
                             .processors = ProcessorSet::range(first, last),
                             .latency = mst::agm_latency(first, last)});
  }
  for (std::size_t a = 0; a < network.sites.size(); ++a) {
    for (std::size_t b = 0; b < network.sites.size(); ++b) {
      if (a == b) continue;
      network.between[{a, b}].latency = mst::agm_latency(network.sites[a].processors.front(),
                                                         network.sites[b].processors.front());
    }
  }
  network.usual.overhead = kOverhead;
  return network;
}

/// What Phoenix draws over a learned network, for short messages.
PairTree phoenix_tree() {
  PairTree tree{kRoot, {}};
  const auto plan = planners::plan("greedy", known_network(), mst::kAgmRoot, 1);
  if (!plan.ok()) return tree;
  for (const planners::Edge& edge : plan.value().trees.at(0)) {
    tree.hops.emplace_back(edge.from.value - 1, edge.to.value - 1);
  }
  return tree;
}

/// The tree that the processors found, as the root sees it.
PairTree oriented(const mst::Lab& lab) {
  PairTree tree{kRoot, {}};
  std::vector<std::pair<std::size_t, std::size_t>> open{{kRoot, kRoot}};  // Who, and from whom.
  for (std::size_t next = 0; next < open.size(); ++next) {
    const auto [at, parent] = open[next];
    for (const ProcessorId other : lab.at(id_at(at)).tree()) {
      const std::size_t child = other.value - 1;
      if (child == parent) continue;
      tree.hops.emplace_back(at, child);
      open.emplace_back(child, at);
    }
  }
  return tree;
}

const std::array kVersions = {Version{"MagPIe-like", 0, magpie_like}, Version{"AGM"},
                              Version{"AGM-adap", 1}, Version{"AGM-adapII", 4},
                              Version{"Phoenix' plan", 0, phoenix_tree}};

/// As listed for figure 5; those of the beginning first.
std::vector<Injected> changes(std::array<std::size_t, 4> at) {
  return {{0, 4, 6, 1ms},        {0, 12, 20, 35ms},      {0, 0, 2, 120'001ms},
          {0, 12, 16, 30'000ms}, {at[0], 4, 6, 9'999ms}, {at[1], 12, 16, 21ms},
          {at[2], 12, 20, 45ms}, {at[3], 0, 2, 6'000ms}};
}

/// Some broadcasts in a row, each begins when everybody has the one before.
class Course {
 public:
  Course(const Figure& figure, const Version& version)
      : figure_(figure),
        version_(version),
        network_(kAll),
        lab_({.theta = figure.theta}, [](ProcessorId from, ProcessorId to) {
          return from == kNobody ? Duration{} : mst::agm_latency(from, to);
        }) {
    for (std::size_t a = 0; a < kAll; ++a) {
      network_.set_overhead(a, kOverhead);
      for (std::size_t b = 0; b < kAll; ++b) {
        if (a != b) network_.set_latency(a, b, mst::agm_latency(id_at(a), id_at(b)));
      }
    }
  }

  /// False: the tree is not found, or reaches not everybody.
  bool run(Outcome& outcome);
  /// That the last broadcast took.
  [[nodiscard]] const PairTree& tree() const { return tree_; }

 private:
  void inject(std::size_t broadcast);
  bool adapt(Duration& time);

  const Figure& figure_;
  const Version& version_;
  planners::PairNetwork network_;
  mst::Lab lab_;
  PairTree tree_;
};

void Course::inject(std::size_t broadcast) {
  for (const Injected& one : figure_.injected) {
    if (one.broadcast != broadcast) continue;
    network_.set_latency(one.a, one.b, one.latency);
    network_.set_latency(one.b, one.a, one.latency);
  }
}

bool Course::adapt(Duration& time) {
  for (std::size_t a = 0; a < kAll; ++a) {
    for (std::size_t b = a + 1; b < kAll; ++b) {
      lab_.weigh(id_at(a), id_at(b), network_.latency(a, b));
    }
  }
  const Instant begin = lab_.now();
  lab_.adapt();
  if (!lab_.run()) return false;
  time += lab_.now() - begin;
  tree_ = oriented(lab_);
  return true;
}

bool Course::run(Outcome& outcome) {
  inject(0);
  if (version_.make != nullptr) {
    tree_ = version_.make();
  } else {
    lab_.set_members(mst::agm_processors());
    if (!adapt(outcome.building)) return false;
  }
  for (std::size_t i = 1; i <= figure_.broadcasts; ++i) {
    inject(i);
    const bool is_due = version_.adapts_every > 0 && (i - 1) % version_.adapts_every == 0;
    if (is_due && !adapt(outcome.adapting)) return false;
    if (!planners::validate(tree_, kAll).ok()) return false;
    const planners::Charge charge{network_, planners::CostModel::kOverlapped, kMessageBytes};
    outcome.broadcasts.push_back(
        planners::last_of(times_of(planners::Collective::kBroadcast, tree_, charge)));
  }
  outcome.messages = lab_.sent_in_all();
  return true;
}

std::string seconds(Duration time) {
  return spell_fixed(to_ms(time) / kMs, 2);
}
std::string ratio(Duration a, Duration b) {
  return spell_fixed(to_ms(a) / to_ms(b), 2);
}

/// The paper's table and figures again, beside what it says.
class AgmFigures {
 public:
  explicit AgmFigures(const ExperimentOptions& options) : options_(options) {}

  int run();

 private:
  bool measure(const Figure& figure);
  bool table2();
  bool figure4();
  bool injected_figures();
  /// Once more by daemons: without changes.
  [[nodiscard]] Status trial();

  const ExperimentOptions& options_;
  std::map<std::string_view, Outcome> outcomes_;  ///< Of the last figure, by version.
  std::string text_;
  Csv csv_{{"figure", "theta", "version", "broadcasts", "building-s", "adapting-s",
            "broadcasting-s", "total-s", "messages"}};
  Plot plot_;
};

bool AgmFigures::measure(const Figure& figure) {
  outcomes_.clear();
  for (const Version& version : kVersions) {
    Outcome outcome;
    if (!Course(figure, version).run(outcome)) return false;
    csv_.add({std::string(figure.name), std::to_string(figure.theta), std::string(version.name),
              std::to_string(figure.broadcasts), seconds(outcome.building),
              seconds(outcome.adapting), seconds(outcome.broadcasting()), seconds(outcome.total()),
              std::to_string(outcome.messages)});
    outcomes_.emplace(version.name, std::move(outcome));
  }
  return true;
}

bool AgmFigures::table2() {
  struct Published {
    std::size_t broadcasts;
    double mpich, magpie, better;
  };
  constexpr std::array kPublished = {Published{1, 4.93, 3.80, 22.92},
                                     Published{4, 6.95, 5.40, 22.30},
                                     Published{16, 15.88, 13.08, 17.63}};
  const Version mpich{"MPICH-like", 0, mpich_like};
  Table table({"broadcasts", "MPICH-like s", "published", "MagPIe-like s", "published", "better %",
               "published", "AGM s", "Phoenix' plan s"});
  for (const Published& row : kPublished) {
    const Figure figure{"table2", row.broadcasts, 0, {}};
    Outcome binomial;
    if (!measure(figure) || !Course(figure, mpich).run(binomial)) return false;
    csv_.add({"table2", "0", "MPICH-like", std::to_string(row.broadcasts), "0", "0",
              seconds(binomial.total()), seconds(binomial.total()), "0"});
    const Duration magpie = outcomes_.at("MagPIe-like").total();
    table.add({std::to_string(row.broadcasts), seconds(binomial.total()), spell_fixed(row.mpich, 2),
               seconds(magpie), spell_fixed(row.magpie, 2),
               spell_fixed(kHundred * (1 - to_ms(magpie) / to_ms(binomial.total())), 2),
               spell_fixed(row.better, 2), seconds(outcomes_.at("AGM").broadcasting()),
               seconds(outcomes_.at("Phoenix' plan").broadcasting())});
  }
  text_ +=
      "Table 2: time of broadcasts of 24 bytes from process 12; published: of the whole\n"
      "program. AGM: without building its tree.\n" +
      table.text();
  return true;
}

bool AgmFigures::figure4() {
  struct Published {
    std::size_t broadcasts;
    double share, better;
  };
  constexpr std::array kPublished = {Published{4, 90, 13}, Published{8, 82, 28},
                                     Published{16, 73, 15}};
  Table table({"broadcasts", "AGM building s", "AGM broadcasts s", "share of building %",
               "published", "MagPIe-like s", "AGM better without building %", "published"});
  for (const Published& row : kPublished) {
    if (!measure({"fig4", row.broadcasts, 0, {}})) return false;
    const Outcome& agm = outcomes_.at("AGM");
    const Duration magpie = outcomes_.at("MagPIe-like").broadcasting();
    table.add({std::to_string(row.broadcasts), seconds(agm.building), seconds(agm.broadcasting()),
               spell_fixed(kHundred * to_ms(agm.building) / to_ms(agm.total()), 0),
               spell_fixed(row.share, 0), seconds(magpie),
               spell_fixed(kHundred * (1 - to_ms(agm.broadcasting()) / to_ms(magpie)), 0),
               spell_fixed(row.better, 0)});
  }
  text_ += "\nFigure 4: no changes\n" + table.text();
  return true;
}

bool AgmFigures::injected_figures() {
  const std::array figures = {Figure{"fig5", 16, 10, changes({1, 1, 1, 1})},
                              Figure{"fig6", 16, 70, changes({1, 1, 1, 1})},
                              Figure{"fig7", 20, 0, changes({4, 8, 12, 16})}};
  constexpr std::array<std::string_view, 3> kSaid = {
      "published: broadcasts of AGM-adap 21 times shorter than of AGM, 85 times than of "
      "MagPIe-like;\nits total below MagPIe-like's",
      "published: (12,20) stays as it is; adapting and total are less than in figure 5",
      "published: broadcasts far shorter than MagPIe-like's; total of AGM-adap a little above it, "
      "of\nAGM-adapII below"};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (!measure(figures[i])) return false;
    Table table({"version", "building s", "adapting s", "broadcasts s", "total s", "messages",
                 "broadcasts / AGM-adap"});
    const Duration adapted = outcomes_.at("AGM-adap").broadcasting();
    for (const Version& version : kVersions) {
      const Outcome& outcome = outcomes_.at(version.name);
      table.add({std::string(version.name), seconds(outcome.building), seconds(outcome.adapting),
                 seconds(outcome.broadcasting()), seconds(outcome.total()),
                 std::to_string(outcome.messages), ratio(outcome.broadcasting(), adapted)});
    }
    text_ += "\nFigure " + std::to_string(5 + i) + ": " + std::to_string(figures[i].broadcasts) +
             " broadcasts, theta " + std::to_string(figures[i].theta) + " %\n" + table.text() +
             std::string(kSaid[i]) + "\n";
  }
  for (const Version& version : kVersions) {
    Plot::Line line{std::string(version.name), {}};
    for (const Duration time : outcomes_.at(version.name).broadcasts) {
      line.values.push_back(to_ms(time));
    }
    plot_.lines.push_back(std::move(line));
  }
  return true;
}

Status AgmFigures::trial() {
  std::vector<NamedTree> trees{{"MPICH-like", mpich_like()}};
  for (const Version& version : kVersions) {
    if (version.adapts_every > 0) continue;
    Outcome outcome;
    const Figure one{"trial", 1, 0, {}};
    Course course(one, version);
    if (!course.run(outcome)) return Error{ErrorCode::kAborted, "a tree was not found"};
    trees.emplace_back(version.name, course.tree());
  }
  const auto times = agm_trial(trees, options_.seed);
  if (!times.ok()) return times.error();
  Table table({"tree", "last receiver ms"});
  for (const auto& [name, time] : times.value()) {
    table.add({name, spell_fixed(to_ms(time), 1)});
    const std::string taken = spell_fixed(to_ms(time) / kMs, 4);
    csv_.add({"trial", "0", name, "1", "0", "0", taken, taken, "0"});
  }
  text_ += "\nReal daemons in the simulator, one broadcast\n" + table.text();
  return success();
}

int AgmFigures::run() {
  if (!table2() || !figure4() || !injected_figures()) {
    return fail("a tree was not found, or does not reach everybody");
  }
  if (const Status status = trial(); !status.ok()) return fail(status.error().what);
  constexpr double kLeastMs = 100;
  plot_.title = "AGM's figure 7: each broadcast while four channels change";
  plot_.across = "broadcast";
  plot_.up = "ms until all have it";
  plot_.least = kLeastMs;
  const std::string name = name_of_results("agm", options_);
  return show(options_, {name, text_, csv_.text(), {{name, plot_}}});
}

}  // namespace

int experiment_agm(const ExperimentOptions& options, Progress& /*progress*/) {
  return AgmFigures(options).run();
}

}  // namespace phx::app
