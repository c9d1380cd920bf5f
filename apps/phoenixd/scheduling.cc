#include "apps/phoenixd/scheduling.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace phx::phoenixd {
namespace {

/// What sched_setattr(2) takes; its own header and <sched.h> do not go together everywhere.
struct SchedulingAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime_ns;  ///< Of the usual policy: the slice.
  std::uint64_t deadline_ns;
  std::uint64_t period_ns;
};
constexpr std::uint64_t kResetOnFork = 1;
constexpr std::uint64_t kSliceNs = 100'000;  // the shortest that there is

}  // namespace

void bind_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  if (!cpus.empty()) ::sched_setaffinity(0, sizeof(set), &set);
}

void ask_for_short_slices() {
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, 0);
  if (errno != 0 || ::sched_getscheduler(0) != SCHED_OTHER) return;
  const SchedulingAttributes wanted{.size = sizeof(SchedulingAttributes),
                                    .policy = SCHED_OTHER,
                                    .flags = kResetOnFork,
                                    .nice = nice,
                                    .priority = 0,
                                    .runtime_ns = kSliceNs,
                                    .deadline_ns = 0,
                                    .period_ns = 0};
  ::syscall(SYS_sched_setattr, 0, &wanted, 0U);
}

}  // namespace phx::phoenixd
