#include "runtime/tcp/memory_kills.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

namespace phx::tcp::memory_kills_test {

TEST_SUITE_BEGIN("tcp/memory_kills");

TEST_CASE("the kernel's count is found, and nothing that only looks like it") {
  CHECK(memory_kills_in("oom_kill 3\n") == 3);
  CHECK(memory_kills_in("pgfault 12\nnot_oom_kill 4\noom_kill 17\nswap_ra 1\n") == 17);
  CHECK(memory_kills_in("nr_free_pages 1\nnot_oom_kill 4\n") == 0);
  CHECK(memory_kills_in("oom_kill ") == 0);
  CHECK(memory_kills_in("oom_kill many") == 0);
  CHECK(memory_kills_in("") == 0);
}

TEST_CASE("a hint is given if there have been more meanwhile") {
  CHECK(memory_kill_hint(memory_kills()).empty());
  CHECK(memory_kill_hint(std::numeric_limits<std::uint64_t>::max()).empty());
}

TEST_SUITE_END();

}  // namespace phx::tcp::memory_kills_test
