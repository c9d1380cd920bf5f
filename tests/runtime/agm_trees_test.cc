#include "runtime/agm_trees.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/rng.h"
#include "overlay/planners/tree_styles.h"

namespace phx::runtime::agm_trees_test {
namespace {

constexpr std::uint32_t kProcessors = 12;

ProcessorId p(std::uint32_t number) {
  return ProcessorId{number};
}

TreeId tree_of(ProcessorId root) {
  return {root, TreeKind::kLearned, planners::agm_style() * kLearnedTrees};
}

/// Four sites of three, at random distances.
overlay::KnownNetwork four_sites(std::uint64_t seed) {
  Rng rng(seed);
  overlay::KnownNetwork network;
  for (std::uint32_t site = 0; site < 4; ++site) {
    network.sites.push_back({"", ProcessorSet::range(p(3 * site + 1), p(3 * site + 3)), 100us});
    for (std::uint32_t other = 0; other < 4; ++other) {
      if (site == other) continue;
      network.between[{site, other}].latency = Duration(1000 + rng.below(20'000));
    }
  }
  return network;
}

/// Four sites of ten, farther from each other than inside.
overlay::KnownNetwork large_sites() {
  overlay::KnownNetwork network = four_sites(1);
  for (std::uint32_t site = 0; site < 4; ++site) {
    network.sites[site].processors = ProcessorSet::range(p(10 * site + 1), p(10 * site + 10));
    network.sites[site].latency = 100ns;
  }
  return network;
}

/// Processors whose messages arrive in order, one after the other.
struct Mesh {
  struct Processor {
    explicit Processor(ProcessorId id) : known(id), agm(id) {}
    planners::LearnedTrees known;
    AgmTrees agm;
  };

  explicit Mesh(std::uint32_t count) {
    for (std::uint32_t id = 1; id <= count; ++id) add(p(id));
  }
  void add(ProcessorId id) {
    live.insert(id);
    all.emplace(id, std::make_unique<Processor>(id));
  }
  void begin() {
    for (const ProcessorId id : live.ids()) {
      all.at(id)->known.on_members(live);
      act(id, [&](Processor& at, auto& out) { at.agm.begin(at.known, live, out); });
    }
    settle();
  }
  void learn(const overlay::KnownNetwork& network) {
    for (const ProcessorId id : live.ids()) {
      all.at(id)->known.on_network(network);
      act(id, [&](Processor& at, auto& out) { at.agm.on_change(at.known, live, out); });
    }
    settle();
  }
  /// All see it at once, newcomers begin then.
  void change_members() { change_members(p(0)); }
  /// All but one.
  void change_members(ProcessorId late) {
    for (const auto& [id, processor] : all) {
      if (id == late) continue;
      processor->known.on_members(live);
      act(id, [&](Processor& at, auto& out) {
        at.agm.begin(at.known, live, out);
        at.agm.on_change(at.known, live, out);
      });
    }
  }
  template <class Action>
  void act(ProcessorId id, Action action) {
    AgmTrees::Outbox out;
    action(*all.at(id), out);
    for (auto& item : out.take()) {
      if (auto* sent = std::get_if<AgmTrees::Outbox::Send>(&item)) {
        mail.push_back({id, sent->to, std::move(sent->message)});
      }
    }
  }
  void settle() {
    while (!mail.empty()) step();
  }
  void step() {
    auto [from, to, message] = std::move(mail.front());
    mail.pop_front();
    if (std::holds_alternative<mst::Offer>(message)) ++offers;
    if (!live.contains(from) || !live.contains(to)) return;
    act(to, [&, from = from, &message = message](Processor& at, auto& out) {
      at.agm.on_message(from, message, out);
    });
  }
  [[nodiscard]] Duration round_trip(ProcessorId a, ProcessorId b) const {
    return all.at(a)->known.round_trip(b);
  }

  /// As root, everybody sees the same tree; the sum of its weights.
  Duration check_tree(ProcessorId root) {
    Duration sum{};
    std::set<ProcessorId> seen{root};
    std::deque<ProcessorId> next{root};
    while (!next.empty()) {
      const ProcessorId at = next.front();
      next.pop_front();
      const auto view = all.at(at)->agm.view(tree_of(root));
      REQUIRE(view.has_value());
      CHECK(view->id == tree_of(root));
      for (const TreeChild& child : view->children) {
        const auto below = all.at(child.id)->agm.view(tree_of(root));
        REQUIRE(below.has_value());
        CHECK(below->parent == at);
        CHECK(seen.insert(child.id).second);
        next.push_back(child.id);
        sum += round_trip(at, child.id);
      }
    }
    CHECK(seen.size() == live.size());
    return sum;
  }
  /// By Prim's algorithm.
  [[nodiscard]] Duration least() const {
    Duration sum{};
    std::map<ProcessorId, Duration> outside;
    ProcessorId last = live.front();
    for (const ProcessorId id : live.ids()) {
      if (id != last) outside[id] = kForever;
    }
    while (!outside.empty()) {
      for (auto& [id, weight] : outside) weight = std::min(weight, round_trip(last, id));
      const auto nearest =
          std::min_element(outside.begin(), outside.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      sum += nearest->second;
      last = nearest->first;
      outside.erase(nearest);
    }
    return sum;
  }

  struct Letter {
    ProcessorId from;
    ProcessorId to;
    mst::Message message;
  };
  ProcessorSet live;
  std::map<ProcessorId, std::unique_ptr<Processor>> all;
  std::deque<Letter> mail;
  std::uint64_t offers = 0;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/agm_trees");

TEST_CASE("all roots have the minimum spanning tree of the learned network, also when it changes") {
  Mesh mesh(kProcessors);
  mesh.begin();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    mesh.learn(four_sites(seed));
    for (std::uint32_t root = 1; root <= kProcessors; ++root) {
      CHECK(mesh.check_tree(p(root)) == mesh.least());
    }
  }
}

TEST_CASE("only channels are offered that a minimum spanning tree may have") {
  Mesh mesh(40);
  mesh.begin();
  // Nothing is known: all are as near to the first one as to any other.
  CHECK(mesh.offers == 2 * 39);
  mesh.offers = 0;
  mesh.learn(large_sites());
  CHECK(mesh.check_tree(p(17)) == mesh.least());
  // From each to the first of its site, and between those; 780 pairs there are. And those to p1
  // that are no channels any more are told of.
  CHECK(mesh.offers <= 2 * (36 + 6) + 2 * 39);
}

TEST_CASE("who joins is in the tree, and who leaves is not") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Mesh mesh(6);
    mesh.begin();
    mesh.learn(four_sites(seed));
    std::uint32_t next = 7;
    for (int change = 0; change < 12; ++change) {
      if (mesh.live.size() > 2 && rng.chance(0.5)) {
        mesh.live.erase(mesh.live.ids()[rng.below(mesh.live.size())]);
      } else {
        mesh.add(p(next));
        mesh.all.at(p(next++))->known.on_network(four_sites(seed));
      }
      mesh.change_members();
      // Some of the changes come while the round of the one before runs.
      for (std::uint64_t left = rng.below(200); left > 0 && !mesh.mail.empty(); --left) mesh.step();
    }
    mesh.settle();
    for (const ProcessorId root : mesh.live.ids()) CHECK(mesh.check_tree(root) == mesh.least());
  }
}

TEST_CASE("a view leads to nobody who has left, from the moment that this is known") {
  Mesh mesh(kProcessors);
  mesh.begin();
  mesh.learn(four_sites(3));
  mesh.live.erase(p(2));
  mesh.live.erase(p(7));
  mesh.change_members();  // no message has arrived since
  std::size_t views = 0;
  for (const ProcessorId root : mesh.live.ids()) {
    for (const ProcessorId id : mesh.live.ids()) {
      const auto view = mesh.all.at(id)->agm.view(tree_of(root));
      if (!view) continue;
      ++views;
      for (const TreeChild& child : view->children) CHECK(mesh.live.contains(child.id));
      if (view->parent) CHECK(mesh.live.contains(*view->parent));
    }
  }
  CHECK(views > 0);
}

TEST_CASE("before it begins, for other styles, and at one that leaves there is no view") {
  Mesh mesh(3);
  CHECK_FALSE(mesh.all.at(p(1))->agm.view(tree_of(p(1))).has_value());
  CHECK_FALSE(mesh.all.at(p(1))->agm.is_running());
  mesh.begin();
  CHECK(mesh.all.at(p(1))->agm.view(tree_of(p(2))).has_value());
  CHECK_FALSE(mesh.all.at(p(1))->agm.view({p(2), TreeKind::kLearned}).has_value());
  CHECK_FALSE(mesh.all.at(p(1))->agm.view({p(2), TreeKind::kLatency}).has_value());
  mesh.live.erase(p(1));
  mesh.change_members();
  CHECK_FALSE(mesh.all.at(p(1))->agm.is_running());
}

// Who lets it in tells all, but its own messages may be faster.
TEST_CASE("what a newcomer says before the view that lets it in counts when that comes") {
  for (std::uint32_t late = 1; late <= 6; ++late) {
    CAPTURE(late);
    Mesh mesh(6);
    mesh.begin();
    mesh.learn(four_sites(5));
    mesh.add(p(7));
    mesh.all.at(p(7))->known.on_network(four_sites(5));
    mesh.change_members(p(late));
    mesh.settle();
    mesh.change_members();
    mesh.settle();
    for (const ProcessorId root : mesh.live.ids()) CHECK(mesh.check_tree(root) == mesh.least());
  }
}

TEST_CASE("ways of an hour and more are as long as any") {
  overlay::KnownNetwork network = four_sites(2);
  network.between[{0, 1}].latency = network.between[{1, 0}].latency = 3h;
  network.sites[2].latency = 40min;
  Mesh mesh(kProcessors);
  mesh.begin();
  mesh.learn(network);
  CHECK(mesh.check_tree(p(1)) > Duration{});
}

TEST_CASE("what a stranger says changes nothing") {
  Mesh mesh(3);
  mesh.begin();
  AgmTrees::Outbox out;
  mesh.all.at(p(1))->agm.on_message(p(9), mst::Begin{{100, p(9)}, {p(1), p(9)}}, out);
  CHECK(out.take().empty());
  CHECK(mesh.check_tree(p(2)) == mesh.least());
}

TEST_SUITE_END();

}  // namespace phx::runtime::agm_trees_test
