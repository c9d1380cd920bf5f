// Properties of many forests together that make bandwidth trees, over seeds. After every step the
// net also checks that no parent pointers form a cycle.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "overlay/base/rng.h"
#include "tests/support/overlay_net.h"
#include "tests/support/seeds.h"

namespace phx::overlay::bandwidth_net_test {
namespace {

const ProcessorId kRoot{1};
constexpr std::uint64_t kMbit = 125'000;
constexpr std::uint64_t kSeeds = phx::support::seeds(10);

OverlayNetOptions sites_of(std::vector<std::uint32_t> sites, std::uint64_t seed) {
  OverlayNetOptions options;
  options.sites = std::move(sites);
  options.seed = seed;
  options.kind = TreeKind::kBandwidth;
  options.rate = 100 * kMbit;
  return options;
}

double rate_at(const OverlayNet& net, ProcessorId id) {
  const AdaptiveTree* tree = net.at(id).tree({kRoot, TreeKind::kBandwidth});
  return 1048576 * 1e3 / static_cast<double>(tree->advert().mebibyte_time.count());
}

TEST_CASE("a new tree becomes one line, and no site is left more than once [Saito08 D]") {
  std::size_t leaves = 0;
  std::size_t long_edges = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNet net = measured_net(sites_of({8, 8, 8}, seed));

    net.use(kRoot);

    REQUIRE(net.settles_within(30s));
    check_complete(net, kRoot);
    CHECK(net.leaves(kRoot) <= 3);
    leaves += net.leaves(kRoot);
    long_edges += net.wan_edges(kRoot);
  }
  MESSAGE(leaves << " leaves, " << long_edges << " long edges in " << kSeeds << " trees");
  CHECK(leaves <= kSeeds + kSeeds / 2);
  CHECK(long_edges <= 2 * kSeeds + kSeeds / 2);  // two are needed
}

TEST_CASE("it is a line again after half of the processors left, and after as many came" *
          phx::support::long_search()) {
  std::size_t leaves = 0;
  std::size_t long_edges = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNet net = measured_net(sites_of({12, 12, 12}, seed));
    net.use(kRoot);
    REQUIRE(net.settles_within(30s));

    for (std::uint32_t i = 3; i <= 36; i += 2) net.leave(ProcessorId{i});
    net.run_for(1s);
    net.use(kRoot);
    REQUIRE(net.settles_within(30s));
    check_complete(net, kRoot);
    leaves += net.leaves(kRoot);
    long_edges += net.wan_edges(kRoot);

    for (std::uint32_t i = 0; i < 18; ++i) net.join(ProcessorId{100 + i}, i % 3);
    net.run_for(1s);
    net.use(kRoot);
    REQUIRE(net.settles_within(30s));
    check_complete(net, kRoot);
    leaves += net.leaves(kRoot);
    long_edges += net.wan_edges(kRoot);
  }
  MESSAGE(leaves << " leaves, " << long_edges << " long edges in " << 2 * kSeeds << " trees");
  CHECK(leaves <= 3 * kSeeds);
  CHECK(long_edges <= 6 * kSeeds);  // two are needed
}

TEST_CASE("who has a slow interface is a leaf, and nobody else is slow because of it") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNet net(sites_of({8, 8}, seed));
    const ProcessorId slow{static_cast<std::uint32_t>(2 + seed % 15)};
    net.set_rate(slow, 10 * kMbit);
    net.start();
    REQUIRE(net.settles_within(10s));

    net.use(kRoot);

    REQUIRE(net.settles_within(30s));
    check_complete(net, kRoot);
    CHECK(net.at(slow).view({kRoot, TreeKind::kBandwidth})->children.empty());
    for (const ProcessorId id : net.live().ids()) {
      if (id != kRoot && id != slow) CHECK(rate_at(net, id) > 3);  // 12.5 halved once, or twice
    }
  }
}

TEST_CASE("a narrow way between sites is no reason to cross it more often") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNetOptions options = sites_of({8, 8}, seed);
    options.wan_rate = 10 * kMbit;
    OverlayNet net = measured_net(options);

    net.use(kRoot);

    REQUIRE(net.settles_within(30s));
    check_complete(net, kRoot);
    CHECK(net.wan_edges(kRoot) <= 2);  // one is needed
    for (const ProcessorId id : net.live().ids()) {
      if (id != kRoot && net.same_site(id, kRoot)) CHECK(rate_at(net, id) > 3);
    }
  }
}

TEST_CASE("starved ones get their move by a new sequence number, and all is silent after that") {
  std::uint64_t raised = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    OverlayNet net = measured_net(sites_of({8, 8, 8}, seed));
    net.use(kRoot);
    REQUIRE(net.settles_within(30s));
    raised += net.at(kRoot).tree({kRoot, TreeKind::kBandwidth})->label().seq - 1;
    const std::uint64_t sent = net.sent();

    net.run_for(20s);

    CHECK(net.sent() == sent);
  }
  MESSAGE(raised << " numbers in " << kSeeds << " trees");
  CHECK(raised > 0);
  CHECK(raised <= 20 * kSeeds);
}

TEST_CASE("processors come and go, and old messages come again: never a cycle, and all connected") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNet net = measured_net(sites_of({6, 6, 6}, seed));
    Rng rng(seed);
    const ProcessorId second{8};
    std::uint32_t newest = 100;
    for (int i = 0; i < 60; ++i) {
      net.use(kRoot);
      if (net.live().contains(second)) net.use(second);
      net.run_for(Duration{static_cast<Duration::rep>(rng.below(400'000'000))});
      for (int j = 0; j < 5; ++j) net.replay_one();
      const auto ids = net.live().ids();
      const ProcessorId id = ids[static_cast<std::size_t>(rng.below(ids.size()))];
      if (rng.chance(0.5) && id != kRoot && ids.size() > 6) net.leave(id);
      if (rng.chance(0.5))
        net.join(ProcessorId{newest++}, static_cast<std::uint32_t>(rng.below(3)));
    }
    REQUIRE(net.settles_within(40s));
    check_complete(net, kRoot);
  }
}

TEST_CASE("what a tree costs: two downloads or three for each processor, and messages for each" *
          phx::support::long_search()) {
  for (const std::uint32_t each : {8U, 20U, 40U}) {
    const std::uint64_t count = 3 * std::uint64_t{each};
    CAPTURE(count);
    OverlayNet net = measured_net(sites_of({each, each, each}, 1));
    const std::uint64_t before = net.sent();

    net.use(kRoot);

    REQUIRE(net.settles_within(40s));
    const std::uint64_t messages = net.sent() - before;
    MESSAGE(count << " processors, of each: " << net.loaded() / 1024 / count << " KiB in "
                  << net.fetches() / count << " requests, " << messages / count << " messages");
    // 64 and 128 KiB in 8 parts each; more over long ways; and who is measured late once more.
    CHECK(net.loaded() <= count * (std::uint64_t{800} << 10U));
    CHECK(net.fetches() <= 8 * count);
    // Probes of both trees, places in both; and who is below goes up the line step by step.
    CHECK(messages <= count * (150 + 2 * count));
  }
}

}  // namespace
}  // namespace phx::overlay::bandwidth_net_test
