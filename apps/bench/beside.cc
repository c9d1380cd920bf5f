#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <thread>

#include "apps/bench/workloads.h"

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr phx::Tag kThere = 1;
constexpr phx::Tag kReturn = 2;
constexpr phx::Tag kEnough = 3;
constexpr int kTripsInARow = 32;  ///< Until it is looked whether that is enough.
constexpr std::size_t kStreamMessage = std::size_t{1} << 20U;

phx::Vnode only_vnode(phx::Session& job) {
  while (job.safe_point() && job.held().size() != 1) std::this_thread::sleep_for(2ms);
  return job.held().at(0);
}

}  // namespace

void trips(phx::Session& job, const std::string& until) {
  const phx::Payload byte = phx::encode(std::byte{});
  const bool answers = only_vnode(job) == 1;
  std::uint64_t messages = 0;
  const auto per_message = [&, before = allocations()] {
    const std::uint64_t count = allocations() - before;
    return static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(messages, 1));
  };
  if (answers) {
    for (; job.recv({.at = 1}).tag != kEnough; messages += 2) job.send_bytes(1, 0, byte, kReturn);
    return job.send(1, 0, per_message(), kEnough);
  }
  std::vector<double> begins;
  std::vector<double> times;
  for (std::size_t i = 0; i % kTripsInARow != 0 || !std::filesystem::exists(until); ++i) {
    const double begin = clock_s();
    job.send_bytes(0, 1, byte, kThere);
    static_cast<void>(job.recv({.at = 0, .tag = kReturn}));
    begins.push_back(begin);
    times.push_back(clock_s() - begin);
    messages += 2;
  }
  const double here = per_message();
  job.send_bytes(0, 1, byte, kEnough);
  say("trip-allocations", here + job.recv<double>({.at = 0, .tag = kEnough}));
  for (std::size_t i = 0; i < begins.size(); ++i) {
    std::printf("figure trip-begin %.6f\nfigure trip-time %.9g\n", begins[i], times[i]);
  }
}

void stream(phx::Session& job, std::uint64_t bytes) {
  const std::uint64_t count = bytes / kStreamMessage;
  if (only_vnode(job) == 1) {
    for (std::uint64_t i = 0; i < count; ++i) static_cast<void>(job.recv({.at = 1}));
    job.send_bytes(1, 0, phx::encode(std::byte{}), kReturn);
    return;
  }
  const phx::Payload message = phx::encode(phx::Bytes(kStreamMessage, std::byte{42}));
  say("stream-begin", clock_s());
  for (std::uint64_t i = 0; i < count; ++i) job.send_bytes(0, 1, message, kThere);
  static_cast<void>(job.recv({.at = 0}));
  say("stream-end", clock_s());
}

}  // namespace bench
