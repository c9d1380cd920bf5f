// Properties of many forests together, over seeds: what the paper claims of its trees, and what our
// additions promise. After every step the net also checks that no parent pointers form a cycle.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tests/support/overlay_net.h"
#include "tests/support/seeds.h"

namespace phx::overlay::net_test {
namespace {

const ProcessorId kRoot{1};
constexpr std::uint64_t kSeeds = phx::support::seeds(20);

OverlayNetOptions sites_of(std::vector<std::uint32_t> sites, std::uint64_t seed) {
  OverlayNetOptions options;
  options.sites = std::move(sites);
  options.seed = seed;
  return options;
}

TEST_CASE("a new tree connects everybody, and few of its edges are long [Saito08 C]") {
  std::size_t long_edges = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNet net = measured_net(sites_of({8, 8, 8}, seed));

    net.use(kRoot);

    REQUIRE(net.settles_within(5s));
    check_complete(net, kRoot);
    CHECK(net.wan_depth(kRoot) == 1);
    CHECK(net.wan_edges(kRoot) <= 4);
    long_edges += net.wan_edges(kRoot);
  }
  CHECK(long_edges <= 2 * kSeeds + 4);  // two are needed
}

TEST_CASE("few edges are long with many sites too, where ten random probes would miss the own one" *
          phx::support::long_search()) {
  std::size_t long_edges = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    OverlayNet net = measured_net(sites_of(std::vector<std::uint32_t>(16, 4), seed));

    net.use(kRoot);

    REQUIRE(net.settles_within(5s));
    check_complete(net, kRoot);
    long_edges += net.wan_edges(kRoot);
  }
  CHECK(long_edges <= 5 * 18);  // 15 are needed
}

TEST_CASE("equal round trips in a site do not keep its processors from joining up") {
  OverlayNetOptions options = sites_of({8, 8}, 1);
  options.spread = 0;
  OverlayNet net = measured_net(options);

  net.use(kRoot);

  REQUIRE(net.settles_within(5s));
  check_complete(net, kRoot);
  CHECK(net.wan_edges(kRoot) == 1);
}

TEST_CASE("everybody is connected after a few round trips, long before probing ends") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNet net = measured_net(sites_of({20, 20, 20}, seed));

    net.use(kRoot);
    net.run_for(150ms);  // the longest round trip is 22 ms; refusals spread the processors out

    CHECK(net.connected(kRoot) == net.live());
  }
}

TEST_CASE(
    "a tree that inherits is connected within two round trips, with as few long edges [Saito08 "
    "G17]") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNet net = measured_net(sites_of({8, 8, 8}, seed));
    net.use(kRoot);
    REQUIRE(net.settles_within(5s));
    const std::size_t model = net.wan_edges(kRoot);
    const ProcessorId second{12};

    net.use(second);
    net.run_for(60ms);

    CHECK(net.connected(second) == net.live());
    CHECK(net.wan_edges(second) <= model + 2);
    REQUIRE(net.settles_within(5s));
    check_complete(net, second);
    CHECK(net.wan_edges(second) <= 4);
  }
}

TEST_CASE("orphans find a new parent without any probe [Saito08 G6]") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNetOptions options = sites_of({8, 8}, seed);
    options.forest.prober = {.candidates = 0, .nearest = 0, .recommended = 0, .suggestions = 0};
    options.forest.latency.fanout = 3;
    OverlayNet net = measured_net(options);
    net.use(kRoot);
    REQUIRE(net.settles_within(5s));

    net.leave(ProcessorId{2});
    net.leave(ProcessorId{5});
    net.leave(ProcessorId{9});

    REQUIRE(net.settles_within(5s));
    CHECK(net.probes() == 0);
    check_complete(net, kRoot);
  }
}

TEST_CASE("a newcomer is in the trees in use soon") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNet net = measured_net(sites_of({8, 8, 8}, seed));
    net.use(kRoot);
    net.use(ProcessorId{10});
    REQUIRE(net.settles_within(5s));

    net.join(ProcessorId{100}, 1);
    net.run_for(150ms);

    CHECK(net.connected(kRoot) == net.live());
    CHECK(net.connected(ProcessorId{10}) == net.live());
    REQUIRE(net.settles_within(5s));
    check_complete(net, kRoot);
    CHECK(net.wan_edges(kRoot) <= 5);
  }
}

TEST_CASE("when half of the processors leave at once, the others are connected within a second") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNet net = measured_net(sites_of({10, 10, 10}, seed));
    net.use(kRoot);
    REQUIRE(net.settles_within(5s));

    for (std::uint32_t id = 2; id <= 30; id += 2) net.leave(ProcessorId{id});
    net.run_for(1s);

    CHECK(net.connected(kRoot) == net.live());
    REQUIRE(net.settles_within(5s));
    check_complete(net, kRoot);
    CHECK(net.wan_edges(kRoot) <= 4);
  }
}

/// Joins, leaves, new trees and (if wanted) messages out of the past, for some seconds.
void churn(OverlayNet& net, std::uint64_t seed, bool with_replays) {
  Rng rng(seed);
  std::uint32_t next_id = 1000;
  for (int i = 0; i < 60; ++i) {
    net.run_for(Duration{static_cast<Duration::rep>(rng.below(100'000'000))});
    const std::vector<ProcessorId> live = net.live().ids();
    const ProcessorId drawn = live[static_cast<std::size_t>(rng.below(live.size()))];
    switch (rng.below(4)) {
      case 0:
        net.join(ProcessorId{next_id++}, static_cast<std::uint32_t>(rng.below(3)));
        break;
      case 1:
        if (live.size() > 4) net.leave(drawn);
        break;
      default:
        net.use(drawn);
        break;
    }
    for (int k = 0; with_replays && k < 20; ++k) net.replay_one();
  }
}

TEST_CASE(
    "whatever joins, leaves and opens, no cycle forms, and in the end all is complete [Saito08 "
    "G5]" *
    phx::support::long_search()) {
  for (std::uint64_t seed = 1; seed <= 2 * kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNetOptions options = sites_of({5, 5, 5}, seed);
    options.spread = 2.0;
    options.forest.latency.fanout = 3;
    options.forest.idle = 2s;
    OverlayNet net(options);
    net.start();

    churn(net, seed, false);

    REQUIRE(net.settles_within(20s));
    std::size_t complete = 0;
    for (const ProcessorId root : net.live().ids()) {
      CAPTURE(root);
      net.use(root);
      REQUIRE(net.settles_within(10s));
      if (net.at(root).view({root, TreeKind::kLatency}) == nullptr) continue;
      check_complete(net, root);
      ++complete;
    }
    CHECK(complete > 0);
  }
}

TEST_CASE("messages out of the past form no cycle either, and break nothing [Saito08 G5]" *
          phx::support::long_search()) {
  for (std::uint64_t seed = 1; seed <= 2 * kSeeds; ++seed) {
    CAPTURE(seed);
    OverlayNetOptions options = sites_of({5, 5, 5}, seed);
    options.spread = 2.0;
    options.forest.latency.fanout = 3;
    OverlayNet net(options);
    net.start();

    churn(net, seed, true);

    REQUIRE(net.settles_within(20s));
  }
}

TEST_CASE("the same seed gives the same run") {
  const auto run = [] {
    OverlayNet net(sites_of({5, 5, 5}, 7));
    net.start();
    churn(net, 7, false);
    return net.sent();
  };
  CHECK(run() == run());
}

TEST_CASE("nothing is sent while nothing changes") {
  OverlayNet net = measured_net(sites_of({8, 8, 8}, 3));
  net.use(kRoot);
  REQUIRE(net.settles_within(5s));
  const std::uint64_t before = net.sent();

  net.run_for(50s);

  CHECK(net.sent() == before);
}

TEST_CASE("probes per processor and change of the membership are bounded" *
          phx::support::long_search()) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    OverlayNet net = measured_net(sites_of({30, 30, 30}, seed));
    net.use(kRoot);
    REQUIRE(net.settles_within(5s));
    const std::uint64_t before = net.probes();

    net.leave(ProcessorId{40});

    REQUIRE(net.settles_within(5s));
    const ProberOptions options;
    const std::uint64_t looks = 2 * options.looks * (options.nearest + options.suggestions);
    CHECK(net.probes() - before <= net.live().size() * 3 * (options.candidates + looks));
  }
}

TEST_CASE("a tree that is not used is closed everywhere, and can be opened again [Saito08 G22]") {
  OverlayNet net = measured_net(sites_of({4, 4}, 1));
  const TreeId tree{kRoot, TreeKind::kLatency};
  net.use(kRoot);
  net.run_for(59s);
  CHECK(net.at(ProcessorId{7}).view(tree) != nullptr);

  net.run_for(2s);

  for (const ProcessorId id : net.live().ids()) CHECK(net.at(id).view(tree) == nullptr);
  net.use(kRoot);
  REQUIRE(net.settles_within(5s));
  check_complete(net, kRoot);
}

}  // namespace
}  // namespace phx::overlay::net_test
