#include <cstddef>

#include "apps/bench/workloads.h"

namespace bench {
namespace {

constexpr int kWarmUp = 5;
constexpr int kOperations = 25;
constexpr std::size_t kLongBytes = std::size_t{1} << 20U;

/// From the call at the root until the last vnode has the bytes.
double time_broadcast(phx::Session& job, const std::vector<std::byte>& bytes) {
  job.barrier();
  const double begin = clock_s();
  const auto got = job.broadcast(0, [&] { return bytes; });
  const double end = got.size() == bytes.size() ? clock_s() : 1e9;
  return job.allreduce(phx::max, end) - job.allreduce(phx::max, job.holds(0) ? begin : 0.0);
}

/// From the first contribution until the target has the result.
template <class T>
double time_reduce(phx::Session& job, const std::vector<T>& values) {
  job.barrier();
  const double begin = clock_s();
  const auto result = job.reduce(0, phx::sum, values);
  const double end = result ? clock_s() : 0;
  return job.allreduce(phx::max, end) - job.allreduce(phx::min, begin);
}

template <class Operation>
void say_median(const phx::Session& job, const char* name, Operation operation) {
  std::vector<double> times;
  for (int round = -kWarmUp; round < kOperations; ++round) {
    const double time = operation();
    if (round >= 0) times.push_back(time);
  }
  if (job.holds(0)) say(name, median(times));
}

}  // namespace

void collectives(phx::Session& job) {
  if (!job.safe_point()) return;
  const std::vector<std::byte> byte(1);
  const std::vector<std::byte> bytes(kLongBytes);
  const std::vector<std::uint8_t> number(1, 1);
  const std::vector<double> numbers(kLongBytes / sizeof(double), 1.0);
  say_median(job, "broadcast-1", [&] { return time_broadcast(job, byte); });
  say_median(job, "reduce-1", [&] { return time_reduce(job, number); });
  say_median(job, "broadcast-1M", [&] { return time_broadcast(job, bytes); });
  say_median(job, "reduce-1M", [&] { return time_reduce(job, numbers); });
}

}  // namespace bench
