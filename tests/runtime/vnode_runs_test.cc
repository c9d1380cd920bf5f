#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "overlay/base/rng.h"
#include "runtime/wire/codec.h"
#include "tests/support/seeds.h"
#include "tests/support/traffic_net.h"

namespace phx::runtime::vnode_runs_test {
namespace {

struct Spread {
  std::uint64_t runs = 0;       ///< Of all processors together.
  std::uint64_t runs_most = 0;  ///< Of one.
  std::uint64_t routes = 0;     ///< Entries of the map: runs of one owner and epoch.
  std::uint64_t most = 0;       ///< Vnodes of one.
  std::uint64_t least = ~std::uint64_t{0};
};

Spread spread_of(const support::TrafficNet& net) {
  Spread spread;
  const VnodeMap& map = net.map(ProcessorId{1});
  for (const ProcessorId id : net.members().ids()) {
    const VnodeSet owned = map.owned_by(id);
    CHECK(owned == net.map(id).owned_by(id));  // Everybody knows all owners.
    spread.runs += owned.ranges().size();
    spread.runs_most = std::max<std::uint64_t>(spread.runs_most, owned.ranges().size());
    spread.most = std::max(spread.most, owned.size());
    spread.least = std::min(spread.least, owned.size());
  }
  for (const Route& route : map.routes(map.all())) spread.routes += route.vnodes.ranges().size();
  return spread;
}

/// Any member but the home.
ProcessorId draw(const support::TrafficNet& net, Rng& rng) {
  const auto ids = net.members().ids();
  return ids[1 + static_cast<std::size_t>(rng.below(ids.size() - 1))];
}

/// So many joins and leaves between 48 and 80 members; in the end there are 64.
void churn(support::TrafficNet& net, std::uint64_t events) {
  Rng rng(1);
  for (std::uint64_t i = 0; i < events; ++i) {
    const std::size_t count = net.members().size();
    if (count <= 48 || (count < 80 && rng.chance(0.5))) {
      net.join();
    } else {
      net.leave(draw(net, rng));
    }
  }
  while (net.members().size() > 64) net.leave(draw(net, rng));
  while (net.members().size() < 64) net.join();
}

/// Of a 1-byte broadcast on its way to all vnodes of the first `count` members.
std::uint64_t copy_bytes(const support::TrafficNet& net, std::size_t count) {
  ProcessorSet below;
  for (const ProcessorId id : net.members().ids()) {
    if (below.size() < count) below.insert(id);
  }
  collectives::TreeCopy copy{{ProcessorId{1}, TreeKind::kLatency}, 64, {}, {}};
  copy.vnodes = net.map(ProcessorId{1}).owned_by_any(below);
  copy.piece.root = VnodeId{1};
  copy.piece.payload = Payload(Bytes(1));
  return wire::Encoder().size({1000, 1000, CollectiveMessage{JobId{1}, std::move(copy)}});
}

std::uint64_t events_wanted() {
  const char* text = std::getenv("PHX_EVENTS");
  return text == nullptr ? 150 : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_SUITE_BEGIN("runtime/vnode_runs");

// PHX_EVENTS=1000: as many as took the map from 64 runs to 8,648 when every donor gave a little.
TEST_CASE("after many joins and leaves a processor has few runs of vnodes, and loads are even" *
          phx::support::long_search()) {
  support::TrafficNet net(64, 10'000);
  const std::uint64_t events = events_wanted();

  churn(net, events);

  const Spread spread = spread_of(net);
  const std::uint64_t share = 10'000 / 64;
  MESSAGE(events, " events: ", spread.runs, " runs, most of one ", spread.runs_most, "; loads ",
          spread.least, " to ", spread.most, "; ", net.moves(), " moves, ", net.messages(),
          " messages; copies for 8 and all: ", copy_bytes(net, 8), " and ", copy_bytes(net, 64));
  CHECK(spread.runs <= 2 * 64);
  CHECK(spread.runs_most <= 5);
  CHECK(spread.routes == spread.runs);  // Epochs do not cut runs.
  CHECK(spread.most * 100 <= 115 * share);
  CHECK(net.moves() <= 5 * share * (events + 16));
  CHECK(copy_bytes(net, 8) <= 120);
}

// The slowest step is that of who has most: between joins and leaves, too.
TEST_CASE("after each join and each leave of a small mesh loads are even") {
  for (const std::uint64_t vnodes : {32U, 64U, 100U, 256U}) {
    CAPTURE(vnodes);
    support::TrafficNet net(4, vnodes);
    Rng rng(3);
    double sum = 0;
    std::uint64_t runs = 0;
    const std::uint64_t events = events_wanted();
    for (std::uint64_t i = 0; i < events; ++i) {
      const std::size_t count = net.members().size();
      count <= 3 || (count < 8 && rng.chance(0.5)) ? net.join() : net.leave(draw(net, rng));
      const Spread spread = spread_of(net);
      const std::uint64_t share = (vnodes + net.members().size() - 1) / net.members().size();
      sum += static_cast<double>(spread.most) / static_cast<double>(share);
      runs += spread.runs;
      CHECK(spread.most <= share + std::max<std::uint64_t>(2, share / 8));
    }
    const double mean = sum / static_cast<double>(events);
    MESSAGE(vnodes, " vnodes: the most of one is ", mean, " shares, ", runs / events, " runs");
    CHECK(mean <= 1.04);
    CHECK(runs <= 12 * events);
  }
}

TEST_CASE("at every share loads are even, and runs few" * phx::support::long_search()) {
  for (const std::uint64_t share : {8U, 12U, 16U, 24U, 31U, 48U, 64U, 100U}) {
    CAPTURE(share);
    support::TrafficNet net(64, share * 64);
    churn(net, events_wanted());
    const Spread spread = spread_of(net);
    MESSAGE(share, ": ", spread.runs, " runs, most of one ", spread.runs_most, "; loads ",
            spread.least, " to ", spread.most, "; ", net.moves(),
            " moves; copies for 8 and all: ", copy_bytes(net, 8), " and ", copy_bytes(net, 64));
    CHECK(spread.most <= share + std::max<std::uint64_t>(2, share / 8));
    CHECK(spread.runs <= 192);
    CHECK(copy_bytes(net, 8) <= 100);
  }
}

TEST_SUITE_END();

}  // namespace phx::runtime::vnode_runs_test
