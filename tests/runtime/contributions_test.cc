#include "runtime/endpoint/contributions.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collectives/reduction.h"
#include "runtime/endpoint/endpoint.h"
#include "runtime/endpoint/targets.h"

namespace phx::runtime::contributions_test {
namespace {

using collectives::ReduceOp;
using collectives::ReduceType;
using collectives::ReductionKind;
using collectives::ReductionToken;

constexpr VnodeId v0{0}, v1{1}, v2{2}, v3{3};
constexpr ReductionKind kSum{ReduceOp::kSum, ReduceType::kInt64, false};
constexpr ReductionKind kSumToAll{ReduceOp::kSum, ReduceType::kInt64, true};
constexpr std::uint64_t kWeight = kPieceOverhead + sizeof(std::int64_t);

Payload number(std::int64_t n) {
  return Payload::copy_of(std::as_bytes(std::span<const std::int64_t>(&n, 1)));
}

ReductionToken sum_of(const VnodeSet& covered, std::int64_t value, std::uint64_t number_of,
                      std::uint64_t line = 0) {
  return {{v0, number_of}, kSum, {{covered, number(value)}}, false, line};
}

/// Contributions of v1 and v2 to v0; half a window is two of them.
struct Source {
  explicit Source(const ContributionOptions& options = {4 * kWeight, 2}) : kept(options) {}
  ~Source() { kept.check_invariants(); }
  void push(VnodeId vnode, std::uint64_t number_of, std::int64_t value = 1) {
    kept.push(vnode, {v0, number_of}, {kSum, number(value)});
  }
  /// Numbers of what leaves now.
  std::vector<std::uint64_t> left() {
    std::vector<std::uint64_t> numbers;
    for (const ReductionToken& token : kept.take_tokens()) {
      CHECK(token.line == kept.line());
      numbers.push_back(token.id.number);
    }
    return numbers;
  }
  Contributions kept;
};

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_SUITE_BEGIN("runtime/contributions");

TEST_CASE("a window of contributions leaves, the rest follows what is complete") {
  Source source;
  for (std::uint64_t n = 0; n < 10; ++n) source.push(v1, n);

  CHECK(source.left() == Numbers{0, 1, 2, 3});
  CHECK(source.kept.kept_bytes() == 10 * kWeight);
  source.kept.on_complete(v1, v0, 2);
  CHECK(source.left() == Numbers{4, 5});
  CHECK(source.kept.kept_bytes() == 8 * kWeight);
  source.kept.on_complete(v1, v0, 1);  // said before: nothing changes
  CHECK(source.left().empty());
  source.kept.on_complete(v1, v0, 6);
  CHECK(source.left() == Numbers{6, 7, 8, 9});
  source.kept.on_complete(v1, v0, 10);
  CHECK(source.kept.kept_bytes() == 0);
  source.push(v1, 10);
  CHECK(source.left() == Numbers{10});
}

TEST_CASE("a few fit whatever their size, the oldest in any case") {
  Source source({.window_bytes = kWeight, .ahead = 3});
  for (std::uint64_t n = 0; n < 5; ++n) source.push(v1, n);
  CHECK(source.left() == Numbers{0, 1, 2});

  Source smallest({.window_bytes = 0, .ahead = 1});
  for (std::uint64_t n = 0; n < 5; ++n) smallest.push(v1, n);
  CHECK(smallest.left() == Numbers{0});
  smallest.kept.on_complete(v1, v0, 1);
  CHECK(smallest.left() == Numbers{1});
}

TEST_CASE("contributions of several vnodes to one reduction leave as one token, if they fit") {
  Source source;
  source.push(v1, 0, 3);
  source.push(v2, 0, 4);
  source.kept.push(v3, {v0, 0}, {kSumToAll, number(1)});

  const auto tokens = source.kept.take_tokens();

  REQUIRE(tokens.size() == 2);
  CHECK(tokens[0] == sum_of({v1, v2}, 7, 0));
  CHECK(tokens[1].kind == kSumToAll);
}

TEST_CASE("under each line everything that is kept leaves once more, and once only") {
  Source source;
  for (std::uint64_t n = 0; n < 6; ++n) source.push(v1, n);
  CHECK(source.left() == Numbers{0, 1, 2, 3});

  source.kept.on_line(2);
  CHECK(source.left() == Numbers{0, 1, 2, 3});
  source.kept.on_line(2);
  source.kept.on_line(1);
  CHECK(source.left().empty());
  source.kept.on_complete(v1, v0, 4);
  source.kept.on_line(3);
  CHECK(source.left() == Numbers{4, 5});
}

TEST_CASE("what did not leave the process before the line rose leaves under the new one alone") {
  Source source;
  source.push(v1, 0);
  source.kept.on_line(1);

  const auto tokens = source.kept.take_tokens();

  REQUIRE(tokens.size() == 1);
  CHECK(tokens[0] == sum_of({v1}, 1, 0, 1));
}

TEST_CASE("a vnode takes along what it keeps, and under which line that has left") {
  Source from, to;
  for (std::uint64_t n = 0; n < 6; ++n) from.push(v1, n);
  CHECK(from.left().size() == 4);

  SUBCASE("the line is the same: only what had not left does") {
    to.kept.add(v1, from.kept.remove(v1));
    CHECK(to.left().empty());
    to.kept.on_complete(v1, v0, 1);
    CHECK(to.left() == Numbers{4});
  }
  SUBCASE("the line is higher here: it leaves again at once") {
    to.kept.on_line(5);
    to.kept.add(v1, from.kept.remove(v1));
    CHECK(to.left() == Numbers{0, 1, 2, 3});
  }
  SUBCASE("the line is lower here: it waits until the daemon has heard of the death") {
    from.kept.on_line(5);
    CHECK(from.left().size() == 4);
    to.kept.add(v1, from.kept.remove(v1));
    to.kept.on_complete(v1, v0, 2);
    to.push(v1, 6);
    CHECK(to.left().empty());
    to.kept.on_line(4);
    CHECK(to.left().empty());
    to.kept.on_line(5);
    CHECK(to.left() == Numbers{4, 5});
  }
  CHECK(from.kept.kept_bytes() == 0);
}

TEST_CASE("nothing is kept for a target that takes none, and numbers go on") {
  Source source;
  for (std::uint64_t n = 0; n < 6; ++n) source.push(v1, n);
  CHECK(source.left().size() == 4);
  source.kept.on_complete(v0, kFlowClosed);
  CHECK_FALSE(source.kept.lost().has_value());  // they may have been complete
  source.push(v1, 6);
  source.kept.on_line(1);

  CHECK(source.kept.kept_bytes() == 0);
  CHECK(source.left().empty());
  Source next;
  next.kept.add(v1, source.kept.remove(v1));
  next.push(v1, 7);
  CHECK(next.left().empty());
}

TEST_CASE("one vnode asks each target for all of its process") {
  Source source;
  for (std::uint64_t n = 0; n < 3; ++n) source.push(v1, n);
  for (std::uint64_t n = 0; n < 5; ++n) source.push(v2, n);
  source.kept.push(v2, {v3, 7}, {kSum, number(1)});

  CHECK(source.kept.ask({}) ==
        std::vector<FlowQuestion>{{v1, v0, false, 0, 5}, {v2, v3, false, 0, 8}});
  CHECK(source.kept.slowest() ==
        "reductions towards v0 are not complete, for which 1 KiB are kept");
  source.kept.on_complete(v0, 5);
  source.kept.on_complete(v3, 8);
  CHECK(source.kept.ask({}).empty());
  CHECK(source.kept.slowest().empty());
}

// --- A relay between them ------------------------------------------------------------------------

TEST_CASE("costs: a relay holds a window per target, however far ahead contributors run") {
  const ContributionOptions options;
  const std::uint64_t on_way = (options.window_bytes + kWeight - 1) / kWeight;
  constexpr std::array targets{v0, v3};
  // p1 has three children, each with one vnode; that of the last one is late.
  const std::array vnodes{v1, v2, VnodeId{5}};
  TreeView tree;
  tree.parent = ProcessorId{2};
  collectives::Reduction relay(ProcessorId{1}, {.wait_min = 2s});
  std::vector<Contributions> leaves(3, Contributions(options));
  std::uint64_t passed = 0;
  const VnodeSet own;
  const auto below = [&](std::size_t child) { return VnodeSet{vnodes.at(child)}; };
  const collectives::Reduction::Situation situation{own, ProcessorId{2}, &tree, below, false};
  for (std::uint32_t i = 0; i < 3; ++i) {
    tree.children.push_back({ProcessorId{3 + i}, {}});
  }
  const auto give = [&](std::uint32_t leaf, std::uint64_t n) {
    for (const VnodeId target : targets) {
      leaves[leaf].push(vnodes[leaf], {target, n}, {kSum, number(1)});
    }
    for (ReductionToken& token : leaves[leaf].take_tokens()) {
      collectives::Reduction::Outbox out;
      relay.on_token(Instant{}, ProcessorId{3 + leaf}, std::move(token), situation, out);
      for (const auto& item : out.items()) {
        if (std::holds_alternative<collectives::Reduction::Outbox::Send>(item)) ++passed;
      }
    }
  };
  for (std::uint64_t n = 0; n < 5000; ++n) {
    give(0, n);
    give(1, n);
  }

  CHECK(relay.held().size() == targets.size() * on_way);
  CHECK(relay.held_bytes() == targets.size() * on_way * sizeof(std::int64_t));
  CHECK(relay.held_bytes() < targets.size() * options.window_bytes);
  CHECK(leaves[0].kept_bytes() == targets.size() * 5000 * kWeight);
  for (std::uint64_t n = 0; n < on_way; ++n) give(2, n);
  CHECK(relay.held().empty());
  CHECK(passed == targets.size() * on_way);
}

// --- Both, in endpoints --------------------------------------------------------------------------

namespace {

/// Two processes with four vnodes in all; everything arrives at once, unless it is held back.
struct Job {
  explicit Job(const EndpointConfig& config) : processes{Endpoint(config), Endpoint(config)} {
    for (std::size_t i = 0; i < 2; ++i) {
      processes[i].on_message(AppAttached{JobId{1}, ProcessorId{1}, 4, "", 0});
      AppGrant grant;
      for (std::uint64_t v = 2 * i; v < 2 * i + 2; ++v)
        grant.parcels.push_back({VnodeId{v}, 1, {}});
      processes[i].on_message(std::move(grant));
      static_cast<void>(processes[i].begin_safe_point(processes[i].due()));
      processes[i].finish_safe_point({});
    }
  }
  /// Carries everything until nothing moves any more.
  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Endpoint& process : processes) {
        for (ToDaemon& output : process.take_outputs()) {
          moved = true;
          carry(output);
        }
      }
    }
    for (const Endpoint& process : processes) process.check_invariants();
  }
  void carry(ToDaemon& output) {
    if (auto* m = std::get_if<AppContribute>(&output)) {
      ++tokens;
      if (loses_tokens) return;
      most_line = std::max(most_line, m->token.line);
      deliver(m->token.id.target, m->token);
    } else if (auto* b = std::get_if<AppBroadcast>(&output)) {
      ++broadcasts;
      for (std::size_t i = 0; i < 2; ++i) {
        const VnodeSet here = b->to.common(processes[i].held());
        if (!here.empty()) deliver_to(i, BroadcastDelivery{here, b->piece});
      }
    } else if (auto* f = std::get_if<AppFlow>(&output)) {
      const auto* cast_credit = std::get_if<CastCredit>(&f->message);
      if (cast_credit != nullptr) return deliver(cast_credit->root, *cast_credit);
      ++flow_messages;
      if (const auto* credit = std::get_if<FlowCredit>(&f->message)) deliver(credit->from, *credit);
      if (const auto* question = std::get_if<FlowQuestion>(&f->message)) {
        deliver(question->to, *question);
      }
    }
  }
  void deliver(VnodeId to, const Delivery& delivery) { deliver_to(to.value / 2, delivery); }
  void deliver_to(std::size_t i, const Delivery& delivery) {
    processes[i].on_message(AppDeliver{++seq[i], delivery});
  }
  void contribute_all(VnodeId target, const ReductionKind& kind, const Payload& value = number(1)) {
    for (std::uint64_t v = 0; v < 4; ++v) {
      REQUIRE(processes[v / 2].contribute(VnodeId{v}, target, {kind, value}).ok());
    }
  }
  [[nodiscard]] std::uint64_t kept() const {
    return processes[0].contributions().kept_bytes() + processes[1].contributions().kept_bytes();
  }
  std::uint64_t results(VnodeId at) {
    std::uint64_t count = 0;
    for (Endpoint& process : processes) {
      if (!process.held().contains(at)) continue;
      while (const auto taken = process.take({.at = at})) {
        CHECK(taken->second.payload == number(4));
        ++count;
      }
    }
    return count;
  }

  std::array<Endpoint, 2> processes;
  std::array<std::uint64_t, 2> seq{};
  bool loses_tokens = false;
  std::uint64_t most_line = 0;
  std::uint64_t tokens = 0;
  std::uint64_t broadcasts = 0;
  std::uint64_t flow_messages = 0;
};

}  // namespace

TEST_CASE("costs: an allreduce needs no message more, a reduce one broadcast per half window") {
  const EndpointConfig config;
  constexpr std::uint64_t kRounds = 2000;
  const std::uint64_t per_half = (config.contributions.window_bytes / 2 + kWeight - 1) / kWeight;
  Job to_all(config), to_one(config);
  for (std::uint64_t n = 0; n < kRounds; ++n) {
    to_all.contribute_all(v0, kSumToAll);
    to_all.run();
    CHECK(to_all.kept() == 0);
    to_one.contribute_all(v0, kSum);
    to_one.run();
    CHECK(to_one.kept() < 4 * per_half * kWeight);
  }
  CHECK(to_all.broadcasts == kRounds);
  CHECK(to_all.tokens == 2 * kRounds);
  CHECK(to_all.flow_messages == 0);
  CHECK(to_one.broadcasts == kRounds / per_half);
  CHECK(to_one.tokens == 2 * kRounds);
  CHECK(to_one.flow_messages == 0);
  CHECK(to_one.results(v0) == kRounds);
  CHECK(to_one.results(v1) == 0);
}

TEST_CASE("costs: of long values one broadcast tells of half of those that may be on their way") {
  const auto per_half = ContributionOptions{}.long_bytes / (2 * EndpointConfig{}.piece_bytes);
  Job job({});
  for (std::uint64_t n = 0; n < 10 * per_half; ++n) {
    job.contribute_all(v0, kSum, Payload{Bytes(EndpointConfig{}.piece_bytes)});
    job.run();
  }
  CHECK(job.broadcasts == 10);
}

TEST_CASE("the target of a reduction never holds more than a window of those that are ahead") {
  const EndpointConfig config{.contributions = {10 * kWeight, 2}};
  Job job(config);
  for (std::uint64_t n = 0; n < 100; ++n) {
    for (const VnodeId v : {v0, v1, v2}) {
      REQUIRE(job.processes[v.value / 2].contribute(v, v0, {kSum, number(1)}).ok());
    }
    job.run();
    CHECK(job.processes[0].targets().bytes() <= 10 * sizeof(std::int64_t));
  }
  CHECK(job.kept() == 3 * 100 * kWeight);
  for (std::uint64_t n = 0; n < 100; ++n) {
    REQUIRE(job.processes[1].contribute(v3, v0, {kSum, number(1)}).ok());
    job.run();
  }
  CHECK(job.results(v0) == 100);
}

TEST_CASE("limits: what is cut nowhere and longer than a message may be is refused for good") {
  constexpr std::size_t kTooLong = (std::size_t{1} << 30U) + 1;
  constexpr ReductionKind kWhole{ReduceOp::kUser, ReduceType::kBytes};
  Job job{EndpointConfig{}};
  Endpoint& process = job.processes[0];
  const std::byte byte{};
  const Payload value(nullptr, std::span(&byte, kTooLong));  // nobody looks at its bytes

  const auto made = process.contribute(v0, v2, {kWhole, value});

  REQUIRE_FALSE(made.ok());
  // Not kLimit: who asks would wait for room.
  CHECK(made.error().code == ErrorCode::kBadInput);
  CHECK(made.error().what.find("is cut nowhere") != std::string::npos);
}

TEST_CASE("above the limit contribute is refused, but not who is behind others of its process") {
  const EndpointConfig config{.outbox_bytes_max = 10 * kWeight, .contributions = {2 * kWeight, 2}};
  Job job(config);
  Endpoint& process = job.processes[0];
  std::uint64_t made = 0;
  Status last = success();
  while (last.ok()) {
    const auto one = process.contribute(v0, v2, {kSum, number(1)});
    if (one.ok()) ++made;
    if (!one.ok()) last = one.error();
  }
  CHECK(last.error().code == ErrorCode::kLimit);
  CHECK(last.error().what.starts_with("reductions towards v2 are not complete"));
  CHECK(made == 10);
  CHECK(process.contribute(v0, v2, {kSum, number(1), 0, true}).ok());
  for (std::uint64_t n = 0; n <= made; ++n) {
    CHECK(process.contribute(v1, v2, {kSum, number(1)}).ok());
    for (const VnodeId v : {v2, v3}) {
      REQUIRE(job.processes[1].contribute(v, v2, {kSum, number(1)}).ok());
      job.run();  // who was refused has asked
    }
  }
  job.run();
  CHECK(process.contribute(v0, v2, {kSum, number(1)}).ok());
  CHECK(job.results(v2) == made + 1);
}

TEST_CASE("who is refused asks, also if as much is kept as when it was refused before") {
  Job job({.outbox_bytes_max = 2 * kWeight + 10});
  Endpoint& process = job.processes[0];
  const auto is_refused = [&] { return !process.send(v0, v2, 0, Payload(Bytes(100))).ok(); };
  REQUIRE(process.send(v0, v2, 0, number(1)).ok());
  CHECK(is_refused());
  REQUIRE(process.send(v0, v3, 0, number(1)).ok());
  process.on_message(AppDeliver{1, FlowCredit{v0, v2, 1, 0, {}}});  // one of two has come
  job.run();
  const std::uint64_t said = job.flow_messages;
  CHECK(is_refused());
  job.run();
  CHECK(job.flow_messages > said);
}

TEST_CASE("tokens that are lost with a processor come again under the next line") {
  Job job({});
  job.loses_tokens = true;
  for (int n = 0; n < 3; ++n) job.contribute_all(v1, kSumToAll);
  job.run();
  CHECK(job.results(v3) == 0);

  job.loses_tokens = false;
  for (Endpoint& process : job.processes) process.on_message(AppRepair{7});
  job.run();

  for (const VnodeId v : {v0, v1, v2, v3}) CHECK(job.results(v) == 3);
  CHECK(job.most_line == 7);
  CHECK(job.kept() == 0);
}

TEST_CASE("a program that ends waits until what it contributed to is complete") {
  Job job({});
  for (const VnodeId v : {v0, v1, v2}) {
    REQUIRE(job.processes[v.value / 2].contribute(v, v3, {kSum, number(1)}).ok());
  }
  job.run();
  job.processes[0].close();
  job.run();
  CHECK_FALSE(job.processes[0].is_settled());

  SUBCASE("the last one contributes") {
    REQUIRE(job.processes[1].contribute(v3, v3, {kSum, number(1)}).ok());
    job.run();
    CHECK(job.results(v3) == 1);
    CHECK_FALSE(job.processes[1].is_settled());  // nobody has asked
  }
  SUBCASE("the target's program ends, too") {}
  job.processes[1].close();
  job.run();

  CHECK(job.processes[0].is_settled());
  CHECK(job.processes[1].is_settled());
}

TEST_CASE("a target that has taken part in an allreduce completes it before it ends") {
  Job job({});
  for (const VnodeId v : {v0, v1, v3}) {
    REQUIRE(job.processes[v.value / 2].contribute(v, v3, {kSumToAll, number(1)}).ok());
  }
  job.processes[1].close();
  job.run();
  job.processes[0].close();
  job.run();
  CHECK_FALSE(job.processes[1].is_settled());
  CHECK_FALSE(job.processes[0].is_settled());

  REQUIRE(job.processes[1].contribute(v2, v3, {kSumToAll, number(1)}).ok());
  job.run();
  CHECK(job.processes[1].is_settled());
  CHECK(job.processes[0].is_settled());
}

TEST_SUITE_END();

}  // namespace phx::runtime::contributions_test
