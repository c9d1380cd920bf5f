#include <chrono>
#include <cstddef>
#include <map>
#include <thread>
#include <utility>

#include "apps/bench/workloads.h"

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kStep = 1ms;
constexpr std::size_t kStateBytes = std::size_t{1} << 20U;
constexpr std::size_t kMoves = 20;
constexpr double kStayS = 0.05;  ///< So long vnode 0 stays before the other process asks for it.

/// A vnode that does something every millisecond.
struct Worker {
  std::vector<std::byte> content = std::vector<std::byte>(kStateBytes);
  double last = clock_s();
  std::vector<double> pauses;  ///< Of the moves: from the last step there to the first one here.
  void state(auto& io) { io(content, last, pauses); }
};

}  // namespace

void join(phx::Session& job, std::uint64_t processors) {
  bool is_first = true;
  while (job.safe_point()) {
    if (is_first) say("first-vnode", clock_s());
    is_first = false;
    const phx::Vnode first = job.held().at(0);
    const auto now =
        job.allreduce(phx::sum, [&](phx::Vnode v) { return std::uint64_t{v == first ? 1U : 0U}; });
    if (now >= processors) return;
    std::this_thread::sleep_for(kStep);
  }
}

/// How long each vnode was still until `now`; `worst`: of those that stay where they are.
void note_pauses(phx::Objects<Worker>& workers, double now, bool has_come, double& worst) {
  for (auto& [v, worker] : workers) {
    const double pause = now - worker.last;
    if (v != 0) worst = std::max(worst, pause);
    if (v == 0 && has_come) worker.pauses.push_back(pause);
    worker.last = clock_s();
  }
}

/// Whether vnode 0, which is here, has moved often enough: then all are told to end.
void end_if_enough(phx::Session& job, const Worker& first) {
  if (first.pauses.size() <= kMoves) return;
  say("pause-moved", median({first.pauses.begin() + 1, first.pauses.end()}));
  job.cast(0, std::byte{});
}

void moves(phx::Session& job) {
  phx::Objects<Worker> workers(job);
  std::vector<double> stayed;  // The worst pause of those that stay, of each of their rounds.
  double worst = 0;
  double round_begin = clock_s();
  bool had_it = false;
  bool has_asked = false;
  while (job.local_safe_point()) {
    const double now = clock_s();
    note_pauses(workers, now, !had_it, worst);
    const bool has_it = workers.contains(0);
    if (has_it != had_it) {  // a round ends when vnode 0 comes or goes
      stayed.push_back(std::exchange(worst, 0));
      round_begin = now;
      has_asked = false;
      // It is in the daemon's hands now: the other process may take it.
      if (!has_it) job.send(workers.begin()->first, workers.contains(1) ? 2 : 1, std::byte{});
    }
    had_it = has_it;
    if (has_it) end_if_enough(job, workers[0]);
    if (job.try_recv({.kind = phx::Kind::kBroadcast})) break;
    if (has_it && !has_asked && now - round_begin > kStayS) {
      job.release({0});
      has_asked = true;
    }
    if (job.try_recv()) job.assume({0});
    std::this_thread::sleep_for(kStep);
  }
  if (stayed.size() > 1) say("pause-stayed", median({stayed.begin() + 1, stayed.end()}));
}

}  // namespace bench
