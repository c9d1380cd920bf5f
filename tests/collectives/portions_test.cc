#include "collectives/portions.h"

#include <doctest/doctest.h>

#include "collectives/reduction.h"
#include "tests/collectives/values.h"

namespace phx::collectives::portions_test {
namespace {

using Box = Reduction::Outbox;

constexpr ReductionKind kBundled{ReduceOp::kUser, ReduceType::kBytes};

/// Values of so many vnodes, from the first one on, which share their bytes.
std::vector<ReductionPart> parts_of(std::size_t count, std::size_t bytes, std::uint64_t first = 0) {
  const Payload value{Bytes(bytes)};
  std::vector<ReductionPart> parts;
  for (std::size_t i = 0; i < count; ++i) parts.push_back({VnodeSet{VnodeId{first + i}}, value});
  return parts;
}

std::vector<std::size_t> sizes_of(const std::vector<std::vector<ReductionPart>>& all) {
  std::vector<std::size_t> sizes;
  for (const auto& portion : all) sizes.push_back(portion.size());
  return sizes;
}

}  // namespace

TEST_SUITE_BEGIN("collectives/portions");

TEST_CASE("limits: a portion has so many bytes, or one part, and so many parts") {
  using Sizes = std::vector<std::size_t>;
  CHECK(sizes_of(portions({})) == Sizes{0});
  CHECK(sizes_of(portions(parts_of(3, kPortionBytes / 3))) == Sizes{3});
  CHECK(sizes_of(portions(parts_of(5, kPortionBytes / 2))) == Sizes{2, 2, 1});
  CHECK(sizes_of(portions(parts_of(2, kPortionBytes + 1))) == Sizes{1, 1});
  CHECK(sizes_of(portions(parts_of(2 * kPortionParts + 1, 0))) ==
        Sizes{kPortionParts, kPortionParts, 1});
}

TEST_CASE("a processor passes on a portion at most, and the rest goes to the target by itself") {
  constexpr ProcessorId kSelf{2}, kParent{1}, kOther{3};
  TreeView tree;
  tree.parent = kParent;
  const VnodeSet own = vnodes(10, 12);
  const Reduction::Situation situation{
      own, kOther, &tree, [](std::size_t) { return VnodeSet(); }, false, kShortWay};
  Reduction reduction(kSelf);
  Box out;
  const ReductionId id{VnodeId{0}, 0};

  reduction.on_token(Instant{}, std::nullopt,
                     {id, kBundled, parts_of(3, kPortionBytes / 2 + 1, 10), false, 0, kShortWay},
                     situation, out);
  reduction.check_invariants();

  std::vector<std::uint64_t> up, straight;
  for (const Box::Item& item : out.take()) {
    if (const auto* sent = std::get_if<Box::Send>(&item)) {
      CHECK(sent->to == kParent);
      CHECK(sent->message.complete);
      for (const ReductionPart& part : sent->message.parts) {
        up.push_back(part.covered.front().value);
      }
    } else if (const auto* report = std::get_if<Reduction::Report>(&item)) {
      const auto& token = std::get<Reduction::ToTarget>(*report).token;
      CHECK(token.parts.size() == 1);
      CHECK_FALSE(token.complete);
      for (const ReductionPart& part : token.parts) straight.push_back(part.covered.front().value);
    }
  }
  CHECK(up == std::vector<std::uint64_t>{10});
  CHECK(straight == std::vector<std::uint64_t>{11, 12});
}

TEST_SUITE_END();

}  // namespace phx::collectives::portions_test
