#include "apps/experiments/sim_costs.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"
#include "runtime/sim/costs.h"

namespace phx::app {
namespace {

nlohmann::json to_json(const sim::CostRow& row, std::uint32_t processors) {
  nlohmann::json kinds = nlohmann::json::object();
  for (const auto& [kind, count] : row.kinds) {
    kinds[std::string(kind)] = {{"messages", count.messages}, {"bytes", count.bytes}};
  }
  return {{"event", row.event},
          {"processors", processors},
          {"milliseconds", to_ms(row.time)},
          {"messages", row.all.messages},
          {"bytes", row.all.bytes},
          {"messages-max", row.busiest.messages},
          {"bytes-max", row.busiest.bytes},
          {"copies", row.copies},
          {"fallbacks", row.fallbacks},
          {"false-accusations", row.false_alarms},
          {"heap-each", row.heap},
          {"kinds", std::move(kinds)}};
}

int print_violations(const sim::CostReport& report) {
  for (const std::string& violation : report.violations) {
    std::fprintf(stderr, "violation: %s\n", violation.c_str());
  }
  return report.violations.empty() ? kOk : kFailed;
}

nlohmann::json to_json(const sim::CostReport& report, std::uint32_t processors) {
  nlohmann::json rows = nlohmann::json::array();
  for (const sim::CostRow& row : report.rows) rows.push_back(to_json(row, processors));
  return rows;
}

int print_costs(bool as_json, const sim::CostOptions& run, const sim::CostReport& report) {
  Table table({"event", "ms", "messages", "of one", "kB", "kB of one", "copies", "fallback %",
               "false alarms", "heap kB each"});
  constexpr double kKilo = 1000;
  for (const sim::CostRow& row : report.rows) {
    const auto copies = static_cast<double>(std::max<std::uint64_t>(row.copies, 1));
    table.add(
        {std::string(row.event), spell_fixed(to_ms(row.time), 0), std::to_string(row.all.messages),
         std::to_string(row.busiest.messages),
         spell_fixed(static_cast<double>(row.all.bytes) / kKilo, 1),
         spell_fixed(static_cast<double>(row.busiest.bytes) / kKilo, 1), std::to_string(row.copies),
         spell_fixed(100 * static_cast<double>(row.fallbacks) / copies, 0),
         std::to_string(row.false_alarms), spell_fixed(static_cast<double>(row.heap) / kKilo, 0)});
  }
  std::printf("%s", as_json ? (to_json(report, run.processors).dump(2) + "\n").c_str()
                            : table.text().c_str());
  return print_violations(report);
}

sim::CostOptions cost_options(std::uint32_t processors, std::uint64_t seed) {
  sim::CostOptions run;
  run.processors = processors;
  run.seed = seed;
  run.heap_in_use = [] { return std::uint64_t{mallinfo2().uordblks}; };
  // A large mesh takes minutes: who waits sees how far it is.
  run.on_row = [begun = std::chrono::steady_clock::now()](const sim::CostRow& row) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
    std::fprintf(stderr, "%7.1f s  %s: %.0f ms of virtual time\n", passed.count(),
                 std::string(row.event).c_str(), to_ms(row.time));
  };
  return run;
}

constexpr std::array<std::uint32_t, 4> kSizes = {16, 64, 256, 1024};

/// The table of runtime/README.md: per processor of the mesh, at four sizes.
Table table_of(const std::vector<sim::CostReport>& reports) {
  std::vector<std::string> titles = {"event"};
  for (const char* what : {"msg", "B", "most", "ms"}) {
    for (const std::uint32_t size : kSizes) titles.push_back(what + (" " + std::to_string(size)));
  }
  Table table(std::move(titles));
  for (std::size_t i = 0; i < reports.front().rows.size(); ++i) {
    std::vector<std::string> cells = {std::string(reports.front().rows[i].event)};
    const auto add = [&](auto figure) {
      for (std::size_t k = 0; k < kSizes.size(); ++k) {
        const std::vector<sim::CostRow>& rows = reports[k].rows;
        cells.push_back(i < rows.size() ? figure(rows[i], static_cast<double>(kSizes[k])) : "-");
      }
    };
    add([](const sim::CostRow& row, double n) {
      return spell_fixed(double(row.all.messages) / n, 1);
    });
    add([](const sim::CostRow& row, double n) {
      return spell_fixed(double(row.all.bytes) / n, 0);
    });
    add([](const sim::CostRow& row, double) { return std::to_string(row.busiest.messages); });
    add([](const sim::CostRow& row, double) { return spell_fixed(to_ms(row.time), 0); });
    table.add(std::move(cells));
  }
  return table;
}

int print_all_sizes(bool as_json, Progress& progress) {
  std::vector<sim::CostReport> reports;
  nlohmann::json rows = nlohmann::json::array();
  int code = kOk;
  for (const std::uint32_t size : kSizes) {
    progress.begin("what each event costs among " + std::to_string(size) + " processors");
    reports.push_back(sim::measure_costs(cost_options(size, 1)));
    for (nlohmann::json& row : to_json(reports.back(), size)) rows.push_back(std::move(row));
    if (print_violations(reports.back()) != kOk) code = kFailed;
  }
  std::printf("%s", as_json ? (rows.dump(2) + "\n").c_str() : table_of(reports).text().c_str());
  return code;
}

}  // namespace

int run_costs(const CostRun& run) {
  Progress progress;
  progress.begin("what each event costs");
  if (run.processors == 0) return print_all_sizes(run.json, progress);
  const sim::CostOptions options = cost_options(run.processors, run.seed);
  return print_costs(run.json, options, sim::measure_costs(options));
}

int run_mesh(const CostRun& run) {
  constexpr std::uint32_t kProcessors = 1000;
  constexpr std::uint32_t kChanges = 100;
  const sim::CostOptions options =
      cost_options(run.processors == 0 ? kProcessors : run.processors, run.seed);
  Progress progress;
  progress.begin("a mesh of " + std::to_string(options.processors) + " processors");
  return print_costs(run.json, options,
                     sim::measure_mesh(options, std::min(kChanges, options.processors / 4)));
}

}  // namespace phx::app
