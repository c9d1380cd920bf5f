#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include "overlay/base/rng.h"
#include "tests/mst/graphs.h"
#include "tests/support/seeds.h"

namespace adaptation_test {

using namespace phx;
using namespace phx::mst;
using namespace phx::mst::support;

namespace {

/// Measurements, members and changes of them, from a seed.
class Changes {
 public:
  Changes(std::uint32_t processors, std::uint32_t theta, std::uint64_t seed)
      : rng_(seed),
        lab_({theta, rng_.chance(0.5)}, random_delays(seed + 1)),
        is_sparse_(rng_.chance(0.5)) {
    lab_.set_members(first(processors));
    last_ = processors;
    for (const ProcessorId id : lab_.live().ids()) connect(id);
  }

  Lab& lab() { return lab_; }
  /// One of what can happen.
  void change();
  /// Goes on for some steps, or to the end.
  void go_on() {
    const std::uint64_t steps = rng_.below(60);
    for (std::uint64_t i = 0; i < steps; ++i) lab_.step();
  }
  void settle();
  /// As it is measured now by both ends.
  [[nodiscard]] Weights agreed() const;

 private:
  [[nodiscard]] Duration draw() { return Duration(1 + rng_.below(is_sparse_ ? 10 : 1000)); }
  [[nodiscard]] ProcessorId any() {
    const auto ids = lab_.live().ids();
    return ids[rng_.below(ids.size())];
  }
  void weigh(ProcessorId at, ProcessorId other, Duration weight) {
    lab_.weigh_end(at, other, weight);
    ends_[{at, other}] = weight;
  }
  void connect(ProcessorId id);
  void join();
  void leave();

  Rng rng_;
  Lab lab_;
  bool is_sparse_;
  std::uint32_t last_ = 0;
  std::map<Pair, Duration> ends_;  ///< What the first measures to the second.
};

void Changes::connect(ProcessorId id) {
  for (const ProcessorId other : lab_.live().ids()) {
    if (other == id || (is_sparse_ && rng_.chance(0.6))) continue;
    const Duration weight = draw();
    weigh(id, other, weight);
    weigh(other, id, weight);
  }
}

void Changes::join() {
  if (lab_.live().size() > 14) return;
  ProcessorSet live = lab_.live();
  live.insert(p(++last_));
  lab_.set_members(live);
  connect(p(last_));
}

void Changes::leave() {
  if (lab_.live().size() < 3) return;
  ProcessorSet live = lab_.live();
  live.erase(any());
  if (rng_.chance(0.2)) live.insert(p(++last_));
  lab_.set_members(live);
  if (live.contains(p(last_))) connect(p(last_));
}

void Changes::change() {
  const std::uint64_t what = rng_.below(10);
  if (what == 0) return join();
  if (what == 1) return leave();
  if (what == 2) return lab_.adapt();
  const ProcessorId a = any();
  const ProcessorId b = any();
  if (a == b) return;
  const Duration weight = rng_.chance(0.1) ? kForever : draw();
  weigh(a, b, weight);
  if (rng_.chance(0.7)) weigh(b, a, weight);
}

void Changes::settle() {
  REQUIRE(lab_.run());  // The membership is told; whatever was begun ends.
  lab_.adapt();
  REQUIRE(lab_.run());
}

Weights Changes::agreed() const {
  Weights weights;
  for (const auto& [ends, weight] : ends_) {
    const auto back = ends_.find({ends.second, ends.first});
    const bool are_live = lab_.live().contains(ends.first) && lab_.live().contains(ends.second);
    if (ends.second < ends.first || back == ends_.end() || !are_live) continue;
    const Duration heavier = std::max(weight, back->second);
    if (heavier != kForever) weights[ends] = heavier;
  }
  return weights;
}

void check_bound(const Weights& references, const Weights& agreed, std::uint32_t theta) {
  const double share = theta / 100.0;
  const Tree tree = kruskal(references);
  const Tree best = kruskal(agreed);
  REQUIRE(tree.size() == best.size());
  for (const auto& [ends, weight] : agreed) {
    REQUIRE(references.contains(ends));
    const auto reference = static_cast<double>(references.at(ends).count());
    const double difference = std::abs(static_cast<double>(weight.count()) - reference);
    const bool is_near = difference == 0 || difference < share * reference;
    CHECK(is_near);
  }
  CHECK(references.size() == agreed.size());
  CHECK(static_cast<double>(total(tree, agreed).count()) <=
        (1 + share) / (1 - share) * static_cast<double>(total(best, agreed).count()));
}

/// Each root sees all that it can reach, if views are made at all. How many do.
std::uint64_t check_views(const Lab& lab) {
  const Tree tree = tree_of(lab);
  std::uint64_t views = 0;
  for (const ProcessorId root : lab.live().ids()) {
    const auto view = lab.at(root).view(root);
    if (!view) continue;
    ++views;
    ProcessorSet seen{root};
    for (const TreeChild& child : view->children) seen = seen.united(child.below);
    Weights ones;
    for (const Pair& edge : tree) ones[edge] = 1ns;
    for (const ProcessorId other : lab.live().ids()) {
      const bool is_reached =
          other == root || heaviest_between(tree, ones, {root, other}).weight != kForever;
      CHECK(seen.contains(other) == is_reached);
    }
  }
  return views;
}

Tree after_failures(const Weights& before, const Weights& after, bool recoveries_are_visible) {
  Weights weights = after;
  Tree kept = kruskal(before);
  for (const auto& [ends, weight] : before) {
    if (after.at(ends) > weight) kept.erase(ends);
    if (after.at(ends) < weight && !recoveries_are_visible) weights[ends] = weight;
  }
  return kruskal(weights, kept);
}

/// Recoveries one by one, as the rule of cycles has it.
Tree after_recoveries(Tree tree, const Weights& before, const Weights& after) {
  Weights weights = after;
  for (const auto& [ends, weight] : before) weights[ends] = std::max(weight, after.at(ends));
  for (const auto& [ends, weight] : before) {
    if (after.at(ends) >= weight) continue;
    weights[ends] = after.at(ends);
    if (tree.contains(ends)) continue;
    const EdgeKey out = heaviest_between(tree, weights, ends);
    if (out < EdgeKey{weights[ends], ends.first, ends.second}) continue;
    tree.erase({out.low, out.high});
    tree.insert(ends);
  }
  return tree;
}

}  // namespace

TEST_SUITE_BEGIN("mst/adaptation");

TEST_CASE("after each of 1,000 sequences of changes, joins and leaves the tree is the exact one") {
  constexpr std::uint64_t kSequences = phx::support::seeds(1000);
  std::map<std::string_view, std::uint64_t> sent;
  std::uint64_t changed_rounds = 0;
  std::uint64_t views = 0;
  for (std::uint64_t seed = 1; seed <= kSequences; ++seed) {
    CAPTURE(seed);
    Changes changes(2 + static_cast<std::uint32_t>(seed % 11), 0, seed);
    for (int batch = 0; batch < 4; ++batch) {
      const Weights before = references_of(changes.lab());
      for (int i = 0; i < 6; ++i) {
        changes.change();
        if (i % 2 == 1) changes.go_on();
      }
      changes.settle();
      REQUIRE(references_of(changes.lab()) == changes.agreed());
      REQUIRE(tree_of(changes.lab()) == kruskal(changes.agreed()));
      if (before != changes.agreed()) ++changed_rounds;
      views += check_views(changes.lab());
    }
    for (const auto& [name, count] : changes.lab().sent()) sent[name] += count;
  }
  CHECK(changed_rounds > 3 * kSequences);
  CHECK(views > 10 * kSequences);
  // Each way of adapting was taken, not only the cheapest one.
  for (const auto* name : {"Rejoin", "Connect", "Seek", "Exchange", "ChangeRoot", "Reject"}) {
    CAPTURE(name);
    CHECK(2 * sent[name] > kSequences);
  }
}

TEST_CASE("with a threshold, the tree is exact for the references, and within the bound") {
  for (const std::uint32_t theta : {10U, 70U}) {
    for (std::uint64_t seed = 1; seed <= phx::support::seeds(200); ++seed) {
      CAPTURE(theta);
      CAPTURE(seed);
      Changes changes(2 + static_cast<std::uint32_t>(seed % 11), theta, seed);
      for (int batch = 0; batch < 4; ++batch) {
        for (int i = 0; i < 6; ++i) {
          changes.change();
          if (i % 2 == 1) changes.go_on();
        }
        changes.settle();
        const Weights references = references_of(changes.lab());
        REQUIRE(tree_of(changes.lab()) == kruskal(references));
        check_bound(references, changes.agreed(), theta);
      }
    }
  }
}

TEST_CASE("recoveries that are visible while failures are mended lead to another tree") {
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const Weights before = random_graph(7, 5, rng);
    Weights after = before;
    for (auto& [ends, weight] : after) {
      if (rng.chance(0.5)) weight = Duration(1 + rng.below(20));
    }
    CHECK(after_recoveries(after_failures(before, after, false), before, after) == kruskal(after));
    const Tree early = after_recoveries(after_failures(before, after, true), before, after);
    if (early != kruskal(after)) ++wrong;
  }
  CHECK(wrong > 20);
}

TEST_CASE("slow drift adds up to a change") {
  Lab lab({.theta = 10}, random_delays(1));
  lab.set_members(first(3));
  lab.weigh(p(1), p(2), 100ns);
  lab.weigh(p(2), p(3), 100ns);
  lab.weigh(p(1), p(3), 112ns);
  lab.adapt();
  REQUIRE(lab.run());

  for (const Duration weight : {104ns, 108ns, 109ns}) {
    lab.weigh(p(1), p(2), weight);
    lab.adapt();
    REQUIRE(lab.run());
    CHECK(lab.at(p(1)).reference(p(2)) == 100ns);
  }
  lab.weigh(p(1), p(2), 113ns);
  lab.adapt();
  REQUIRE(lab.run());

  CHECK(lab.at(p(1)).reference(p(2)) == 113ns);
  CHECK(tree_of(lab) == Tree{{p(1), p(3)}, {p(2), p(3)}});
}

TEST_CASE("a round that changes nothing costs 2 (N - 1) messages") {
  for (const std::uint32_t n : {2U, 8U, 24U}) {
    Changes changes(n, 0, n);
    changes.settle();
    const RoundId round = changes.lab().at(p(1)).version().round;
    changes.lab().forget_sent();

    changes.settle();

    CHECK(changes.lab().sent_in_all() == 2 * (n - 1));
    CHECK(changes.lab().at(p(1)).version().round == round);
  }
}

TEST_CASE("one recovery costs a wave over the tree, one failure a search") {
  constexpr std::uint32_t kN = 24;
  Lab lab({.theta = 0}, random_delays(5));
  lab.set_members(first(kN));
  std::uint64_t channels = 0;
  for (std::uint32_t a = 1; a <= kN; ++a) {
    for (std::uint32_t b = a + 1; b <= kN; ++b) {
      lab.weigh(p(a), p(b), Duration(100 * (b - a)));  // The tree is a chain.
      ++channels;
    }
  }
  lab.adapt();
  REQUIRE(lab.run());
  constexpr std::uint64_t kControl = 5 * (kN - 1) + 4;  // Begin to Done, and two offers.

  lab.forget_sent();
  lab.weigh(p(3), p(20), 50ns);
  lab.adapt();
  REQUIRE(lab.run());
  CHECK(tree_of(lab).contains({p(3), p(20)}));
  CHECK(search_messages(lab) == 0);
  CHECK(lab.sent_in_all() <= kControl + 2 * (kN - 1) + 10);

  lab.forget_sent();
  lab.weigh(p(3), p(20), 5000ns);
  lab.adapt();
  REQUIRE(lab.run());
  CHECK(!tree_of(lab).contains({p(3), p(20)}));
  CHECK(search_messages(lab) > 0);
  CHECK(search_messages(lab) <= search_bound(kN, channels));
  CHECK(lab.sent("Rejoin") == kN);
  CHECK(lab.sent_in_all() <= kControl + search_messages(lab) + kN + kN - 1 + 1);
}

TEST_CASE("a conductor that dies between two Done leaves a tree that is built anew") {
  std::uint64_t anew = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Changes changes(8, 0, seed);
    changes.settle();
    Lab& lab = changes.lab();
    for (int i = 0; i < 10; ++i) changes.change();
    const std::uint64_t before = lab.sent("Done");
    lab.adapt();
    while (lab.sent("Done") == before && lab.step()) {
    }
    for (std::uint64_t i = 0; i < seed % 8; ++i) lab.step();
    ProcessorSet live = lab.live();
    live.erase(live.front());
    if (live.empty()) continue;
    lab.set_members(live);

    std::set<RoundId> rounds;
    for (const ProcessorId id : live.ids()) rounds.insert(lab.at(id).version().round);
    if (rounds.size() > 1) ++anew;
    changes.settle();

    CHECK(tree_of(lab) == kruskal(changes.agreed()));
  }
  CHECK(anew > 10);
}

TEST_CASE("offers of a round that was given up count in the next one") {
  for (int steps = 0; steps < 40; ++steps) {
    CAPTURE(steps);
    Changes changes(6, 0, 4);
    changes.settle();
    Lab& lab = changes.lab();
    lab.weigh(p(2), p(5), 2000ns);
    lab.weigh(p(1), p(6), 0ns);
    lab.adapt();
    for (int i = 0; i < steps; ++i) lab.step();

    lab.set_members(first(6));  // Told again: the round begins again.

    REQUIRE(lab.run());
    CHECK(lab.at(p(1)).reference(p(6)) == 0ns);
    CHECK(lab.at(p(5)).reference(p(2)) == 2000ns);
    CHECK(tree_of(lab) == kruskal(references_of(lab)));
  }
}

TEST_CASE("what no processor of this round would say changes nothing") {
  Changes changes(6, 0, 3);
  changes.settle();
  SpanningTree machine = changes.lab().at(p(1));
  const std::set<ProcessorId> tree = machine.tree();
  const EdgeKey edge = edge_key(1ns, p(1), p(2));
  for (const RoundId& round : {RoundId{}, machine.version().round, RoundId{99, p(2)}}) {
    for (const std::uint32_t step : {0U, 1U, 99U}) {
      const Stamp stamp{round, step};
      const std::vector<Message> all = {Searching{stamp, Connect{7}},
                                        Searching{stamp, Initiate{9, edge, true}},
                                        Searching{stamp, Test{1, edge}},
                                        Searching{stamp, Accept{}},
                                        Searching{stamp, Reject{}},
                                        Searching{stamp, Report{}},
                                        Searching{stamp, ChangeRoot{}},
                                        Searching{stamp, Rejoin{}},
                                        Outdated{round},
                                        Ready{round, round, 1},
                                        Classified{stamp, 1, 1, 1, {edge}},
                                        Halted{stamp, 99},
                                        Recovered{stamp, false, edge},
                                        Exchanged{stamp},
                                        OfferTaken{},
                                        SeekReply{stamp, edge},
                                        Seek{stamp, p(4), edge},
                                        Step{stamp, StepKind::kForget},
                                        Step{stamp, StepKind::kTogether},
                                        Recover{stamp, edge},
                                        Exchange{stamp, edge_key(1ns, p(1), p(9)), edge},
                                        Done{round}};
      for (const ProcessorId from : {p(2), p(77)}) {
        for (const Message& message : all) {
          SpanningTree::Outbox out;
          machine.on_message(from, message, out);
          CHECK(machine.tree() == tree);
          CHECK(machine.version() == changes.lab().at(p(1)).version());
        }
      }
    }
  }
  for (const RoundId& round : {RoundId{99, p(1)}, RoundId{~0ULL, p(1)}, RoundId{~0ULL, p(2)}}) {
    SpanningTree::Outbox out;
    machine.on_message(p(2), Begin{round, first(6)}, out);
    CHECK(out.empty());
  }
}

TEST_CASE("a number of a round that nobody reaches ends nothing, whoever says it to whom") {
  for (const std::uint64_t number :
       {kRoundHeard - 1, kRoundHeard, kRoundMost - 1, 2 * kRoundMost - 1}) {
    CAPTURE(number);
    const RoundId lie{number, p(4)};
    for (const std::uint32_t deceived : {1U, 3U}) {
      CAPTURE(deceived);
      Changes changes(6, 0, 3);
      changes.settle();
      Lab& lab = changes.lab();
      lab.inject(p(4), p(deceived), Begin{lie, lab.live()});
      REQUIRE(lab.run());
      lab.weigh(p(2), p(5), 2000ns);
      lab.adapt();
      lab.inject(p(4), p(1), Outdated{lie});
      REQUIRE(lab.run(10'000));
      const bool has_heard = lab.at(p(1)).version().round.number >= kRoundHeard;
      CHECK(has_heard == (number < kRoundHeard));
      CHECK(tree_of(lab) == kruskal(references_of(lab)));
      CHECK(lab.at(p(5)).reference(p(2)) == 2000ns);
      lab.weigh(p(2), p(5), 1ns);
      lab.adapt();
      REQUIRE(lab.run(10'000));
      CHECK(tree_of(lab).contains({p(2), p(5)}));
    }
  }
}

TEST_CASE("a conductor that lies puts no edge into a tree that is no channel") {
  Lab lab({.theta = 0}, random_delays(1));
  lab.set_members(first(3));
  lab.weigh(p(1), p(2), 100ns);
  lab.weigh(p(2), p(3), 100ns);
  lab.weigh(p(1), p(3), kForever);
  lab.adapt();
  REQUIRE(lab.run());
  SpanningTree machine = lab.at(p(3));
  const RoundId one{50, p(2)};
  const RoundId other{51, p(2)};

  SpanningTree::Outbox out;
  for (const Message& message :
       {Message{Begin{one, first(3)}},
        Message{Exchange{{one, 1}, edge_key(1ns, p(1), p(3)), std::nullopt}}, Message{Done{one}},
        Message{Begin{other, first(3)}}, Message{Step{{other, 1}, StepKind::kClassify}},
        Message{Step{{other, 2}, StepKind::kRejoin}}}) {
    machine.on_message(p(2), message, out);
  }

  std::vector<Classified> classified;
  for (auto& item : out.take()) {
    const auto* sent = std::get_if<SpanningTree::Outbox::Send>(&item);
    if (sent == nullptr) continue;
    if (const auto* m = std::get_if<Classified>(&sent->message)) classified.push_back(*m);
  }
  REQUIRE(classified.size() == 1);
  CHECK(classified[0].cut == 1);
  CHECK(classified[0].degree == 0);
  CHECK(machine.tree() == std::set<ProcessorId>{p(1)});
}

TEST_SUITE_END();

}  // namespace adaptation_test
