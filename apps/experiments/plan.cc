#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/experiments/experiments.h"
#include "apps/experiments/networks.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/csv.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/planners/planners.h"
#include "runtime/sim/plan_run.h"

namespace phx::app {
namespace {

std::string number(double value) {
  constexpr double kFew = 100;
  return spell_fixed(value, value < kFew ? 2 : 0);
}

/// One plan in the network.
struct Entry {
  planners::Plan plan;
  sim::PlanOutcome outcome;
};

double arrival_ms(const Entry& entry, ProcessorId processor) {
  const auto arrival = entry.outcome.arrivals.find(processor);
  const bool has_it = arrival == entry.outcome.arrivals.end();  // from the beginning
  return has_it ? 0 : to_ms(arrival->second);
}

/// Everything that one command line asks for.
class Comparison {
 public:
  Comparison(const PlanOptions& options, overlay::Topology topology,
             std::vector<std::uint64_t> sizes)
      : options_(options),
        topology_(std::move(topology)),
        sizes_(std::move(sizes)),
        placing_(options.shuffle ? overlay::placed_at_random(topology_, *options.shuffle)
                                 : overlay::placed_by_site(topology_)),
        network_(overlay::known_network(topology_, placing_)) {}

  int run();

 private:
  [[nodiscard]] std::vector<std::string> algorithms() const;
  [[nodiscard]] Result<Entry> make(const std::string& algorithm, std::uint64_t bytes) const;
  /// Of a plan that is too much work for so many processors, and that nobody has asked for.
  [[nodiscard]] bool is_left_out(const Error& error) const {
    return error.code == ErrorCode::kLimit && options_.algorithms.empty();
  }
  /// Says on stderr which these are.
  void tell_left_out() const;
  [[nodiscard]] Duration bound(std::uint64_t bytes) const;
  [[nodiscard]] std::string cell(std::uint64_t bytes, Duration last) const;
  /// Bytes sent x processors / time.
  [[nodiscard]] double megabytes_per_second(std::uint64_t bytes, Duration last) const;
  [[nodiscard]] nlohmann::json to_json(const Entry& entry) const;
  int print_table() const;
  int print_arrivals() const;
  int print_json() const;

  const PlanOptions& options_;
  /// Some plans of long messages take minutes.
  mutable Progress progress_;
  mutable std::map<std::string, std::string> left_out_;  ///< Plans, and why.
  overlay::Topology topology_;
  std::vector<std::uint64_t> sizes_;
  overlay::Placing placing_;
  overlay::KnownNetwork network_;
};

std::vector<std::string> Comparison::algorithms() const {
  if (!options_.algorithms.empty()) return options_.algorithms;
  std::vector<std::string> all;
  for (const planners::Planner& planner : planners::all_planners()) all.emplace_back(planner.name);
  return all;
}

Result<Entry> Comparison::make(const std::string& algorithm, std::uint64_t bytes) const {
  progress_.begin(algorithm + " of " + spell_bytes(bytes));
  auto plan = planners::plan(algorithm, network_, ProcessorId{options_.root}, bytes);
  if (!plan.ok()) {
    if (is_left_out(plan.error())) left_out_.try_emplace(algorithm, plan.error().what);
    return plan.error();
  }
  Entry entry{std::move(plan).value(), {}};
  entry.outcome = options_.reduce ? sim::run_reduction(entry.plan, topology_, placing_)
                                  : sim::run_broadcast(entry.plan, topology_, placing_);
  return entry;
}

Duration Comparison::bound(std::uint64_t bytes) const {
  const planners::Costs costs(network_);
  return planners::lower_bound({costs, *costs.position(ProcessorId{options_.root}), bytes});
}

double Comparison::megabytes_per_second(std::uint64_t bytes, Duration last) const {
  constexpr double kMicroseconds = 1000;  // of a millisecond
  const double processors = static_cast<double>(placing_.size());
  return static_cast<double>(bytes) * processors / (to_ms(last) * kMicroseconds);
}

std::string Comparison::cell(std::uint64_t bytes, Duration last) const {
  return number(options_.bandwidth ? megabytes_per_second(bytes, last) : to_ms(last));
}

int Comparison::print_table() const {
  std::vector<std::string> titles{"plan"};
  titles.insert(titles.end(), options_.sizes.begin(), options_.sizes.end());
  Table table(std::move(titles));
  std::vector<std::string> bounds{options_.bandwidth ? "upper bound" : "lower bound"};
  for (const std::uint64_t bytes : sizes_) bounds.push_back(cell(bytes, bound(bytes)));
  table.add(std::move(bounds));
  for (const std::string& algorithm : algorithms()) {
    std::vector<std::string> cells{algorithm};
    for (const std::uint64_t bytes : sizes_) {
      const auto entry = make(algorithm, bytes);
      if (!entry.ok() && !is_left_out(entry.error())) return fail(entry.error().what, kUsage);
      if (!entry.ok()) {
        cells.emplace_back("-");
        continue;
      }
      cells.push_back(cell(bytes, entry.value().outcome.last()));
    }
    table.add(std::move(cells));
  }
  std::printf("%s, root p%u, %s of the last %s\n%s", counted(placing_.size(), "processor").c_str(),
              options_.root, options_.bandwidth ? "MB/s (bytes x processors / time)" : "ms",
              options_.reduce ? "contribution at the root" : "receiver", table.text().c_str());
  tell_left_out();
  return kOk;
}

void Comparison::tell_left_out() const {
  for (const auto& [algorithm, why] : left_out_) {
    std::fprintf(stderr, "phoenix: left out: %s\n", why.c_str());
  }
}

int Comparison::print_arrivals() const {
  const std::vector<std::string> names = algorithms();
  std::vector<Entry> entries;
  std::vector<std::string> fields{"processor", "site"};
  for (const std::string& algorithm : names) {
    auto entry = make(algorithm, sizes_.front());
    if (!entry.ok() && is_left_out(entry.error())) continue;
    if (!entry.ok()) return fail(entry.error().what, kUsage);
    entries.push_back(std::move(entry).value());
    fields.push_back(algorithm);
  }
  Csv csv(fields);
  for (std::size_t i = 0; i < placing_.size(); ++i) {
    const ProcessorId processor{static_cast<std::uint32_t>(i + 1)};
    fields = {to_string(processor), topology_.sites[placing_[i]].name};
    for (const Entry& entry : entries) {
      fields.push_back(std::to_string(arrival_ms(entry, processor)));
    }
    csv.add(fields);
  }
  std::printf("%s", csv.text().c_str());
  tell_left_out();
  return kOk;
}

nlohmann::json Comparison::to_json(const Entry& entry) const {
  const planners::PlanTrees trees = planners::trees_of(entry.plan);
  const planners::TreeShape shape = planners::shape_of(trees.trees.front(), entry.plan.root);
  const Duration last = entry.outcome.last();
  nlohmann::json row = {{"plan", entry.plan.algorithm},
                        {"bytes", entry.plan.bytes},
                        {"root", entry.plan.root.value},
                        {"processors", placing_.size()},
                        {"last-ms", to_ms(last)},
                        {"mean-ms", to_ms(entry.outcome.mean())},
                        {"bound-ms", to_ms(bound(entry.plan.bytes))},
                        {"megabytes-per-second", megabytes_per_second(entry.plan.bytes, last)},
                        {"trees", trees.trees.size()},
                        {"segment", trees.segment_bytes},
                        {"depth", shape.depth},
                        {"degree", shape.degree},
                        {"messages", entry.outcome.messages},
                        {"messages-between-sites", entry.outcome.crossings}};
  if (!options_.arrivals) return row;
  for (std::size_t i = 0; i < placing_.size(); ++i) {
    const ProcessorId processor{static_cast<std::uint32_t>(i + 1)};
    row["arrivals-ms"].push_back({{"processor", processor.value},
                                  {"site", topology_.sites[placing_[i]].name},
                                  {"ms", arrival_ms(entry, processor)}});
  }
  return row;
}

int Comparison::print_json() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const std::string& algorithm : algorithms()) {
    for (const std::uint64_t bytes : sizes_) {
      const auto entry = make(algorithm, bytes);
      if (!entry.ok() && is_left_out(entry.error())) continue;
      if (!entry.ok()) return fail(entry.error().what, kUsage);
      rows.push_back(to_json(entry.value()));
    }
  }
  std::printf("%s\n", rows.dump(2).c_str());
  tell_left_out();
  return kOk;
}

int Comparison::run() {
  if (options_.root == 0 || options_.root > placing_.size()) {
    return fail("there is no p" + std::to_string(options_.root) + " among " +
                    counted(placing_.size(), "processor"),
                kUsage);
  }
  if (options_.bandwidth && placing_.size() < 2) {
    return fail("--bandwidth: in a network of one processor there is nobody to send to", kUsage);
  }
  if (options_.json) return print_json();
  return options_.arrivals ? print_arrivals() : print_table();
}

}  // namespace

int plan(const PlanOptions& options) {
  auto topology = read_topology(options.topology);
  if (!topology.ok()) return fail(topology.error().what, kUsage);
  std::vector<std::uint64_t> sizes;
  for (const std::string& size : options.sizes) {
    const auto bytes = parse_size(size);
    if (!bytes) return fail("not a size like 100, 64K or 4M (at most 1024M): " + size, kUsage);
    sizes.push_back(*bytes);
  }
  return Comparison(options, std::move(topology).value(), std::move(sizes)).run();
}

}  // namespace phx::app
