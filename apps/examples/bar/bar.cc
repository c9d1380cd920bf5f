// The heat in a bar whose ends are kept at 0 and 1, in step: each vnode has a part of the bar,
// sends its outermost cells to its neighbours, and computes the next step. In the end all is
// compared with the same done by one.
#include <phoenix.h>

#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t kCells = 50;  // Of a part.
constexpr std::uint64_t kSteps = 2000;
enum : phx::Tag { kFromLeft, kFromRight };

struct Part {
  std::vector<double> cells;
  std::uint64_t step = 0;
  void state(auto& io) { io(cells, step); }  // What goes along when the part moves.

  void advance(double left, double right) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const double after = i + 1 < cells.size() ? cells[i + 1] : right;
      const double old = cells[i];
      cells[i] = (left + 2 * old + after) / 4;
      left = old;
    }
    ++step;
  }
};

/// Whether these, one after the other, are what one part would be that has all the cells.
bool is_right(const std::vector<std::vector<double>>& parts) {
  Part whole{std::vector<double>(kCells * parts.size())};
  while (whole.step < kSteps) whole.advance(0, 1);
  std::vector<double> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all == whole.cells;
}

}  // namespace

int main() {
  phx::Session job;
  const phx::Vnode last = job.vnodes() - 1;
  phx::Objects<Part> parts(job, [](phx::Vnode) { return Part{std::vector<double>(kCells)}; });
  while (job.safe_point()) {  // Parts come and go here, and nowhere else.
    for (auto& [v, part] : parts) {
      if (v > 0) job.send(v, v - 1, part.cells.front(), kFromRight);
      if (v < last) job.send(v, v + 1, part.cells.back(), kFromLeft);
    }
    for (auto& [v, part] : parts) {
      const double left = v > 0 ? job.recv<double>({.at = v, .tag = kFromLeft}) : 0;
      const double right = v < last ? job.recv<double>({.at = v, .tag = kFromRight}) : 1;
      part.advance(left, right);
    }
    // All have made as many steps, but a process that holds no part now does not know how many.
    if (job.allreduce(phx::max, [&](phx::Vnode v) { return parts[v].step; }) < kSteps) continue;
    const auto all = job.gather(0, [&](phx::Vnode v) { return parts[v].cells; });
    if (!all) break;  // v0 is elsewhere.
    if (!is_right(*all)) {
      job.abort(1, "one alone gets something else");
      return 1;
    }
    std::printf("bar: %zu parts are as one alone makes them\n", all->size());
    break;
  }
}
