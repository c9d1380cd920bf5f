// A whole job in one process, against the installed phoenix.h: every vnode sends its number to the
// next one, and all add up what they got.
#include <phoenix.h>

#include <cstdio>

int main() {
  phx::Session job({.vnodes = 8, .timeout = std::chrono::seconds(30)});
  if (!job.safe_point()) return 1;
  for (const phx::Vnode v : job.held()) job.send(v, (v + 1) % job.vnodes(), std::int64_t(v));
  const std::int64_t total =
      job.allreduce(phx::sum, [&](phx::Vnode v) { return job.recv<std::int64_t>({.at = v}); });
  std::printf("sum of 0..7: %lld\n", static_cast<long long>(total));
  return total == 28 ? 0 : 1;
}
