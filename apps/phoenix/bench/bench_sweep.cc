#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/phoenix/bench/bench.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"

namespace phx::app {
namespace {

constexpr std::uint64_t kLocalDaemons = 16;

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

double sorted_median(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
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
    sizes.push_back(*bytes);
  }
  return sizes;
}

/// What can be known before anything runs.
Status check_roots(const SweepOptions& options, std::uint64_t vnodes) {
  for (const std::uint64_t root : options.roots) {
    if (root < vnodes) continue;
    return Error{ErrorCode::kBadInput, "--roots " + std::to_string(root) +
                                           ": the vnodes are 0 to " + std::to_string(vnodes - 1)};
  }
  return success();
}

Result<Said> measure(const SweepOptions& options, const std::vector<std::uint64_t>& sizes,
                     std::uint64_t vnodes) {
  std::vector<std::string> arguments = {"sweep",
                                        options.operation,
                                        "--bytes=" + joined(sizes),
                                        "--roots=" + joined(options.roots),
                                        "--rounds=" + std::to_string(options.rounds),
                                        "--pause=" + std::to_string(options.pause_ms / 1e3)};
  if (options.ordered) arguments.emplace_back("--ordered");
  if (!options.mesh.empty()) return run_bench_in(options.mesh, vnodes, arguments, false);
  const auto mesh = BenchMesh::start(static_cast<std::uint32_t>(vnodes));
  if (!mesh.ok()) return mesh.error();
  std::this_thread::sleep_for(kBenchLearnTime);
  return mesh.value().run(vnodes, arguments, false);
}

int sweep(const SweepOptions& options) {
  const auto sizes = sizes_of(options);
  if (!sizes.ok()) return fail(sizes.error());
  const auto vnodes = vnodes_of(options);
  if (!vnodes.ok()) return fail(vnodes.error());
  const Status status = check_roots(options, vnodes.value());
  if (!status.ok()) return fail(status.error());
  auto said = measure(options, sizes.value(), vnodes.value());
  if (!said.ok()) return fail(said.error().what);
  std::vector<std::string> titles{"BYTES", "ROOT", "LEAST MS", "MEDIAN MS", "MOST MS", "MB/S"};
  if (options.ordered) titles.emplace_back("ORDERED / IT");
  // Within a machine: what a chain of plain TCP takes, in turn with it.
  const bool has_chain = std::ranges::any_of(
      said.value(), [](const auto& one) { return one.first.ends_with("/chain"); });
  if (has_chain) titles.insert(titles.end(), {"CHAIN MS", "CHAIN / IT"});
  Table table(std::move(titles));
  nlohmann::json list = nlohmann::json::array();
  constexpr double kMillisecond = 1e-3;
  for (const std::uint64_t root : options.roots) {
    for (const std::uint64_t bytes : sizes.value()) {
      const std::string name =
          options.operation + "/" + std::to_string(bytes) + "/" + std::to_string(root);
      std::vector<double>& times = said.value()[name];
      if (times.empty()) return fail("nothing was said of " + name);
      const double median = sorted_median(times);
      std::vector<std::string> cells{std::to_string(bytes),
                                     std::to_string(root),
                                     spell_number(times.front() / kMillisecond),
                                     spell_number(median / kMillisecond),
                                     spell_number(times.back() / kMillisecond),
                                     spell_number(static_cast<double>(bytes) / median / 1e6)};
      nlohmann::json entry = {{"operation", options.operation},
                              {"bytes", bytes},
                              {"root", root},
                              {"median", median},
                              {"times", times}};
      if (options.ordered) {
        std::vector<double>& ordered = said.value()[name + "/ordered"];
        if (ordered.empty()) return fail("nothing was said of " + name + ", ordered");
        cells.push_back(spell_number(sorted_median(ordered) / median));
        entry["ordered_times"] = ordered;
      }
      if (has_chain) {
        std::vector<double>& chain = said.value()[name + "/chain"];
        if (chain.empty()) return fail("nothing was said of " + name + ", along a chain");
        const double plain = sorted_median(chain);
        cells.push_back(spell_number(plain / kMillisecond));
        cells.push_back(spell_number(plain / median));
        entry["chain_times"] = chain;
      }
      table.add(std::move(cells));
      list.push_back(std::move(entry));
    }
  }
  std::fputs(options.json ? (list.dump(2) + "\n").c_str() : table.text().c_str(), stdout);
  return kOk;
}

void add_sweep(CLI::App& bench, Action& chosen, const char* name, const char* what) {
  auto options = std::make_shared<SweepOptions>();
  options->operation = name;
  CLI::App* verb = bench.add_subcommand(name, what);
  verb->add_option("--mesh", options->mesh,
                   "On this mesh, which runs (default: a private one of 16 daemons)");
  verb->add_option("-n", options->vnodes, "So many processes (default: one per processor)")
      ->check(CLI::Range(std::uint32_t{1}, kLocalMost));
  auto* sizes = verb->add_option("--bytes", options->sizes, "Sizes: 100, 64K, 4M");
  sizes->delimiter(',');
  verb->add_option("--roots", options->roots, "Vnodes that send or get the result, each in turn")
      ->delimiter(',');
  verb->add_option("--rounds", options->rounds, "So often each, after two uncounted ones")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  verb->add_option("--pause", options->pause_ms,
                   "Milliseconds before each; longer than any message takes")
      ->check(CLI::Range(0.0, 1e5))
      ->capture_default_str();
  if (options->operation != "bcast") {
    verb->add_flag("--ordered", options->ordered,
                   "Also sums of doubles with the same bits in any order, in turn: how many times "
                   "as long they take; sizes are multiples of 8 bytes");
  }
  verb->add_flag("--json", options->json, "Machine-readable result, in seconds");
  verb->footer(
      "From the root's call (reductions: from a common beginning) until the last process that "
      "gets\n"
      "the result has it. Clocks of several machines are compared first. Beside broadcasts within\n"
      "a machine: a chain of plain TCP through the same processes, in turn, and median / median.");
  verb->callback([options, sizes, &chosen] {
    const bool is_chosen = sizes->count() > 0;
    if (options->ordered && !is_chosen) options->sizes.front() = "8";  // one double
    chosen = [options] { return sweep(*options); };
  });
}

}  // namespace

void add_bench_sweeps(CLI::App& bench, Action& chosen) {
  add_sweep(bench, chosen, "bcast", "Time broadcasts on a mesh, from each root and size");
  add_sweep(bench, chosen, "reduce", "Time reductions (sums) on a mesh, to each root and size");
  add_sweep(bench, chosen, "allreduce", "Time reductions whose result all get, of each size");
}

}  // namespace phx::app
