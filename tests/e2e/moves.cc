/// An application for the tests of this folder: a large vnode moves, and others talk beside it.
///   moves carry MIB    two processes, of which one hands a vnode with so much over to the other
///   moves ping SECONDS two processes exchange single bytes for so long, and say how long it took
#include <phoenix.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Waits until `vnode` is here.
void get(phx::Session& job, phx::Vnode vnode) {
  while (!job.holds(vnode)) {
    job.assume({vnode});
    try {
      if (!job.local_safe_point()) throw std::runtime_error("retired");
    } catch (const phx::Failure& refusal) {
      if (refusal.code() != phx::ErrorCode::kDenied) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void carry(phx::Session& job, std::uint64_t mebibytes) {
  constexpr std::uint64_t kNumbers = (std::uint64_t{1} << 20U) / sizeof(std::uint64_t);
  phx::Objects<std::vector<std::uint64_t>> states(job);
  if (!job.local_safe_point()) return;
  if (job.holds(0)) {
    auto& numbers = states[0];
    numbers.resize(mebibytes * kNumbers);
    for (std::uint64_t i = 0; i < numbers.size(); ++i) numbers[i] = i * i;
    job.send(0, 1, 0);
    job.release({0});
    if (!job.local_safe_point()) return;  // holds nothing: until the job is over
    throw std::runtime_error("got a vnode that it had not asked for");
  }
  static_cast<void>(job.recv({.at = 1}));
  const auto begin = Clock::now();
  get(job, 0);
  const auto& numbers = states[0];
  bool is_right = numbers.size() == mebibytes * kNumbers;
  for (std::uint64_t i = 0; i < numbers.size(); ++i) is_right = is_right && numbers[i] == i * i;
  std::printf("moves: %llu MiB handed over in %.2f s: %s\n",
              static_cast<unsigned long long>(mebibytes), seconds_since(begin),
              is_right ? "unharmed" : "HARMED");
}

void ping(phx::Session& job, double seconds) {
  if (!job.local_safe_point()) return;
  if (!job.holds(0)) {
    while (job.recv<bool>({.at = 1})) job.send(1, 0, true);
    return;
  }
  std::vector<double> trips;
  for (const auto begin = Clock::now(); seconds_since(begin) < seconds;) {
    const auto sent = Clock::now();
    job.send(0, 1, true);
    static_cast<void>(job.recv({.at = 0}));
    trips.push_back(seconds_since(sent) * 1e3);
  }
  job.send(0, 1, false);
  std::sort(trips.begin(), trips.end());
  const auto at = [&](double share) {
    return trips[static_cast<std::size_t>(share * static_cast<double>(trips.size() - 1))];
  };
  std::printf("moves: %zu round trips, ms: median %.3f, 99 %% %.3f, 99.9 %% %.3f, longest %.3f\n",
              trips.size(), at(0.5), at(0.99), at(0.999), at(1));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const std::string amount = argc > 2 ? argv[2] : "1";
  try {
    phx::Session job;
    if (mode == "carry") carry(job, std::strtoull(amount.c_str(), nullptr, 10));
    if (mode == "ping") ping(job, std::strtod(amount.c_str(), nullptr));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "moves: %s\n", error.what());
    return 1;
  }
}
