#include "runtime/mpi/engine/matching.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/mpi/engine/traffic.h"
#include "tests/support/seeds.h"

namespace phx::mpi::matching_test {
namespace {

Head head_of(int source, int tag, std::uint64_t sender = 0) {
  Head head;
  head.source = source;
  head.tag = tag;
  head.sender = sender;
  return head;
}

Ref<ReceiveRequest> receive_of(int source, int tag) {
  return Ref<ReceiveRequest>(new ReceiveRequest(Buffer(nullptr, 0, MPI_BYTE), {0, source, tag}));
}

bool fits(const Wanted& wanted, int source, int tag) {
  return (wanted.source == MPI_ANY_SOURCE || wanted.source == source) &&
         (wanted.tag == MPI_ANY_TAG || wanted.tag == tag);
}

}  // namespace

TEST_SUITE_BEGIN("mpi/matching");

TEST_CASE("messages and receives meet as in one list that is looked through from its beginning") {
  for (std::uint64_t seed = 0; seed < support::seeds(20); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Matching matching;
    std::deque<Head> messages;
    std::deque<Ref<ReceiveRequest>> receives;
    std::uint64_t sends = 0;
    // Few tags, and many, of which most wait: then they are found by an index.
    const std::uint64_t tags = seed % 2 == 0 ? 3 : 1'000;
    for (int i = 0; i < 2000; ++i) {
      const auto any = [&](std::uint64_t below, int none) {
        return rng.chance(below < 10 ? 0.2 : 0.02) ? none : static_cast<int>(rng.below(below));
      };
      if (rng.chance(0.5)) {
        const Head head =
            head_of(static_cast<int>(rng.below(5)), static_cast<int>(rng.below(tags)), ++sends);
        const auto expected = std::ranges::find_if(
            receives, [&](const auto& one) { return fits(one->wanted, head.source, head.tag); });
        const Ref<ReceiveRequest> met = matching.take(head);
        REQUIRE(static_cast<bool>(met) == (expected != receives.end()));
        if (met) {
          CHECK(met.get() == expected->get());
          receives.erase(expected);
        } else {
          matching.keep({head.source, head, {}});
          messages.push_back(head);
        }
      } else {
        const auto receive = receive_of(any(5, MPI_ANY_SOURCE), any(tags, MPI_ANY_TAG));
        const auto expected = std::ranges::find_if(
            messages, [&](const Head& one) { return fits(receive->wanted, one.source, one.tag); });
        const auto met = matching.take(receive->wanted);
        REQUIRE(met.has_value() == (expected != messages.end()));
        if (met) {
          CHECK(met->head.sender == expected->sender);
          messages.erase(expected);
        } else {
          matching.post(receive);
          receives.push_back(receive);
        }
      }
      if (!receives.empty() && rng.chance(0.05)) {
        const auto at = receives.begin() + static_cast<std::ptrdiff_t>(rng.below(receives.size()));
        CHECK(matching.withdraw(**at));
        CHECK_FALSE(matching.withdraw(**at));
        receives.erase(at);
      }
      if (!messages.empty() && rng.chance(0.05)) {
        const auto at = messages.begin() + static_cast<std::ptrdiff_t>(rng.below(messages.size()));
        CHECK(matching.withdraw(at->source, *at).has_value());
        CHECK_FALSE(matching.withdraw(at->source, *at).has_value());
        messages.erase(at);
      }
    }
  }
}

TEST_CASE("what waits of one source costs those of others nothing, however much it is") {
  for (const int waiting : {0, 100, 20'000}) {
    CAPTURE(waiting);
    Matching matching;
    for (int i = 0; i < waiting; ++i) {
      matching.keep({1, head_of(1, 7), {}});
      matching.post(receive_of(2, 7));
    }
    const std::uint64_t before = matching.looks();
    for (int i = 0; i < 100; ++i) {
      matching.keep({3, head_of(3, 7), {}});
      CHECK(matching.take(Wanted{0, 3, 7}).has_value());
      matching.post(receive_of(4, 7));
      CHECK(matching.take(head_of(4, 7)));
    }
    CHECK(matching.looks() - before == 200);
  }
}

TEST_CASE("many that wait are found in any order of their tags") {
  constexpr int kMany = 20'000;
  for (const bool is_reversed : {false, true}) {
    CAPTURE(is_reversed);
    Matching matching;
    for (int i = 0; i < kMany; ++i) {
      matching.keep({1, head_of(1, i), {}});
      matching.post(receive_of(2, i));
    }
    for (int i = 0; i < kMany; ++i) {
      const int tag = is_reversed ? kMany - 1 - i : i;
      const int source = i % 3 == 0 ? MPI_ANY_SOURCE : 1;
      REQUIRE(matching.take(Wanted{0, source, tag}).has_value());
      REQUIRE(matching.take(head_of(2, tag)));
    }
    CHECK(matching.looks() < 4 * kMany);
  }
}

TEST_CASE("of a context that is freed nothing is kept, unless something waits in it") {
  Matching matching;
  for (std::uint64_t context = 0; context < 1000; ++context) {
    Head head;
    head.context = context;
    matching.keep({0, head, {}});
    matching.forget(context);
    CHECK(matching.contexts() == 1);
    CHECK(matching.take(Wanted{context, MPI_ANY_SOURCE, MPI_ANY_TAG}).has_value());
    matching.forget(context);
  }
  CHECK(matching.contexts() == 0);
}

TEST_SUITE_END();

}  // namespace phx::mpi::matching_test
