#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "collectives/reduction.h"
#include "overlay/base/overloaded.h"
#include "overlay/base/rng.h"
#include "tests/collectives/values.h"
#include "tests/support/seeds.h"

namespace phx::collectives::reduction_churn_test {
namespace {

constexpr ReductionKind kSum{ReduceOp::kSum, ReduceType::kInt64, false};

struct Options {
  std::uint32_t processors = 10;
  std::uint64_t vnodes = 30;
  std::uint64_t reductions = 4;
  std::uint64_t seed = 0;
  ReductionOptions reduction = {};
  ReductionKind kind = kSum;
};

/// All bits of it are used, so sums differ with the order.
double drawn(VnodeId v) {
  return static_cast<double>(Rng(v.value).next()) / static_cast<double>(v.value + 1);
}

/// Processors that run Reduction over reliable FIFO channels, in random order and with timers that
/// fire when the test likes. Vnode v contributes 3 v + 1 to every reduction towards v0. Processors
/// without vnodes may die; the others hear of it sooner or later, and begin a new line.
class Network {
 public:
  explicit Network(const Options& options) : options_(options), rng_(options.seed) {
    for (std::uint32_t p = 1; p <= options.processors; ++p) {
      places_.push_back({.reduction = Reduction(ProcessorId{p}, options.reduction)});
    }
    for (std::uint64_t v = 0; v < options.vnodes; ++v)
      place(any_processor()).own.insert(VnodeId{v});
    for (std::uint64_t n = 0; n < options.reductions; ++n) {
      at_target_.push_back({Accumulator(options.kind)});
    }
    done_.resize(options.reductions);
    given_.resize(options.reductions);
  }

  /// Every parent has a smaller number: a right tree, with what is below as it is.
  void grow_tree(std::uint32_t fan_out) {
    for (Place& p : places_) p.tree = TreeView{};
    for (std::uint32_t p = options_.processors; p >= 2; --p) {
      const ProcessorId parent{(p - 2) / fan_out + 1};
      place(ProcessorId{p}).tree.parent = parent;
      TreeChild child{ProcessorId{p}, {ProcessorId{p}}};
      for (const TreeChild& c : place(ProcessorId{p}).tree.children) {
        child.below = child.below.united(c.below);
      }
      place(parent).tree.children.push_back(std::move(child));
    }
    for (Place& p : places_) p.target_owner = ProcessorId{1};
  }
  /// Anything at all, cycles and children that never heard of it included.
  void scramble_tree(ProcessorId at) {
    Place& p = place(at);
    p.tree = TreeView{};
    p.target_owner = any_processor();
    if (rng_.chance(0.9)) p.tree.parent = any_processor();
    p.tree.distance_to_root =
        rng_.chance(0.1) ? kForever : 10ms * static_cast<int>(rng_.below(100));
    for (std::uint64_t n = rng_.below(4); n > 0; --n) {
      const std::uint32_t first = any_processor().value;
      p.tree.children.push_back({any_processor(), processors(first, first + 3)});
    }
  }
  void scramble_trees() {
    for (std::uint32_t p = 1; p <= options_.processors; ++p) scramble_tree(ProcessorId{p});
  }

  /// Trees without children, in which nobody knows the owner of the target.
  void set_parents(const std::vector<ProcessorId>& parents) {
    for (std::size_t p = 0; p < parents.size(); ++p) places_[p].tree.parent = parents[p];
  }

  /// Vnode `v` calls reduction `number`, wherever it is now. False: it did so before.
  bool contribute(VnodeId v, std::uint64_t number) {
    if (!done_[number].insert(v).second) return false;
    give_again(v, owner_of(v));
    return true;
  }
  void contribute_any() {
    contribute(VnodeId{rng_.below(options_.vnodes)}, rng_.below(options_.reductions));
  }
  void contribute_all() {
    for (std::uint64_t n = 0; n < options_.reductions; ++n) {
      for (std::uint64_t v = 0; v < options_.vnodes; ++v) contribute(VnodeId{v}, n);
    }
  }

  void move_one() {
    const VnodeId vnode{rng_.below(options_.vnodes)};
    const ProcessorId to = any_processor();
    if (place(to).leaving) return;
    for (Place& p : places_) p.own = p.own.minus({vnode});
    place(to).own.insert(vnode);
    arrive(vnode, to);
  }
  void leave(ProcessorId who) {
    place(who).leaving = true;
    const ProcessorId heir{who.value + 1};
    place(heir).own = place(heir).own.united(place(who).own);
    for (const VnodeId vnode : std::exchange(place(who).own, {}).ids()) arrive(vnode, heir);
    look_again(who);
  }
  /// A processor that holds no vnodes dies: what it held, and a part of what it had sent, is lost.
  void kill_one() {
    const ProcessorId dead = any_processor();
    Place& p = place(dead);
    if (p.own.size() > 0 || living() < 4) return;
    p.died = ++line_;
    p.timers.clear();
    p.reduction = Reduction(dead);
    for (auto at = channels_.begin(); at != channels_.end();) {
      const auto [from, to] = at->first;
      if (from == dead) at->second.resize(rng_.below(at->second.size() + 1));
      at = to == dead || at->second.empty() ? channels_.erase(at) : std::next(at);
    }
  }
  /// A processor hears of the deaths so far.
  void hear(ProcessorId at) {
    Place& p = place(at);
    if (p.died > 0 || p.reduction.line() == line_) return;
    if (p.tree.parent && place(*p.tree.parent).died > 0) p.tree.parent.reset();
    std::erase_if(p.tree.children, [&](const TreeChild& c) { return place(c.id).died > 0; });
    Reduction::Outbox out;
    p.reduction.on_line(line_, out);
    p.sent.clear();
    execute(at, std::move(out));
    REQUIRE(p.timers.empty());
    for (const VnodeId v : p.own.ids()) give_again(v, at);
    for (auto& [from, token] : std::exchange(p.ahead, {})) give(at, from, std::move(token));
  }
  void hear() { hear(any_processor()); }
  void hear_all() {
    for (std::uint32_t p = 1; p <= options_.processors; ++p) hear(ProcessorId{p});
  }
  /// All vnodes move to one of the first processors, so that the others may die.
  void gather(std::uint32_t most) {
    for (std::uint64_t v = 0; v < options_.vnodes; ++v) {
      for (Place& p : places_) p.own = p.own.minus({VnodeId{v}});
      place(ProcessorId{static_cast<std::uint32_t>(1 + rng_.below(most))}).own.insert(VnodeId{v});
    }
  }

  /// The owner of a Reduction calls this when something changed.
  void look_again(ProcessorId at) {
    Reduction& reduction = place(at).reduction;
    for (const ReductionId& id : reduction.held()) {
      Reduction::Outbox out;
      reduction.on_situation(now_, id, situation(at), out);
      execute(at, std::move(out));
    }
    for (const VnodeId target : reduction.targets_lately(now_)) {
      Reduction::Outbox out;
      reduction.on_situation(now_, target, place(at).target_owner, &place(at).tree, out);
      execute(at, std::move(out));
    }
  }
  void look_again() { look_again(any_processor()); }

  /// One message of a random channel. False: there is none.
  bool deliver_one() {
    if (channels_.empty()) return false;
    auto at = channels_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.below(channels_.size())));
    const auto [from, to] = at->first;
    ReductionToken token = std::move(at->second.front());
    at->second.pop_front();
    if (at->second.empty()) channels_.erase(at);
    give(to, from, std::move(token));
    return true;
  }
  /// The timer that is due first. False: there is none.
  bool fire_one() {
    Place* next = nullptr;
    std::pair<Instant, ReductionId> due;
    for (Place& p : places_) {
      for (const auto& [id, at] : p.timers) {
        if (next == nullptr || at < due.first) {
          next = &p;
          due = {at, id};
        }
      }
    }
    if (next == nullptr) return false;
    now_ = std::max(now_, due.first);
    next->timers.erase(due.second);
    const ProcessorId at{static_cast<std::uint32_t>(next - places_.data()) + 1};
    Reduction::Outbox out;
    next->reduction.on_timer(now_, due.second, situation(at), out);
    execute(at, std::move(out));
    return true;
  }
  void pass_time(Duration time) { now_ += time; }

  /// Every contribution to every reduction has come exactly once, and nothing is left anywhere.
  void check_exact() const {
    const auto v = static_cast<std::int64_t>(options_.vnodes);
    const std::int64_t expected = 3 * (v * (v - 1) / 2) + v;
    check_complete();
    for (const auto& [sum, line] : at_target_) {
      REQUIRE(elements_of<std::int64_t>(sum.value().value()) == std::vector{expected});
    }
  }
  void check_complete() const {
    for (const auto& [sum, line] : at_target_) {
      REQUIRE(sum.covered() == vnodes(0, options_.vnodes - 1));
    }
    for (const Place& p : places_) {
      REQUIRE(p.reduction.held().empty());
      REQUIRE(p.reduction.anomalies() == 0);
      REQUIRE(p.timers.empty());
    }
  }

  /// Results whose bits are not these.
  [[nodiscard]] std::uint64_t count_others(double expected) const {
    return static_cast<std::uint64_t>(
        std::count_if(at_target_.begin(), at_target_.end(), [&](const AtTarget& at) {
          return at.sum.value().value() != array_of(std::vector{expected});
        }));
  }
  [[nodiscard]] std::uint64_t tree_tokens() const { return tree_tokens_; }
  [[nodiscard]] std::uint64_t empty_tokens() const { return empty_tokens_; }
  [[nodiscard]] std::uint64_t complete_tokens() const { return complete_tokens_; }
  [[nodiscard]] std::uint64_t target_tokens() const { return target_tokens_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] std::uint64_t old_tokens() const { return old_tokens_; }
  [[nodiscard]] std::uint64_t early_tokens() const { return early_tokens_; }
  [[nodiscard]] std::uint64_t line() const { return line_; }
  [[nodiscard]] std::uint64_t most_sent() const {
    std::uint64_t most = 0;
    for (const Place& p : places_) {
      for (const auto& [id, sent] : p.sent) most = std::max(most, sent);
    }
    return most;
  }
  Rng& rng() { return rng_; }

 private:
  struct Place {
    Reduction reduction;
    VnodeSet own = {};
    std::optional<ProcessorId> target_owner = {};
    TreeView tree = {};
    bool leaving = false;
    std::map<ReductionId, Instant> timers = {};
    std::map<ReductionId, std::uint64_t> sent = {};  ///< Tokens into the tree, of this line.
    std::uint64_t died = 0;  ///< The line that its death began; 0: it lives.
    /// Of lines that it has not heard of.
    std::vector<std::pair<std::optional<ProcessorId>, ReductionToken>> ahead = {};
  };
  struct AtTarget {
    Accumulator sum;
    std::uint64_t line = 0;
  };

  Place& place(ProcessorId p) { return places_[p.value - 1]; }
  [[nodiscard]] std::uint64_t living() const {
    return static_cast<std::uint64_t>(
        std::count_if(places_.begin(), places_.end(), [](const Place& p) { return p.died == 0; }));
  }
  [[nodiscard]] ProcessorId owner_of(VnodeId v) const {
    const auto owner = std::find_if(places_.begin(), places_.end(),
                                    [v](const Place& p) { return p.own.contains(v); });
    return ProcessorId{static_cast<std::uint32_t>(owner - places_.begin()) + 1};
  }
  [[nodiscard]] bool is_complete(std::uint64_t number) const {
    return at_target_[number].sum.covered().size() == options_.vnodes;
  }
  /// What the process of `v` does: gives what it keeps under each line once, but nothing under a
  /// line below one it has used. It may not know yet what is complete.
  void give_again(VnodeId v, ProcessorId at) {
    const std::uint64_t line = place(at).reduction.line();
    std::uint64_t& used = used_[v];
    if (line < used) return;
    used = line;
    for (std::uint64_t n = 0; n < options_.reductions; ++n) {
      if (done_[n].count(v) == 0) continue;
      const auto [given, is_first] = given_[n].try_emplace(v, line);
      if (!is_first && (given->second == line || (is_complete(n) && rng_.chance(0.5)))) continue;
      given->second = line;
      ReductionToken token = sum_token({v}, static_cast<std::int64_t>(3 * v.value + 1), n);
      token.kind = options_.kind;
      if (token.kind.type == ReduceType::kDouble) {
        token.parts.front().value = array_of(std::vector{drawn(v)});
      }
      token.line = line;
      give(at, std::nullopt, std::move(token));
    }
  }
  /// What moves with a vnode, told in part only: it is a hint.
  void arrive(VnodeId vnode, ProcessorId to) {
    std::uint64_t next = 0;
    while (next < options_.reductions && done_[next].count(vnode) > 0) ++next;
    place(to).reduction.on_arrived(vnode, {{VnodeId{0}, next}});
    if (next > 0 && rng_.chance(0.5))
      give(to, std::nullopt, {{VnodeId{0}, next - 1}, {}, {}, true, place(to).reduction.line()});
    give_again(vnode, to);
  }
  /// That lives.
  ProcessorId any_processor() {
    ProcessorId p;
    do {
      p = ProcessorId{static_cast<std::uint32_t>(1 + rng_.below(options_.processors))};
    } while (p.value <= places_.size() && place(p).died > 0);
    return p;
  }
  Reduction::Situation situation(ProcessorId at) {
    Place& here = place(at);
    const auto below = [this, &here](std::size_t child) {
      VnodeSet own;
      for (const ProcessorId p : here.tree.children[child].below.ids()) {
        if (p.value <= options_.processors) own = own.united(place(p).own);
      }
      return own;
    };
    return {here.own, here.target_owner, &here.tree, below, here.leaving};
  }
  void give(ProcessorId at, std::optional<ProcessorId> from, ReductionToken token) {
    if (token.line > place(at).reduction.line()) {
      ++early_tokens_;
      place(at).ahead.emplace_back(from, std::move(token));
      return;
    }
    if (token.line < place(at).reduction.line()) ++old_tokens_;
    Reduction::Outbox out;
    place(at).reduction.on_token(now_, from, std::move(token), situation(at), out);
    execute(at, std::move(out));
  }
  void execute(ProcessorId at, Reduction::Outbox out) {
    Place& here = place(at);
    here.reduction.check_invariants();
    for (auto& item : out.take()) {
      std::visit(Overloaded{[&](Reduction::Outbox::Send& send) {
                              REQUIRE(send.to != at);
                              if (const std::uint64_t died = place(send.to).died; died > 0) {
                                REQUIRE(here.reduction.line() < died);
                                ++lost_;
                                return;
                              }
                              send.message.parts.empty() ? ++empty_tokens_ : ++tree_tokens_;
                              if (!send.message.parts.empty()) ++here.sent[send.message.id];
                              if (send.message.complete) ++complete_tokens_;
                              channels_[{at, send.to}].push_back(std::move(send.message));
                            },
                            [&](const Reduction::Outbox::Arm& arm) {
                              here.timers.erase(arm.timer);
                              if (arm.at) here.timers[arm.timer] = *arm.at;
                            },
                            [&](Reduction::Report& report) { to_target(report); }},
                 item);
    }
  }
  /// Routing to the target vnode is exact by other means [Saito08 G12].
  void to_target(Reduction::Report& report) {
    auto* to_target = std::get_if<Reduction::ToTarget>(&report);
    REQUIRE(to_target != nullptr);
    ++target_tokens_;
    ReductionToken& token = to_target->token;
    AtTarget& here = at_target_[token.id.number];
    if (is_complete(token.id.number) || token.line < here.line) return;
    if (token.line > here.line) here = {Accumulator(options_.kind), token.line};
    REQUIRE(here.sum.add(token.kind, std::move(token.parts)) == Accumulator::Added::kTaken);
  }

  Options options_;
  Rng rng_;
  Instant now_{};
  std::vector<Place> places_;  ///< Of processors 1, 2, ...
  std::map<std::pair<ProcessorId, ProcessorId>, std::deque<ReductionToken>> channels_;
  std::vector<AtTarget> at_target_;      ///< By reduction number.
  std::vector<std::set<VnodeId>> done_;  ///< By reduction number: who has contributed.
  /// By reduction number: under which line each has given last.
  std::vector<std::map<VnodeId, std::uint64_t>> given_;
  std::map<VnodeId, std::uint64_t> used_;  ///< The highest line under which a vnode has given.
  std::uint64_t line_ = 0;                 ///< Deaths so far.
  std::uint64_t tree_tokens_ = 0;
  std::uint64_t empty_tokens_ = 0;
  std::uint64_t complete_tokens_ = 0;
  std::uint64_t target_tokens_ = 0;
  std::uint64_t lost_ = 0;          ///< Sent to somebody who was dead.
  std::uint64_t old_tokens_ = 0;    ///< Of lines below the receiver's.
  std::uint64_t early_tokens_ = 0;  ///< Of lines above it.
};

/// The same with deaths, of which everybody hears at another time.
void run_deaths(Network& network) {
  Rng& rng = network.rng();
  network.gather(4);
  for (int step = 0; step < 300; ++step) {
    if (rng.chance(0.5)) network.contribute_any();
    if (rng.chance(0.6)) network.deliver_one();
    if (rng.chance(0.1)) network.fire_one();
    if (rng.chance(0.05)) network.move_one();
    if (rng.chance(0.05)) network.scramble_trees();
    if (rng.chance(0.1)) network.look_again();
    if (rng.chance(0.03)) network.kill_one();
    if (rng.chance(0.1)) network.hear();
    network.pass_time(1ms * static_cast<int>(rng.below(20)));
  }
  network.hear_all();
  network.contribute_all();
  while (network.deliver_one() || network.fire_one()) {
  }
}

/// Some random steps with every kind of change, then all contributions, then silence.
void run_churn(Network& network) {
  Rng& rng = network.rng();
  for (int step = 0; step < 300; ++step) {
    if (rng.chance(0.5)) network.contribute_any();
    if (rng.chance(0.5)) network.deliver_one();
    if (rng.chance(0.1)) network.fire_one();
    if (rng.chance(0.1)) network.move_one();
    if (rng.chance(0.1)) network.scramble_trees();
    if (rng.chance(0.1)) network.look_again();
    if (step == 150) network.leave(ProcessorId{3});
    network.pass_time(1ms * static_cast<int>(rng.below(20)));
  }
  network.contribute_all();
  while (network.deliver_one() || network.fire_one()) {
  }
}

}  // namespace

TEST_SUITE_BEGIN("collectives/reduction churn");

TEST_CASE("[Saito08 G16] arbitrary trees, moves and timers: each contribution counts once") {
  std::uint64_t tree_tokens = 0;
  std::uint64_t empty_tokens = 0;
  std::uint64_t target_tokens = 0;
  constexpr std::uint64_t kSeeds = support::seeds(1000);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    Network network({.seed = seed});
    network.scramble_trees();

    run_churn(network);

    network.check_exact();
    REQUIRE(network.most_sent() <= 1);  // so no token can circulate
    tree_tokens += network.tree_tokens();
    empty_tokens += network.empty_tokens();
    target_tokens += network.target_tokens();
  }
  CHECK(tree_tokens > 10 * kSeeds);  // all ways were really taken
  CHECK(empty_tokens > 10 * kSeeds);
  CHECK(target_tokens > 10 * kSeeds);
}

TEST_CASE("deaths: under the next line every reduction is exact, whatever was lost and where") {
  std::uint64_t deaths = 0;
  std::uint64_t lost = 0;
  std::uint64_t old_tokens = 0;
  std::uint64_t early_tokens = 0;
  constexpr std::uint64_t kSeeds = support::seeds(1000);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    Network network({.processors = 14, .vnodes = 12, .seed = seed});
    network.scramble_trees();

    run_deaths(network);

    network.check_exact();
    REQUIRE(network.most_sent() <= 1);
    deaths += network.line();
    lost += network.lost();
    old_tokens += network.old_tokens();
    early_tokens += network.early_tokens();
  }
  CHECK(deaths > 3 * kSeeds);
  CHECK(lost > kSeeds / 2);
  CHECK(old_tokens > kSeeds);
  CHECK(early_tokens > kSeeds);
}

/// As collectives/README.md draws it, for 11 vnodes: (0-7) + (8-9) + 10.
double ordered_sum_of_eleven() {
  const auto value = [](std::uint64_t v) { return drawn(VnodeId{v}); };
  const auto pair = [&](std::uint64_t v) { return value(v) + value(v + 1); };
  const double eight = (pair(0) + pair(2)) + (pair(4) + pair(6));
  return (eight + pair(8)) + value(10);
}

TEST_CASE("ordered sums have the same bits, whatever moves, dies and comes late, others do not") {
  const double expected = ordered_sum_of_eleven();
  ReductionKind kind{ReduceOp::kSum, ReduceType::kDouble, false};
  std::map<bool, std::uint64_t> others;
  constexpr std::uint64_t kSeeds = support::seeds(300);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const bool ordered : {false, true}) {
      CAPTURE(seed);
      kind.ordered = ordered;
      Network network({.processors = 14, .vnodes = 11, .seed = seed, .kind = kind});
      network.scramble_trees();

      seed % 2 == 0 ? run_churn(network) : run_deaths(network);

      network.check_complete();
      REQUIRE(network.most_sent() <= 1);
      others[ordered] += network.count_others(expected);
    }
  }
  CHECK(others[true] == 0);
  CHECK(others[false] > kSeeds);
}

TEST_CASE("limits reached all the time make it slower, not wrong") {
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    CAPTURE(seed);
    Network network({.seed = seed, .reduction = {.held_max = 2, .held_bytes_max = 12}});
    network.scramble_trees();

    run_churn(network);

    network.check_exact();
  }
}

TEST_CASE("[Saito08 E2] with a stable tree every processor sends one token, and it is complete") {
  for (const std::uint32_t fan_out : {1U, 2U, 3U, 30U}) {
    CAPTURE(fan_out);
    Network network({.processors = 31, .vnodes = 100, .reductions = 20});
    network.grow_tree(fan_out);

    for (int i = 0; i < 10'000; ++i) {
      network.contribute_any();
      if (network.rng().chance(0.3)) network.deliver_one();
    }
    network.contribute_all();
    while (network.deliver_one()) {
    }

    network.check_exact();
    CHECK(network.complete_tokens() == network.tree_tokens());
    CHECK(network.empty_tokens() == 0);
    CHECK(network.tree_tokens() <= 30 * 20);  // processors without anything below send nothing
    CHECK(network.tree_tokens() >= 20 * 20);
    CHECK(network.target_tokens() == 20);
  }
}

TEST_CASE("a frozen cycle of parents: what comes round goes to the target") {
  Network network({.processors = 3, .vnodes = 9, .reductions = 1});
  network.set_parents({ProcessorId{2}, ProcessorId{3}, ProcessorId{1}});

  network.contribute_all();
  while (network.deliver_one() || network.fire_one()) {
  }

  network.check_exact();
  CHECK(network.most_sent() == 1);
}

TEST_SUITE_END();

}  // namespace phx::collectives::reduction_churn_test
