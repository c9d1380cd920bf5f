#include "apps/experiments/cast_stream.h"

#include <doctest/doctest.h>

namespace phx::app::cast_stream_test {
namespace {

CastStreamOptions three_on_a_site() {
  return {.topology =
              overlay::Topology::parse("site A 3 100\nlink * * 100\nnic 100\noverhead 5\n").value(),
          .bytes = std::size_t{1} << 20U};
}

}  // namespace

TEST_CASE("who gets next to nothing counts in the rate of each receiver") {
  CastStream stream(three_on_a_site());
  REQUIRE(stream.start().ok());
  stream.run_until(1s);
  const sim::MachineId slow{2};
  REQUIRE(slow != stream.root());
  stream.trial().cluster().model().set_interface(slow, 1000);
  stream.run_until(3s);

  const double each = stream.rate(2s, 3s);
  const double other = stream.rate(2s, 3s, slow);

  CHECK(stream.rate(500ms, 1s) > 0);
  CHECK(each <= 0.51 * other);
  CHECK(stream.total_rate(2s, 3s) == doctest::Approx(2 * each));
  CHECK(stream.longest_gap(slow) >= 1s);
}

TEST_CASE("a stream that has stopped has no rate") {
  CastStream stream(three_on_a_site());
  REQUIRE(stream.start().ok());
  stream.run_until(1s);

  CHECK(stream.rate(0s, 1s) > 0);
  CHECK(stream.rate(0s, 2s) == doctest::Approx(stream.rate(0s, 1s) / 2));
  CHECK(stream.rate(1s, 2s) == 0);
}

}  // namespace phx::app::cast_stream_test
