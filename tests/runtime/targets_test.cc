#include "runtime/endpoint/targets.h"

#include <doctest/doctest.h>

#include <span>
#include <utility>
#include <vector>

namespace phx::runtime::targets_test {
namespace {

using collectives::ReduceOp;
using collectives::ReduceType;
using collectives::ReductionKind;
using collectives::ReductionToken;
using Numbers = std::vector<std::uint64_t>;

constexpr VnodeId v0{0}, v1{1}, v2{2};
constexpr ReductionKind kSum{ReduceOp::kSum, ReduceType::kInt64, false};
constexpr std::uint64_t kWeight = kPieceOverhead + sizeof(std::int64_t);

Payload number(std::int64_t n) {
  return Payload::copy_of(std::as_bytes(std::span<const std::int64_t>(&n, 1)));
}

ReductionToken sum_of(const VnodeSet& covered, std::uint64_t number_of, std::uint64_t line) {
  const auto value = static_cast<std::int64_t>(covered.size());
  return {{v0, number_of}, kSum, {{covered, number(value)}}, false, line};
}

/// v0 of a job of three vnodes.
struct Sink {
  explicit Sink(AsTarget state = {}) {
    targets.set_total(3);
    targets.add(v0, std::move(state));
  }
  void give(const VnodeSet& covered, std::uint64_t number_of, std::uint64_t line = 0) {
    targets.on_token(sum_of(covered, number_of, line));
  }
  /// Numbers of what is complete now; all are right.
  Numbers done() {
    Numbers numbers;
    for (Targets::Reduced& reduced : targets.take_reduced()) {
      CHECK(reduced.value.value().value() == number(3));
      numbers.push_back(reduced.id.number);
    }
    return numbers;
  }
  Targets targets{{4 * kWeight, 2}};
};

}  // namespace

TEST_SUITE_BEGIN("runtime/targets");

TEST_CASE("reductions complete in the order of their numbers, and late tokens do not open them") {
  Sink sink;
  sink.give({v0, v1, v2}, 1);
  sink.give({v0, v1}, 0);
  CHECK(sink.done().empty());

  sink.give({v2}, 0);
  CHECK(sink.done() == Numbers{0, 1});
  sink.give({v0, v1, v2}, 0, 1);
  CHECK(sink.done().empty());
  CHECK(sink.targets.late() == 1);
  CHECK(sink.targets.bytes() == 0);
}

TEST_CASE("tokens of a higher line replace those of a lower one, which are dropped after that") {
  Sink sink;
  sink.give({v0, v1}, 0, 3);
  sink.give({v1}, 0, 4);
  sink.give({v2}, 0, 3);  // would have completed line 3
  CHECK(sink.done().empty());

  Sink next(sink.targets.remove(v0));
  next.give({v2}, 0, 3);
  next.give({v0}, 0, 4);
  CHECK(next.done().empty());
  next.give({v2}, 0, 4);
  CHECK(next.done() == Numbers{0});
}

TEST_CASE("contributors are told when half a window is complete, unless a result told them") {
  Sink sink;
  Numbers told;
  for (std::uint64_t n = 0; n < 10; ++n) {
    sink.give({v0, v1, v2}, n);
    CHECK(sink.done() == Numbers{n});
    if (n == 4) sink.targets.on_told({v0, 4});
    if (n == 6) sink.targets.on_told({v0, 5});  // 6 is not told by that
    for (const auto& [target, number_of] : sink.targets.take_news()) told.push_back(number_of);
  }
  CHECK(told == Numbers{1, 3, 6, 8});
}

TEST_CASE("who asks hears what is complete, and once more when all it wants to know of is") {
  Sink sink;
  sink.targets.on_question({v1, v0, false, 0, 1});
  CHECK(sink.targets.take_credits().empty());  // nothing is complete yet
  sink.give({v0, v1, v2}, 0);
  CHECK(sink.targets.take_credits() == std::vector<FlowCredit>{{v1, v0, 0, 0, {}, 1}});
  sink.targets.on_question({v2, v0, false, 0, 2});
  CHECK(sink.targets.take_credits() == std::vector<FlowCredit>{{v2, v0, 0, 0, {}, 1}});

  Sink next(sink.targets.remove(v0));
  CHECK(next.targets.take_credits() == std::vector<FlowCredit>{{v2, v0, 0, 0, {}, 1}});
  next.give({v0, v1, v2}, 1);
  CHECK(next.targets.take_credits() == std::vector<FlowCredit>{{v2, v0, 0, 0, {}, 2}});
  next.give({v0, v1, v2}, 2);
  CHECK(next.targets.take_credits().empty());
}

TEST_CASE("who asks for much hears every half window, so that what waits for credit goes on") {
  Sink sink;
  sink.targets.on_question({v1, v0, false, 0, 100});
  std::uint64_t told = 0;
  for (std::uint64_t n = 0; n < 20; ++n) {
    sink.give({v0, v1, v2}, n);
    sink.targets.on_told({v0, n});
    for (const FlowCredit& credit : sink.targets.take_credits()) {
      CHECK(credit == FlowCredit{v1, v0, 0, 0, {}, n + 1});
      ++told;
    }
  }
  CHECK(told == 10);
}

TEST_CASE("a target whose program is done says that nothing need be kept") {
  for (const bool waits : {false, true}) {
    CAPTURE(waits);
    Sink sink;
    const std::vector<FlowCredit> closed{{v1, v0, 0, 0, {}, kFlowIncomplete}};
    sink.targets.on_question({v1, v0, false, 0, 1});
    sink.targets.close([&](VnodeId) { return waits; });
    if (waits) {
      CHECK(sink.targets.take_credits().empty());
      sink.targets.finish();
    }
    CHECK(sink.targets.take_credits() == closed);
    sink.targets.on_question({v1, v0, false, 0, 1});
    CHECK(sink.targets.take_credits() == closed);
  }
}

TEST_CASE("a target says whom the first of its reductions lacks that others have begun") {
  Sink sink;
  CHECK(sink.targets.lacking().empty());
  sink.give({v0, v1, v2}, 1);
  CHECK(sink.targets.lacking().empty());  // nobody has contributed to the first one
  const std::uint64_t taken = sink.targets.taken();
  sink.give({v1}, 0);
  CHECK(sink.targets.taken() == taken + 1);
  CHECK(sink.targets.lacking() == "a reduction to v0 lacks v0,2");
  sink.give({v0}, 0);
  CHECK(sink.targets.lacking() == "a reduction to v0 lacks v2");
  sink.give({v0}, 0);  // once more: changes nothing
  CHECK(sink.targets.taken() == taken + 2);
  sink.give({v2}, 0);
  CHECK(sink.done() == Numbers{0, 1});
  CHECK(sink.targets.lacking().empty());
}

TEST_CASE("whom a reduction lacks is told in a line, however many they are") {
  Targets targets{{4 * kWeight, 2}};
  targets.set_total(10'000);
  targets.add(v0, {});
  for (std::uint64_t v = 0; v < 10'000; v += 2) targets.on_token(sum_of({VnodeId{v}}, 0, 0));
  CHECK(targets.lacking() == "a reduction to v0 lacks v1,3,5,7,9,11,13,15 and others");
}

TEST_SUITE_END();

}  // namespace phx::runtime::targets_test
