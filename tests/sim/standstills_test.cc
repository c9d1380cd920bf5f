#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/sim/trial.h"
#include "tests/support/seeds.h"
#include "tests/support/site_topology.h"

namespace standstills_test {

using namespace phx;
using namespace phx::sim;

namespace {

/// Broadcasts in a mesh of one or three sites of eight, in which two may stand still now and then.
class Mesh {
 public:
  struct Case {
    std::uint32_t sites = 1;
    std::size_t bytes = 0;
    ProcessorSet two = ProcessorSet::range(ProcessorId{2}, ProcessorId{3});
    PlantedFault planted = PlantedFault::kNone;
  };
  explicit Mesh(const Case& wanted)
      : trial_({.topology = wanted.sites == 1 ? overlay::Topology::uniform({kEach}, {1ms, 0})
                                              : support::three_alike(kEach, 1000),
                .bytes = wanted.bytes,
                .learn = 5s,
                .planted = wanted.planted}),
        two_(wanted.two) {
    REQUIRE(trial_.start());
    told_before_ = updates();
  }
  ~Mesh() { CHECK(trial_.cluster().violations().all() == std::vector<std::string>{}); }
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  /// Each runs for a tenth of the time.
  void make_two_stand_still() {
    are_still_ = true;
    for (const ProcessorId who : two_.ids()) step(*cluster().find(who));
  }
  void let_all_run() { are_still_ = false; }
  /// When the last of the others had it: the median.
  Duration broadcasts(std::uint32_t count) {
    std::vector<Duration> lasts;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto round = trial_.broadcast(kRoot);
      REQUIRE(round.has_value());
      Duration last{};
      for (const auto& [who, time] : round->arrivals) {
        if (!two_.contains(who)) last = std::max(last, time);
      }
      lasts.push_back(last);
      cluster().run_for(137ms);
    }
    std::ranges::sort(lasts);
    return lasts[lasts.size() / 2];
  }
  /// How often all were told of the network since all was measured.
  [[nodiscard]] std::uint64_t told() {
    return (updates() - told_before_) / (cluster().machines().size() - 1);
  }
  [[nodiscard]] Cluster& cluster() { return trial_.cluster(); }

 private:
  static constexpr std::uint32_t kEach = 8;
  static constexpr ProcessorId kRoot{5};
  static constexpr Duration kStill = 90ms;

  void step(MachineId machine) {
    if (!are_still_) return;
    cluster().freeze(machine, kStill);
    cluster().agenda().schedule_in(kStill + kStill / 9, [this, machine] { step(machine); });
  }
  [[nodiscard]] std::uint64_t updates() {
    return cluster().network().meter().of("NetworkUpdate").messages;
  }

  Trial trial_;
  ProcessorSet two_;
  bool are_still_ = false;
  std::uint64_t told_before_ = 0;
};

std::int64_t us(Duration time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

}  // namespace

TEST_SUITE_BEGIN("sim/standstills");

TEST_CASE("who stands still now and then soon passes nothing on" * phx::support::long_search()) {
  for (const std::uint32_t sites : {1U, 3U}) {
    for (const std::size_t kib : {std::size_t{64}, std::size_t{1024}}) {
      CAPTURE(sites);
      CAPTURE(kib);
      Mesh mesh({.sites = sites, .bytes = kib << 10U});
      const Duration before = mesh.broadcasts(20);
      mesh.make_two_stand_still();
      const Duration during = mesh.broadcasts(10);
      mesh.cluster().run_for(3s);
      const Duration after = mesh.broadcasts(20);
      mesh.let_all_run();
      mesh.cluster().run_for(30s);
      const Duration again = mesh.broadcasts(20);
      MESSAGE(sites << " sites, " << kib << " KiB: " << us(before) << ", " << us(during) << ", "
                    << us(after) << ", " << us(again) << " us");
      CHECK(10 * after <= 12 * before);
      CHECK(10 * again <= 12 * before);
      // Each of the two says it once, and takes it back once.
      CHECK(mesh.told() <= 4);
    }
  }
}

// p1 is the one that is told, and tells the others.
TEST_CASE("the surveyor itself may be one of them" * phx::support::long_search()) {
  Mesh mesh({.sites = 3,
             .bytes = std::size_t{1} << 16U,
             .two = ProcessorSet::range(ProcessorId{1}, ProcessorId{2})});
  const Duration before = mesh.broadcasts(20);
  mesh.make_two_stand_still();
  mesh.cluster().run_for(5s);
  CHECK(10 * mesh.broadcasts(20) <= 12 * before);
}

TEST_CASE("without a word of those who stand still everybody waits" * phx::support::long_search()) {
  Mesh mesh({.sites = 3, .bytes = std::size_t{1} << 16U, .planted = PlantedFault::kUntoldWaits});
  const Duration before = mesh.broadcasts(20);
  mesh.make_two_stand_still();
  mesh.cluster().run_for(5s);
  CHECK(mesh.broadcasts(20) > 5 * before);
  CHECK(mesh.told() == 0);
}

TEST_SUITE_END();

}  // namespace standstills_test
