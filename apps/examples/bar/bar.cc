// The heat in a bar whose ends are kept at 0 and 1, in step: each vnode has a part of the bar, sends
// its outermost cells to its neighbours, and computes the next step. In the end the heat rises
// evenly from one end to the other.
#include <phoenix.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t kCells = 240;  // Of the whole bar.
enum : phx::Tag { kFromLeft, kFromRight };

struct Part {
  std::vector<double> cells;
  double change = 1;
  void state(auto& io) { io(cells, change); }  // What goes along when the part moves.

  void step(double left, double right) {
    change = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const double after = i + 1 < cells.size() ? cells[i + 1] : right;
      const double old = std::exchange(cells[i], (left + 2 * cells[i] + after) / 4);
      change = std::max(change, std::abs(cells[i] - old));
      left = old;
    }
  }
};

}  // namespace

int main() {
  phx::Session job;
  const phx::Vnode last = job.vnodes() - 1;
  const auto begin_of = [&](phx::Vnode v) { return kCells * v / job.vnodes(); };
  phx::Objects<Part> parts(job, [&](phx::Vnode v) {
    return Part{std::vector<double>(begin_of(v + 1) - begin_of(v))};
  });
  while (job.safe_point()) {  // Parts come and go here.
    for (auto& [v, part] : parts) {
      if (v > 0) job.send(v, v - 1, part.cells.front(), kFromRight);
      if (v < last) job.send(v, v + 1, part.cells.back(), kFromLeft);
    }
    for (auto& [v, part] : parts) {
      const double left = v > 0 ? job.recv<double>({.at = v, .tag = kFromLeft}) : 0;
      const double right = v < last ? job.recv<double>({.at = v, .tag = kFromRight}) : 1;
      part.step(left, right);
    }
    if (job.allreduce(phx::max, [&](phx::Vnode v) { return parts[v].change; }) < 1e-9) break;
  }
  double error = 0;
  for (const auto& [v, part] : parts) {
    for (std::size_t i = 0; i < part.cells.size(); ++i) {
      const double even = static_cast<double>(begin_of(v) + i + 1) / (kCells + 1);
      error = std::max(error, std::abs(part.cells[i] - even));
    }
  }
  if (error > 1e-3) job.abort(1, "the heat does not rise evenly");
  if (job.holds(0)) std::printf("bar: the heat rises evenly\n");
}
