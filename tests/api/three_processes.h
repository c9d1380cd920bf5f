#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/api/phoenix.h"
#include "runtime/tcp/key.h"

namespace phx {

/// Three processes with a daemon each. The second and the third join while the first one works.
inline void run_on_three(std::uint64_t vnodes, const std::function<void(Session&)>& program) {
  const auto path =
      std::filesystem::temp_directory_path() / ("phoenix-three-test-" + std::to_string(::getpid()));
  std::filesystem::remove(path);
  REQUIRE(tcp::create_key(path).ok());
  {
    Session first({.key_file = path, .vnodes = vnodes, .timeout = 60s});
    const auto attempt = [&](Session& job) {
      try {
        program(job);
      } catch (const Failure& failure) {
        FAIL_CHECK(std::string(failure.what()));
        job.abort(1, failure.what());
      }
    };
    const auto join = [&] {
      Session job({.join = first.endpoints().front(), .key_file = path, .timeout = 60s});
      attempt(job);
    };
    std::vector<std::thread> others;
    for (int i = 0; i < 2; ++i) others.emplace_back(join);
    attempt(first);
    first.finish();
    for (std::thread& other : others) other.join();
  }
  std::filesystem::remove(path);
}

/// Passes safe points until all three hold vnodes. False: the job is over.
inline bool wait_for_three(Session& job) {
  while (job.safe_point()) {
    const auto holders = job.allgather([&](Vnode) { return job.processor().value; });
    if (std::set(holders.begin(), holders.end()).size() == 3) return true;
  }
  return false;
}

}  // namespace phx
