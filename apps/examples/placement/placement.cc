// Vnodes taken by hand: whoever begins with v0 collects all vnodes, which the others release. Run
// it with --no-balance, so that nothing else moves them.
#include <phoenix.h>

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

struct Luggage {
  phx::Vnode of = 0;  // What goes along: here only whose it is.
};

/// Asks for all vnodes, again and again, until others have released theirs.
bool collect(phx::Session& job) {
  while (job.held().size() < job.vnodes()) {
    std::vector<phx::Vnode> missing;
    for (phx::Vnode v = 0; v < job.vnodes(); ++v) {
      if (!job.holds(v)) missing.push_back(v);
    }
    job.assume(missing);
    try {
      if (!job.local_safe_point()) return false;  // The job is over.
    } catch (const phx::Failure& refusal) {
      if (refusal.code() != phx::ErrorCode::kDenied) throw;
    }
    // Who holds some does not wait above for those that are missing.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace

int main() {
  phx::Session job;
  phx::Objects<Luggage> luggage(job, [](phx::Vnode v) { return Luggage{v}; });
  if (!job.local_safe_point()) return 0;  // Waits for the first vnodes.
  if (!job.holds(0)) {
    // Without vnodes a safe point waits for some, or for the end of the job.
    do {
      job.release(job.held());
    } while (job.local_safe_point());
    return 0;
  }
  const std::size_t own = job.held().size();
  if (!collect(job)) return 1;
  for (const auto& [v, one] : luggage) {
    if (one.of == v) continue;
    job.abort(1, "the luggage is not whose it was");
    return 1;
  }
  std::printf("placement: %zu vnodes began here, and %zu came with their luggage\n", own,
              job.held().size() - own);
}
