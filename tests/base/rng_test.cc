#include "overlay/base/rng.h"

#include <doctest/doctest.h>

#include <vector>

namespace phx::rng_test {
namespace {

TEST_CASE("draws are specified bit for bit: the published numbers of SplitMix64") {
  Rng rng(1234567);
  CHECK(rng.next() == 6457827717110365317U);
  CHECK(rng.next() == 3203168211198807973U);
  CHECK(rng.next() == 9817491932198370423U);
}

TEST_CASE("numbers below a limit are below it, and all of them come") {
  Rng rng(1);
  std::vector<int> seen(7);
  for (int i = 0; i < 7000; ++i) ++seen.at(static_cast<std::size_t>(rng.below(7)));
  for (const int count : seen) {
    CHECK(count > 800);
    CHECK(count < 1200);
  }
  CHECK(rng.below(1) == 0);
}

TEST_CASE("chances are what they say") {
  Rng rng(2);
  int hits = 0;
  for (int i = 0; i < 10000; ++i) hits += rng.chance(0.3) ? 1 : 0;
  CHECK(hits > 2800);
  CHECK(hits < 3200);
  CHECK_FALSE(rng.chance(0));
  CHECK(rng.chance(1));
}

TEST_CASE("a part's generator depends on the seed and on its label only") {
  Rng parent(3);
  Rng first = parent.fork("prober");
  Rng again = Rng(3).fork("prober");
  Rng other = parent.fork("trees");
  const std::uint64_t drawn = first.next();

  CHECK(drawn == again.next());
  CHECK(drawn != other.next());
  CHECK(parent.next() == Rng(3).next());
}

}  // namespace
}  // namespace phx::rng_test
