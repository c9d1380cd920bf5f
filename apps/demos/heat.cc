/// Heat on a plate: a Jacobi iteration over an image whose strips of rows are the vnodes.
/// Processors may come and go while it runs; the result is compared bit for bit with a run without
/// messages.
#include <phoenix.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/demos/demo.h"
#include "apps/demos/raster.h"

namespace {

using demos::Raster;
using Row = std::vector<double>;
enum : phx::Tag { kFromAbove, kFromBelow, kResult };

struct Settings {
  std::string input, output = "heat.png", until;
  std::size_t size = 512;  ///< Of the sample.
  std::uint64_t steps = 5000;
  double tolerance = 1e-6;
};

constexpr double kTellS = 1;  ///< Between two lines about how far it is.

/// One step for all cells but the outermost, which `next` gets as they are. Returns the greatest
/// change.
double relax(Raster& now, Raster& next) {
  double change = 0;
  next.width = now.width;
  next.height = now.height;
  next.cells.resize(now.cells.size());
  const auto row = static_cast<std::ptrdiff_t>(now.width);
  std::copy(now.cells.begin(), now.cells.begin() + row, next.cells.begin());
  std::copy(now.cells.end() - row, now.cells.end(), next.cells.end() - row);
  for (std::size_t y = 1; y + 1 < now.height; ++y) {
    next.at(0, y) = now.at(0, y);
    next.at(now.width - 1, y) = now.at(now.width - 1, y);
    for (std::size_t x = 1; x + 1 < now.width; ++x) {
      next.at(x, y) =
          0.25 * (now.at(x, y - 1) + now.at(x, y + 1) + now.at(x - 1, y) + now.at(x + 1, y));
      change = std::max(change, std::abs(next.at(x, y) - now.at(x, y)));
    }
  }
  std::swap(now, next);
  return change;
}

/// What one vnode has: its rows, between the last row of the strip above and the first below.
struct Strip {
  Raster now;
  std::uint64_t step = 0;
  Raster start;  ///< The whole plate, kept by vnode 0 to check the result.

  void state(auto& io) { io(now, step, start); }

  /// The `part`-th of `parts` strips of `plate`.
  void cut(const Raster& plate, std::uint64_t part, std::uint64_t parts) {
    const std::size_t begin = (plate.height - 2) * part / parts;
    const std::size_t end = (plate.height - 2) * (part + 1) / parts + 2;
    const auto row = [&](std::size_t y) {
      return plate.cells.begin() + std::ptrdiff_t(y * plate.width);
    };
    now = {plate.width, end - begin, Row(row(begin), row(end))};
    if (part == 0) start = plate;
  }
  [[nodiscard]] std::span<double> row(std::size_t y) { return {&now.at(0, y), now.width}; }
  [[nodiscard]] std::span<double> inner_rows() {
    return {&now.at(0, 1), now.width * (now.height - 2)};
  }
};

/// Collects the strips, checks them, and writes the image. The exit code of the program.
int report(phx::Session& job, Strip& strip, const Settings& settings, double change) {
  Raster result = strip.start;
  auto to = result.cells.begin() + std::ptrdiff_t(result.width);
  for (phx::Vnode v = 0; v < job.vnodes(); ++v) {
    const Row rows = job.recv<Row>({.at = 0, .from = v, .tag = kResult});
    to = std::copy(rows.begin(), rows.end(), to);
  }
  Raster next;
  double told_s = demos::clock_s();
  for (std::uint64_t step = 0; step < strip.step; ++step) {
    relax(strip.start, next);
    if (demos::clock_s() - told_s < kTellS) continue;
    told_s = demos::clock_s();
    demos::say("the same without messages: step %zu of %zu", std::size_t{step + 1},
               std::size_t{strip.step});
  }
  const bool is_equal = result == strip.start;
  demos::write_png(settings.output, result);
  demos::say("heat: %zu x %zu cells, %zu vnodes, %zu steps, last change %.2g: %s; see %s",
             result.width, result.height, std::size_t{job.vnodes()}, std::size_t{strip.step},
             change, is_equal ? "equal to the sequential run bit for bit" : "WRONG",
             settings.output.c_str());
  return is_equal ? 0 : 1;
}

Raster read_start(const Settings& settings, std::uint64_t vnodes) {
  const std::string path = settings.input.empty()
                               ? demos::write_sample(settings.output + ".start.pgm", settings.size)
                               : settings.input;
  Raster plate = demos::read_raster(path);
  if (plate.width >= 3 && plate.height >= vnodes + 2) return plate;
  throw std::runtime_error(path + " has too few rows for so many vnodes");
}

/// Each strip tells its neighbours what they need to know.
void send_rims(phx::Session& job, phx::Objects<Strip>& strips) {
  for (auto& [v, strip] : strips) {
    if (v > 0) job.send(v, v - 1, strip.row(1), kFromBelow);
    if (v + 1 < job.vnodes()) job.send(v, v + 1, strip.row(strip.now.height - 2), kFromAbove);
  }
}

void take_rims(phx::Session& job, phx::Objects<Strip>& strips) {
  for (auto& [v, strip] : strips) {
    const auto fill = [&, at = v](std::span<double> row, phx::Vnode from, phx::Tag tag) {
      std::ranges::copy(job.recv<Row>({.at = at, .from = from, .tag = tag}), row.begin());
    };
    if (v > 0) fill(strip.row(0), v - 1, kFromAbove);
    if (v + 1 < job.vnodes()) fill(strip.row(strip.now.height - 1), v + 1, kFromBelow);
    ++strip.step;
  }
}

/// Whether this was the last step; the same at all vnodes.
bool is_done(phx::Session& job, const Settings& settings, double change, std::uint64_t step) {
  if (settings.until.empty()) return change < settings.tolerance || step == settings.steps;
  return job.broadcast(0, [&] { return std::filesystem::exists(settings.until); });
}

int heat(phx::Session& job, const Settings& settings) {
  phx::Objects<Strip> strips(job);
  const phx::Vnode vnodes = job.vnodes();
  Raster next;
  double told_s = demos::clock_s();
  while (job.safe_point()) {
    if (strips.begin()->second.step == 0) {
      const Raster plate = job.broadcast(0, [&] { return read_start(settings, vnodes); });
      for (auto& [v, strip] : strips) strip.cut(plate, v, vnodes);
    }
    send_rims(job, strips);
    take_rims(job, strips);
    const double change =
        job.allreduce(phx::max, [&](phx::Vnode v) { return relax(strips[v].now, next); });
    const std::size_t step = strips.begin()->second.step;
    if (job.holds(0) && demos::clock_s() - told_s >= kTellS) {
      told_s = demos::clock_s();
      demos::say("step %zu: change %.2g", step, change);
    }
    if (is_done(job, settings, change, step)) {
      for (auto& [v, strip] : strips) job.send(v, 0, strip.inner_rows(), kResult);
      return job.holds(0) ? report(job, strips[0], settings, change) : 0;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  const phx::options::Program app("Heat on a plate, by a Jacobi iteration");
  app.add_option(
      "--input", settings.input,
      "PNG, PGM or ESRI ASCII grid (default: a sample, written beside the output as *.start.pgm)");
  app.add_option("-o,--output", settings.output,
                 "PNG of the final temperatures (default: heat.png)");
  app.add_option("--size", settings.size, "Cells per side of the sample")
      .check(phx::options::range(3, 8192))
      .capture_default_str();
  const auto steps = app.add_option("--steps", settings.steps, "Stop after so many")
                         .check(phx::options::range(std::size_t{1}, std::size_t{1} << 40U));
  const auto tolerance =
      app.add_option("--tolerance", settings.tolerance, "Stop when no cell changes by more")
          .check(demos::number_within(0, 1e9));
  app.add_option("--until", settings.until,
                 "Go on until this file exists where v0 is, and not for a number of steps")
      .excludes(steps)
      .excludes(tolerance);
  if (const auto code = demos::read_options(app, "heat", argc, argv)) return *code;
  return demos::run("heat", [&](phx::Session& job) { return heat(job, settings); });
}
