#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "apps/bench/workloads.h"

namespace bench {
namespace {

constexpr auto kStepTime = std::chrono::milliseconds(2);

/// A vnode with a state whose bytes tell whose it is.
struct Kept {
  std::vector<std::uint64_t> numbers;
  void state(auto& io) { io(numbers); }
};

std::uint64_t number_of(phx::Vnode v, std::size_t i) {
  return (v + 1) * 0x9e3779b97f4a7c15U + i;
}

}  // namespace

void states(phx::Session& job, std::uint64_t bytes, const std::string& until) {
  const std::size_t count = bytes / job.vnodes() / sizeof(std::uint64_t);
  phx::Objects<Kept> vnodes(job, [&](phx::Vnode v) {
    Kept kept;
    kept.numbers.resize(count);
    for (std::size_t i = 0; i < count; ++i) kept.numbers[i] = number_of(v, i);
    return kept;
  });
  bool has_said = false;
  while (job.safe_point()) {
    if (job.holds(0) && !has_said) say("states-ready", clock_s());
    has_said = true;
    std::this_thread::sleep_for(kStepTime);
    const bool is_enough = job.broadcast(0, [&] { return std::filesystem::exists(until); });
    if (is_enough) break;
  }
  std::uint64_t right = 0;
  for (const auto& [v, kept] : vnodes) {
    if (kept.numbers.size() != count) throw std::runtime_error("a state has lost something");
    for (std::size_t i = 0; i < count; ++i) right += kept.numbers[i] == number_of(v, i) ? 1 : 0;
  }
  if (vnodes.begin() == vnodes.end()) return;  // this processor has left
  const phx::Vnode first = job.held().front();
  const auto all =
      job.allreduce(phx::sum, [&](phx::Vnode v) { return v == first ? right : std::uint64_t{0}; });
  if (all != count * job.vnodes()) throw std::runtime_error("states are damaged");
  if (job.holds(0)) say("states-right", static_cast<double>(all * sizeof(std::uint64_t)));
}

}  // namespace bench
