#include "runtime/endpoint/window_tuner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <deque>

#include "overlay/base/rng.h"

namespace phx::runtime::window_tuner_test {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kPiece = 16 * kKiB;

/// A source that always has more, a way with a rate and a round trip, a program that takes at once.
struct Way {
  Duration round_trip;
  double bytes_per_nanosecond;
  InflowOptions options{};

  Instant now{};
  WindowTuner tuner{};
  std::uint64_t window = 64 * kKiB;
  std::uint64_t widest = 0;
  std::uint64_t offset = 0;
  /// With this chance somebody on the way does not get a processor for up to 3 ms.
  double pause_chance = 0;
  Rng rng{1};

  void run(std::uint64_t bytes) {
    struct Grant {
      Instant at;
      std::uint64_t limit;
    };
    std::deque<Grant> grants{{now, offset + window}};
    std::uint64_t limit = offset + window;
    Instant free = now;  // of the way
    const auto transmission = Duration(static_cast<std::int64_t>(kPiece / bytes_per_nanosecond));
    for (const std::uint64_t end = offset + bytes; offset < end; offset += kPiece) {
      // A piece leaves when a grant allows it; both take half of a round trip.
      while (grants.size() > 1 && grants.front().limit <= offset) grants.pop_front();
      const Instant allowed = grants.front().at + round_trip;
      free = now = std::max(free + transmission, allowed);
      if (rng.chance(pause_chance)) {
        free = now += Duration(static_cast<std::int64_t>(rng.below(3'000'000)));
      }
      window = tuner.on_taken(now, offset + kPiece, window, options);
      widest = std::max(widest, window);
      if (offset + kPiece + window >= limit + window / 2) {
        limit = offset + kPiece + window;
        grants.push_back({now, limit});
      }
    }
  }
};

TEST_SUITE_BEGIN("runtime/window_tuner");

TEST_CASE("a window grows to what the way holds, and no wider than five times that") {
  struct Case {
    Duration round_trip;
    int megabytes;
  };
  for (const Case& one : {Case{10ms, 125}, Case{40ms, 125}, Case{80ms, 125}, Case{100ms, 20},
                          Case{1ms, 1000}, Case{100ms, 2}}) {
    CAPTURE(to_ms(one.round_trip));
    CAPTURE(one.megabytes);
    Way way{one.round_trip, one.megabytes / 1000.0};
    way.run(200 * kMiB);
    const double held = static_cast<double>(way.round_trip.count()) * way.bytes_per_nanosecond;
    const Instant before = way.now;
    way.run(200 * kMiB);
    const double rate =
        static_cast<double>(200 * kMiB) / static_cast<double>((way.now - before).count());
    CHECK(rate >= 0.85 * way.bytes_per_nanosecond);
    CHECK(way.widest <= std::max<std::uint64_t>(2 * kMiB, static_cast<std::uint64_t>(5 * held)));
    CHECK(way.widest <= way.options.window_max);
  }
}

TEST_CASE("where processors are waited for now and then no window becomes wider by chance") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    Way way{50us, 2.5};
    way.pause_chance = 0.003;
    way.rng = Rng(seed);
    way.run(1024 * kMiB);
    CHECK(way.widest <= 2 * kMiB);
  }
}

TEST_CASE("a way beyond the widest window gets the widest one") {
  Way way{200ms, 1.0};
  way.run(1000 * kMiB);
  CHECK(way.window == way.options.window_max);
}

TEST_CASE("a trial in vain is taken back, and comes again, for a way that got faster") {
  Way way{80ms, 0.01};
  way.run(64 * kMiB);
  CHECK(way.window <= 2 * kMiB);
  way.bytes_per_nanosecond = 0.125;
  way.run(400 * kMiB);
  CHECK(way.window >= 8 * kMiB);
}

TEST_CASE("without time, and without trials, windows end where the options say") {
  WindowTuner tuner;
  InflowOptions narrow;
  narrow.window_free = 0;
  narrow.window_max = 256 * kKiB;
  std::uint64_t window = 64 * kKiB;
  std::uint64_t offset = 0;
  for (int i = 0; i < 1000; ++i) {
    offset += kPiece;
    window = tuner.on_taken(Instant{}, offset, window, narrow);
    CHECK(window <= narrow.window_max);
  }
  CHECK(window == narrow.window_max);
  narrow.window_max = kKiB;  // below what it has
  CHECK(tuner.on_taken(Instant{}, offset + kMiB, window, narrow) == window);
}

TEST_CASE("pieces of broadcasts are as short as trees are deep, and not too many") {
  const EndpointConfig config;
  struct Case {
    std::uint64_t vnodes;
    std::size_t message;
    std::size_t piece;
  };
  for (const Case& one :
       {Case{1, 1, 8 * kKiB}, Case{1, 8 * kKiB, 64 * kKiB}, Case{32, 1024 * kKiB, 64 * kKiB},
        Case{33, 1024 * kKiB, 32 * kKiB}, Case{201, 1024 * kKiB, 16 * kKiB},
        Case{65536, 8192 * kKiB, 16 * kKiB}, Case{201, 16384 * kKiB, 32 * kKiB},
        Case{201, 1024 * 1024 * kKiB, 256 * kKiB}}) {
    CAPTURE(one.vnodes);
    CAPTURE(one.message);
    CHECK(config.cast_piece(one.message, one.vnodes) == one.piece);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace phx::runtime::window_tuner_test
