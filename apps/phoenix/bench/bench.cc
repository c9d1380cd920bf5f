#include "apps/phoenix/bench/bench.h"

#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/phoenix/bench/verbs.h"
#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/texts/table.h"

namespace phx::app {
namespace {

using nlohmann::json;
using Unit = Figure::Unit;

struct BenchOptions {
  std::string only;
  bool json = false;
};

std::string number(double value, const char* format = "%.3g") {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// The unit in which `value` reads best, and how many of the basic one it is.
std::pair<double, const char*> scale_of(Unit unit, double value) {
  switch (unit) {
    case Unit::kSeconds:
      if (value < 1e-3) return {1e-6, "us"};
      return value < 1 ? std::pair{1e-3, "ms"} : std::pair{1.0, "s"};
    case Unit::kBytesPerSecond:
      return {1e6, "MB/s"};
    case Unit::kPerSecond:
      return {1e3, "1000/s"};
    case Unit::kBytes:
      return {1e6, "MB"};
    case Unit::kPercent:
      return {1.0, "% of 1 CPU"};
    case Unit::kCount:
      return {1.0, ""};
  }
  return {1.0, ""};
}

std::string wanted(const Figure& figure) {
  const double scale = figure.compared ? 1.0 : scale_of(figure.unit, figure.value).first;
  const char* times = figure.compared ? " x" : "";
  std::string text;
  if (figure.at_most) text = "<= " + number(*figure.at_most / scale) + times;
  if (figure.at_least) text = ">= " + number(*figure.at_least / scale) + times;
  if (const auto met = figure.is_met(); met && !*met) text += " (missed)";
  return text;
}

void add_row(Table& table, const Figure& figure) {
  const auto [scale, unit] = scale_of(figure.unit, figure.value);
  const auto ratio = figure.ratio();
  table.add({figure.what, number(figure.value / scale), unit,
             figure.compared ? number(*figure.compared / scale) : "", ratio ? number(*ratio) : "",
             wanted(figure)});
}

json to_json(const char* name, const Figure& figure) {
  static constexpr std::array kUnits = {"s", "B/s", "1/s", "B", "%", "1"};
  json result = {{"case", name},
                 {"what", figure.what},
                 {"value", figure.value},
                 {"unit", kUnits.at(static_cast<std::size_t>(figure.unit))}};
  if (figure.compared) result["plain_tcp"] = *figure.compared;
  if (const auto ratio = figure.ratio()) result["ratio"] = *ratio;
  if (figure.at_most) result["at_most"] = *figure.at_most;
  if (figure.at_least) result["at_least"] = *figure.at_least;
  if (const auto met = figure.is_met()) result["met"] = *met;
  return result;
}

int bench(const BenchOptions& options) {
  json list = json::array();
  Table table({"FIGURE", "VALUE", "UNIT", "PLAIN TCP", "RATIO", "WANTED"});
  int code = kOk;
  const Interrupts interrupts;
  Progress progress;
  for (const BenchCase& one : bench_cases()) {
    if (!options.only.empty() && options.only != one.name) continue;
    std::fprintf(stderr, "measuring %s ...\n", one.what);
    progress.begin(one.what);
    const auto figures = one.measure();
    if (!figures.ok()) {
      const Error& error = figures.error();
      code = fail_bench({error.code, std::string(one.name) + ": " + error.what});
      if (code == kInterrupted) break;
      continue;
    }
    for (const Figure& figure : figures.value()) {
      add_row(table, figure);
      list.push_back(to_json(one.name, figure));
    }
  }
  std::fputs(options.json ? (list.dump(2) + "\n").c_str() : table.text().c_str(), stdout);
  return code;
}

}  // namespace

std::optional<double> Figure::ratio() const {
  if (!compared || *compared == 0) return std::nullopt;
  return value / *compared;
}

std::optional<bool> Figure::is_met() const {
  const double judged = ratio().value_or(value);
  if (at_most) return judged <= *at_most;
  if (at_least) return judged >= *at_least;
  return std::nullopt;
}

void add_bench(const options::Parser& tool, Action& chosen) {
  auto options = std::make_shared<BenchOptions>();
  const options::Parser verb = tool.add_subcommand("bench", "Measure this build on this machine");
  std::string names;
  for (const BenchCase& one : bench_cases()) {
    names += std::string(names.empty() ? "" : ", ") + one.name;
  }
  verb.add_option("--only", options->only, "One group of figures: " + names)
      .check([names](const std::string& name) {
        for (const BenchCase& one : bench_cases()) {
          if (name == one.name) return std::string();
        }
        return "there is no '" + name + "'; there are " + names;
      });
  verb.add_flag("--json", options->json, "Machine-readable result, in seconds and bytes");
  verb.footer(
      "Starts private meshes on this machine and ends them; takes about a minute. Plain TCP is\n"
      "measured in turn with the runtime, between the same two processes: so ratios of one run\n"
      "can be compared. Other work on the machine moves them all the same, by more than a factor\n"
      "of two, because it hits plain TCP and four processes differently: use a quiet machine.\n\n"
      "WANTED is what the project wants to reach; (missed): this run has not. Ctrl-C ends the\n"
      "measurement; what was measured before is printed.");
  add_bench_sweeps(verb, chosen);
  add_bench_drain(verb, chosen);
  add_bench_redistribution(verb, chosen);
  add_bench_round(verb, chosen);
  verb.callback([options, verb, &chosen] {
    const auto narrower = verb.chosen_subcommands();
    if (narrower.empty()) {
      chosen = [options] { return bench(*options); };
      return;
    }
    // They have a --json of their own.
    for (const char* option : {"--only", "--json"}) {
      if (verb.count(option) == 0) continue;
      const std::string name = narrower.front();
      chosen = [option, name] {
        return fail(std::string(option) + " before " + name + " would be lost; see phoenix bench " +
                        name + " --help",
                    kUsage);
      };
    }
  });
}

}  // namespace phx::app
