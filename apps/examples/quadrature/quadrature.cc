// The area of a quarter of a circle, by messages: an interval in which two estimates differ is cut
// in two, and the halves go to two other vnodes. v0 adds up; when all of the axis is covered, it
// tells everybody that this is the end.
#include <phoenix.h>

#include <cmath>
#include <cstdio>

namespace {

struct Interval {
  double from = 0, to = 0;
};
struct Area {
  double area = 0, width = 0;
};
enum : phx::Tag { kTask, kResult };

double height(double x) {
  return std::sqrt(1 - x * x);
}

/// By the rule of Simpson.
double estimate(double from, double to) {
  return (to - from) / 6 * (height(from) + 4 * height((from + to) / 2) + height(to));
}

}  // namespace

int main() {
  phx::Session job;
  phx::Objects<Area> sums(job, [&](phx::Vnode v) {
    if (v == 0) job.send(0, 0, Interval{0, 1}, kTask);  // The first task.
    return Area{};
  });
  job.run([&](phx::Message& message) {  // Vnodes come and go between two calls.
    const phx::Vnode me = message.to;
    if (message.kind == phx::Kind::kBroadcast) return job.stop();
    if (message.tag == kResult) {
      const auto part = message.as<Area>();
      sums[me] = {sums[me].area + part.area, sums[me].width + part.width};
      // Widths are powers of two, so this sum is exact.
      if (sums[me].width < 1) return;
      std::printf("quadrature: four times the area is %.10f\n", 4 * sums[me].area);
      if (std::abs(4 * sums[me].area - 3.14159265358979) > 1e-8) {
        return job.abort(1, "that is not pi");
      }
      job.cast(me, true);
      return;
    }
    const auto [from, to] = message.as<Interval>();
    const double middle = (from + to) / 2;
    const double whole = estimate(from, to);
    const double halves = estimate(from, middle) + estimate(middle, to);
    if (std::abs(whole - halves) < 1e-13 || to - from < 1e-12) {
      job.send(me, 0, Area{halves, to - from}, kResult);
      return;
    }
    job.send(me, (2 * me + 1) % job.vnodes(), Interval{from, middle}, kTask);
    job.send(me, (2 * me + 2) % job.vnodes(), Interval{middle, to}, kTask);
  });
}
