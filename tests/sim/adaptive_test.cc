#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/sim/trial.h"
#include "tests/support/seeds.h"
#include "tests/support/site_topology.h"

namespace adaptive_test {

using namespace phx;
using namespace phx::sim;

namespace {

constexpr ProcessorId kRoot{1};
constexpr std::size_t kBytes = std::size_t{1} << 20U;
constexpr std::uint64_t kNever = ~std::uint64_t{0};  ///< Long messages take the latency tree, too.

/// Broadcasts back to back in a mesh that finds trees by local rules, over interfaces of 100
/// Mbit/s.
class Stream {
 public:
  explicit Stream(std::uint64_t seed, std::uint64_t bandwidth_above = std::uint64_t{256} << 10U,
                  std::uint32_t each = 8)
      : trial_({.topology = support::three_alike(each, 100),
                .seed = seed,
                .bytes = kBytes,
                .outbox_bytes = std::uint64_t{1} << 30U,
                .on_bytes = [this](Instant, MachineId at, std::size_t size) { seen_[at] += size; },
                .trees = runtime::TreeSource::kAdaptive,
                .bandwidth_above = bandwidth_above}) {
    REQUIRE(trial_.start());
    trial_.stream(kRoot);
  }
  ~Stream() { CHECK(trial_.cluster().violations().all() == std::vector<std::string>{}); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// MB/s of those that stay, in `span` from now on: of the slowest, and of all on average.
  struct Rates {
    double least = 1e9;
    double mean = 0;
  };
  [[nodiscard]] Rates rates(Duration span) {
    seen_.clear();
    cluster().run_for(span);
    Rates rates;
    double count = 0;
    for (const MachineId machine : cluster().staying()) {
      if (machine == root()) continue;
      const double rate =
          static_cast<double>(seen_[machine]) * 1e3 / static_cast<double>(span.count());
      rates.least = std::min(rates.least, rate);
      rates.mean += rate;
      ++count;
    }
    rates.mean /= count;
    return rates;
  }
  [[nodiscard]] MachineId root() { return *cluster().find(kRoot); }
  [[nodiscard]] Cluster& cluster() { return trial_.cluster(); }

 private:
  std::map<MachineId, std::uint64_t> seen_;
  Trial trial_;
};

}  // namespace

TEST_SUITE_BEGIN("sim/adaptive");

TEST_CASE("a stream of long broadcasts is faster along the bandwidth tree, also after a drain" *
          phx::support::long_search()) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    CAPTURE(seed);
    Stream along_latency(seed, kNever);
    along_latency.cluster().run_for(8s);
    const Stream::Rates before = along_latency.rates(4s);

    Stream stream(seed);
    stream.cluster().run_for(24s);
    const Stream::Rates settled = stream.rates(4s);
    for (const MachineId machine : stream.cluster().staying()) {
      if (machine.value % 2 == 1 && machine != stream.root()) stream.cluster().drain(machine);
    }
    const Stream::Rates during = stream.rates(4s);
    stream.cluster().run_for(20s);
    const Stream::Rates after = stream.rates(4s);

    MESSAGE("MB/s of each: latency tree " << before.mean << ", bandwidth tree " << settled.mean
                                          << ", while half drain " << during.mean << ", after it "
                                          << after.mean);
    CHECK(settled.least >= 1.3 * before.mean);
    CHECK(after.least >= 1.3 * before.mean);
    CHECK(during.least > 0);
  }
}

TEST_CASE("processors come and go while long broadcasts go along bandwidth trees: all is right") {
  for (std::uint64_t seed = 1; seed <= support::seeds(3); ++seed) {
    CAPTURE(seed);
    Stream stream(seed, 0, 4);  // All take them, short ones too.
    for (int i = 0; i < 4; ++i) {
      stream.cluster().run_for(1500ms);
      for (const MachineId machine : stream.cluster().staying()) {
        const bool is_drawn = (machine.value + seed) % 4 == static_cast<std::uint32_t>(i);
        if (is_drawn && machine != stream.root() && stream.cluster().staying().size() > 4) {
          stream.cluster().drain(machine);
        }
      }
      CHECK(stream.rates(2s).mean > 0);
    }
  }
}

TEST_SUITE_END();

}  // namespace adaptive_test
