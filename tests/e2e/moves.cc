/// An application for the tests of this folder: a large vnode moves, and others talk beside it.
///   moves carry MIB    two processes, of which one hands a vnode with so much over to the other
///   moves ping FILE    two processes exchange single bytes until that file exists, and say when
#include <phoenix.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

/// By the clock that the processes of a machine share.
double clock_s() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
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
  const double begin_s = clock_s();
  get(job, 0);
  const double end_s = clock_s();
  const auto& numbers = states[0];
  bool is_right = numbers.size() == mebibytes * kNumbers;
  for (std::uint64_t i = 0; i < numbers.size(); ++i) is_right = is_right && numbers[i] == i * i;
  std::printf("moves: %llu MiB handed over %s from %.6f to %.6f\n",
              static_cast<unsigned long long>(mebibytes), is_right ? "unharmed" : "HARMED", begin_s,
              end_s);
}

void ping(phx::Session& job, const std::string& until) {
  if (!job.local_safe_point()) return;
  if (!job.holds(0)) {
    while (job.recv<bool>({.at = 1})) job.send(1, 0, true);
    return;
  }
  std::vector<double> ends_s;
  while (!std::filesystem::exists(until)) {
    job.send(0, 1, true);
    static_cast<void>(job.recv({.at = 0}));
    ends_s.push_back(clock_s());
  }
  job.send(0, 1, false);
  for (const double end_s : ends_s) std::printf("moves: a round trip until %.6f\n", end_s);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const std::string amount = argc > 2 ? argv[2] : "1";
  try {
    phx::Session job;
    if (mode == "carry") carry(job, std::strtoull(amount.c_str(), nullptr, 10));
    if (mode == "ping") ping(job, amount);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "moves: %s\n", error.what());
    return 1;
  }
}
