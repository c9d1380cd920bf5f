#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/phoenix/bench/bench.h"
#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/base/median.h"

namespace phx::app {
namespace {

constexpr std::uint64_t kLocalDaemons = 16;
constexpr const char* kAllreduce = "allreduce";

struct SweepOptions {
  std::string operation;
  std::string mesh;  ///< Empty: one is made.
  std::uint64_t vnodes = 0;
  std::vector<std::string> sizes = {"1", "1K", "64K", "256K", "1M", "4M"};
  std::vector<std::uint64_t> roots = {0};
  int rounds = 10;
  double pause_ms = 100;
  bool ordered = false;
  bool json = false;
};

template <class T>
std::string joined(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

std::string spell_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 100 ? "%.2f" : "%.0f", value);
  return text.data();
}

Result<std::uint64_t> members_of(const std::string& mesh) {
  auto session = connect(mesh);
  if (!session.ok()) return session.error();
  const auto status = ask_status(session.value(), /*ask_all=*/false);
  if (!status.ok()) return status.error();
  return std::uint64_t{status.value().view.members.size()};
}

/// A private mesh has a daemon for each process; one that runs must have as many processors.
Result<std::uint64_t> vnodes_of(const SweepOptions& options) {
  if (options.mesh.empty()) return options.vnodes == 0 ? kLocalDaemons : options.vnodes;
  const auto members = members_of(options.mesh);
  if (!members.ok()) return members.error();
  if (options.vnodes == 0) return members.value();
  if (options.vnodes <= members.value()) return options.vnodes;
  return Error{ErrorCode::kBadInput, "-n " + std::to_string(options.vnodes) + ": the mesh '" +
                                         options.mesh + "' has only " +
                                         counted(members.value(), "processor")};
}

bool is_among(std::span<const std::uint64_t> values, std::uint64_t value) {
  return std::ranges::find(values, value) != values.end();
}

Result<std::vector<std::uint64_t>> sizes_of(const SweepOptions& options) {
  std::vector<std::uint64_t> sizes;
  for (const std::string& size : options.sizes) {
    const auto bytes = parse_size(size);
    if (!bytes) {
      return Error{ErrorCode::kBadInput, "not a size like 100, 64K or 4M (at most 1024M): " + size};
    }
    if (options.ordered && *bytes % sizeof(double) != 0) {
      return Error{ErrorCode::kBadInput,
                   "--ordered sums doubles of 8 bytes, and --bytes " + size + " is no multiple"};
    }
    if (is_among(sizes, *bytes)) {
      return Error{ErrorCode::kBadInput, "--bytes: " + size + " is there twice"};
    }
    sizes.push_back(*bytes);
  }
  return sizes;
}

/// What can be known before anything runs.
Status check_roots(const SweepOptions& options, std::uint64_t vnodes) {
  for (std::size_t i = 0; i < options.roots.size(); ++i) {
    const std::uint64_t root = options.roots[i];
    if (root >= vnodes) {
      return Error{ErrorCode::kBadInput, "--roots " + std::to_string(root) +
                                             ": the vnodes are 0 to " + std::to_string(vnodes - 1)};
    }
    if (is_among(std::span(options.roots).first(i), root)) {
      return Error{ErrorCode::kBadInput, "--roots: " + std::to_string(root) + " is there twice"};
    }
  }
  return success();
}

/// What there is if something fails is in `said`.
Status measure(const SweepOptions& options, const std::vector<std::uint64_t>& sizes,
               std::uint64_t vnodes, Said& said) {
  std::vector<std::string> arguments = {"sweep",
                                        options.operation,
                                        "--bytes=" + joined(sizes),
                                        "--roots=" + joined(options.roots),
                                        "--rounds=" + std::to_string(options.rounds),
                                        "--pause=" + std::to_string(options.pause_ms / 1e3)};
  if (options.ordered) arguments.emplace_back("--ordered");
  Progress progress;
  progress.begin("the first " + options.operation);
  const auto keep = [&](const std::string& name, double value) {
    said[name].push_back(value);
    progress.begin(name + ", round " + std::to_string(said[name].size()) + " of " +
                   std::to_string(options.rounds));
  };
  if (!options.mesh.empty()) {
    const auto all = run_bench_in(options.mesh, vnodes, arguments, false, keep);
    return all.ok() ? success() : all.error();
  }
  const auto mesh = BenchMesh::start(static_cast<std::uint32_t>(vnodes));
  if (!mesh.ok()) return mesh.error();
  if (const Status learned = bench_pause(kBenchLearnTime); !learned.ok()) return learned;
  const auto all = run_bench_in(mesh.value().name(), vnodes, arguments, false, keep);
  return all.ok() ? success() : all.error();
}

/// A line of the table for each root and size.
class SweepReport {
 public:
  SweepReport(const SweepOptions& options, const Said& said)
      : options_(options), said_(said), has_chain_(std::ranges::any_of(said, [](const auto& one) {
          return one.first.ends_with("/chain");
        })) {}

  /// Nothing if not all of it was said.
  void add(std::uint64_t bytes, std::uint64_t root) {
    const std::string name =
        options_.operation + "/" + std::to_string(bytes) + "/" + std::to_string(root);
    std::vector<double> times = times_of(name);
    const std::vector<double> ordered = times_of(name + "/ordered");
    const std::vector<double> chain = times_of(name + "/chain");
    if (times.empty() || (options_.ordered && ordered.empty())) return;
    if (has_chain_ && chain.empty()) return;
    std::sort(times.begin(), times.end());
    const double middle = median(times);
    std::vector<std::string> cells{
        std::to_string(bytes), std::to_string(root),
        in_ms(times.front()),  in_ms(middle),
        in_ms(times.back()),   spell_number(static_cast<double>(bytes) / middle / 1e6)};
    nlohmann::json entry = {{"operation", options_.operation},
                            {"bytes", bytes},
                            {"root", root},
                            {"median", middle},
                            {"times", times}};
    if (options_.operation == kAllreduce) {  // Nobody is its root.
      cells[1] = "-";
      entry.erase("root");
    }
    if (options_.ordered) {
      cells.push_back(spell_number(median(ordered) / middle));
      entry["ordered_times"] = ordered;
    }
    if (has_chain_) {
      cells.push_back(in_ms(median(chain)));
      cells.push_back(spell_number(median(chain) / middle));
      entry["chain_times"] = chain;
    }
    rows_.push_back(std::move(cells));
    list_.push_back(std::move(entry));
  }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  void print() const {
    std::vector<std::string> titles{"BYTES", "ROOT", "LEAST MS", "MEDIAN MS", "MOST MS", "MB/S"};
    if (options_.ordered) titles.emplace_back("ORDERED / IT");
    // Within a machine: what a chain of plain TCP takes, in turn with it.
    if (has_chain_) titles.insert(titles.end(), {"CHAIN MS", "CHAIN / IT"});
    Table table(std::move(titles));
    for (const std::vector<std::string>& row : rows_) table.add(row);
    std::fputs(options_.json ? (list_.dump(2) + "\n").c_str() : table.text().c_str(), stdout);
  }

 private:
  static std::string in_ms(double seconds) { return spell_number(1e3 * seconds); }
  [[nodiscard]] std::vector<double> times_of(const std::string& name) const {
    const auto found = said_.find(name);
    return found == said_.end() ? std::vector<double>() : found->second;
  }

  const SweepOptions& options_;
  const Said& said_;
  bool has_chain_;
  std::vector<std::vector<std::string>> rows_;
  nlohmann::json list_ = nlohmann::json::array();
};

int sweep(const SweepOptions& options) {
  const auto sizes = sizes_of(options);
  if (!sizes.ok()) return fail(sizes.error());
  const auto vnodes = vnodes_of(options);
  if (!vnodes.ok()) return fail(vnodes.error());
  if (const Status wrong = check_roots(options, vnodes.value()); !wrong.ok()) {
    return fail(wrong.error());
  }
  const Interrupts interrupts;
  Said said;
  const Status status = measure(options, sizes.value(), vnodes.value(), said);
  SweepReport report(options, said);
  for (const std::uint64_t root : options.roots) {
    for (const std::uint64_t bytes : sizes.value()) report.add(bytes, root);
  }
  if (status.ok() || report.size() > 0) report.print();
  if (!status.ok()) return fail_bench(status.error());
  const bool is_complete = report.size() == options.roots.size() * sizes.value().size();
  return is_complete ? kOk : fail("the job has not said all figures");
}

void add_sweep(const options::Parser& bench, Action& chosen, const char* name, const char* what) {
  auto options = std::make_shared<SweepOptions>();
  options->operation = name;
  const options::Parser verb = bench.add_subcommand(name, what);
  verb.add_option("--mesh", options->mesh,
                  "On this mesh, which runs (default: a private one of 16 daemons)");
  verb.add_option("-n", options->vnodes, "So many processes (default: one per processor)")
      .check(options::range(std::uint32_t{1}, kLocalMost));
  const auto sizes = verb.add_option("--bytes", options->sizes, "Sizes: 100, 64K, 4M");
  sizes.delimiter(',');
  if (options->operation != kAllreduce) {
    verb.add_option("--roots", options->roots, "Vnodes that send or get the result, each in turn")
        .delimiter(',');
  }
  verb.add_option("--rounds", options->rounds, "So often each, after two uncounted ones")
      .check(options::range(1, 100000))
      .capture_default_str();
  verb.add_option("--pause", options->pause_ms,
                  "Milliseconds before each; longer than any message takes")
      .check(options::range(0.0, 1e5))
      .capture_default_str();
  if (options->operation != "bcast") {
    verb.add_flag("--ordered", options->ordered,
                  "Also sums of doubles with the same bits in any order, in turn: how many times "
                  "as long they take; sizes are multiples of 8 bytes");
  }
  verb.add_flag("--json", options->json, "Machine-readable result, in seconds");
  verb.footer(
      "From the root's call, after it has woken up (reductions: from a common beginning, at which\n"
      "all wake up), until the last process that gets the result has it. Clocks of several\n"
      "machines are compared first. Beside broadcasts within a machine: a chain of plain TCP\n"
      "through the same processes, in turn, and median / median; from its first process's call,\n"
      "while the others wait for bytes.");
  verb.callback([options, sizes, &chosen] {
    const bool is_chosen = sizes.count() > 0;
    if (options->ordered && !is_chosen) options->sizes.front() = "8";  // one double
    chosen = [options] { return sweep(*options); };
  });
}

}  // namespace

void add_bench_sweeps(const options::Parser& bench, Action& chosen) {
  add_sweep(bench, chosen, "bcast", "Time broadcasts on a mesh, from each root and size");
  add_sweep(bench, chosen, "reduce", "Time reductions (sums) on a mesh, to each root and size");
  add_sweep(bench, chosen, kAllreduce, "Time reductions whose result all get, of each size");
}

}  // namespace phx::app
