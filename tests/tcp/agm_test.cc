#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/rng.h"
#include "overlay/network/known_network.h"
#include "tests/support/kruskal.h"
#include "tests/support/seeds.h"
#include "tests/tcp/daemons.h"
#include "tests/tcp/folder.h"

// The distributed minimum spanning tree between real daemons, over TCP. What they take for the
// latencies of their channels is injected, so that nothing depends on how fast this machine is.

namespace phx::tcp::agm_test {

using namespace test;
using support::kruskal;
using support::Tree;
using support::Weights;

namespace {

/// Sites of one to three, at distances of which many are equal; some pairs have their own. Inside
/// may be farther than between.
overlay::KnownNetwork drawn_network(const ProcessorSet& processors, Rng& rng) {
  const auto draw = [&] { return std::chrono::microseconds(100 * (1 + rng.below(20))); };
  const std::vector<ProcessorId> ids = processors.ids();
  overlay::KnownNetwork network;
  for (std::size_t next = 0; next < ids.size();) {
    overlay::KnownNetwork::Site site{"", {}, draw()};
    for (std::uint64_t left = 1 + rng.below(3); left > 0 && next < ids.size(); --left) {
      site.processors.insert(ids[next++]);
    }
    network.sites.push_back(std::move(site));
  }
  for (std::size_t from = 0; from < network.sites.size(); ++from) {
    for (std::size_t to = 0; to < network.sites.size(); ++to) {
      if (from != to) network.between[{from, to}].latency = draw();
    }
  }
  for (const ProcessorId from : ids) {
    for (const ProcessorId to : ids) {
      if (from != to && rng.chance(0.2)) network.pairs[{from, to}].latency = draw();
    }
  }
  return network;
}

Tree exact_tree(const overlay::KnownNetwork& network, const ProcessorSet& live) {
  Weights weights;
  for (const ProcessorId low : live.ids()) {
    for (const ProcessorId high : live.ids()) {
      if (low >= high) continue;
      weights[{low, high}] = *network.way(low, high).latency + *network.way(high, low).latency;
    }
  }
  return kruskal(weights);
}

/// A mesh in this process, whose daemons have begun to find a spanning tree.
class Mesh {
 public:
  explicit Mesh(int processors) {
    for (int i = 0; i < processors; ++i) join();
    ToolClient tool = tool_at(daemons_.front().endpoint());
    runtime::JobSpec spec;
    spec.vnodes = 1;
    spec.command = {"/bin/true"};
    spec.trees = "agm";
    static_cast<void>(answer<runtime::RunStarted>(tool, runtime::RunRequest{spec}));
  }

  [[nodiscard]] std::size_t size() const { return daemons_.size(); }
  void join() {
    DriverOptions options = options_of();
    options.config.tree_style = "agm";
    options.socket_path = folder_ / ("app" + std::to_string(joined_++));
    if (!daemons_.empty()) options.join = {daemons_.back().endpoint()};
    daemons_.emplace_back(options);
  }
  void leave(std::size_t which) {
    const auto one = at(which);
    one->driver->drain();
    left_.splice(left_.end(), daemons_, one);
  }
  void crash(std::size_t which) { daemons_.erase(at(which)); }
  /// All are told, while the tree of before may still be looked for. As when a network is measured,
  /// whoever conducts the rounds, which is the first that does not leave, begins one when all
  /// others have it. They tell what they know of members: not of those that have crashed, once
  /// they have noticed.
  void inject(const overlay::KnownNetwork& network) {
    const auto wanted = network.restricted_to(live());
    for (auto daemon = daemons_.rbegin(); daemon != daemons_.rend(); ++daemon) {
      daemon->driver->know(network);
      ToolClient tool = tool_at(daemon->endpoint());
      const auto known = [&] {
        return answer<overlay::NetworkUpdate>(tool, runtime::NetworkRequest{}).network;
      };
      while (known().restricted_to(live()) != wanted) std::this_thread::yield();
    }
  }
  void wait_for_leavers() {
    for (Daemon& daemon : left_) daemon.wait();
    left_.clear();
  }
  [[nodiscard]] ProcessorSet live() const {
    ProcessorSet ids;
    for (const Daemon& daemon : daemons_) ids.insert(daemon.driver->self());
    return ids;
  }

  /// Whether all daemons say that this is the tree, as it is seen from this root.
  [[nodiscard]] bool has_tree(const Tree& tree, ProcessorId root) {
    ToolClient tool = tool_at(daemons_.back().endpoint());
    const auto status =
        answer<runtime::StatusReply>(tool, runtime::StatusRequest{true, {}, {root, SizeClass{0}}});
    Tree down;
    Tree up;
    ProcessorSet heard;
    for (const runtime::ProcessorStatus& one : status.processors) {
      heard.insert(one.id);
      for (const runtime::TreeStatus& view : one.asked_trees) {
        for (const ProcessorId child : view.children) down.insert(std::minmax(one.id, child));
        if (view.parent != kNobody) up.insert(std::minmax(one.id, view.parent));
      }
    }
    return heard == live() && down == tree && up == tree;
  }
  /// False: not until a test would hang.
  [[nodiscard]] bool reaches(const Tree& tree, ProcessorId root) {
    const auto end = std::chrono::steady_clock::now() + kWatchdog;
    while (std::chrono::steady_clock::now() < end) {
      if (has_tree(tree, root)) return true;
      std::this_thread::yield();
    }
    return false;
  }

 private:
  std::list<Daemon>::iterator at(std::size_t which) {
    return std::next(daemons_.begin(), static_cast<std::ptrdiff_t>(which));
  }

  const Folder folder_;
  int joined_ = 0;
  std::list<Daemon> daemons_;
  std::list<Daemon> left_;  ///< Leave, or have left.
};

}  // namespace

TEST_SUITE_BEGIN("tcp/agm");

TEST_CASE(
    "after changes of injected latencies, joins and leaves at once all daemons have the exact "
    "MST") {
  constexpr int kMost = 8;
  constexpr int kLeast = 3;
  Mesh mesh(5);
  std::set<Tree> trees;
  std::map<std::string, int> happened;
  const std::uint64_t sequences = support::seeds(100);
  for (std::uint64_t seed = 1; seed <= sequences; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    std::optional<overlay::KnownNetwork> network;
    for (std::uint64_t left = 1 + rng.below(4); left > 0; --left) {
      const std::uint64_t what = rng.below(4);
      if (what == 0 && mesh.size() < kMost) {
        mesh.join();
        ++happened["join"];
      } else if (what == 1 && mesh.size() > kLeast) {
        mesh.leave(rng.below(mesh.size()));
        ++happened["leave"];
      } else {
        mesh.inject(drawn_network(mesh.live(), rng));
        ++happened["other latencies"];
      }
    }
    network = drawn_network(mesh.live(), rng);
    mesh.inject(*network);

    const Tree exact = exact_tree(*network, mesh.live());
    const ProcessorId root = mesh.live().ids()[rng.below(mesh.size())];
    REQUIRE(mesh.reaches(exact, root));

    mesh.wait_for_leavers();
    trees.insert(exact);
  }
  CHECK(happened.size() == 3);
  CHECK(trees.size() > sequences * 2 / 3);
}

TEST_CASE(
    "the processor that conducts the rounds crashes: the others have the exact MST without it") {
  Mesh mesh(5);
  Rng rng(7);
  const auto network = drawn_network(mesh.live(), rng);
  mesh.inject(network);
  REQUIRE(mesh.reaches(exact_tree(network, mesh.live()), mesh.live().front()));

  mesh.inject(drawn_network(mesh.live(), rng));
  mesh.crash(0);
  mesh.inject(network);

  CHECK(mesh.reaches(exact_tree(network, mesh.live()), mesh.live().front()));
}

TEST_SUITE_END();

}  // namespace phx::tcp::agm_test
