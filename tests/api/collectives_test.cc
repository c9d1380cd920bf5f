#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/api/parts.h"
#include "runtime/api/phoenix.h"
#include "tests/api/three_processes.h"

namespace phx::collectives_test {
namespace {

using Numbers = std::vector<std::uint64_t>;

/// A job of one process with its daemon inside, at its first safe point.
struct Alone {
  explicit Alone(std::uint64_t vnodes, Duration timeout = 20s)
      : job({.vnodes = vnodes, .timeout = timeout}) {
    REQUIRE(job.safe_point());
  }
  Session job;
};

/// What `from` has for `to` in this round: of a few bytes, or more than goes along the trees.
Numbers value_of_pair(std::uint64_t round, Vnode from, Vnode to) {
  Rng rng(round * 1'000'003 + from * 1009 + to);
  const std::uint64_t bounds[] = {3, 600, 5000};
  Numbers numbers(rng.below(bounds[rng.below(3)]));
  for (std::uint64_t& number : numbers) number = rng.next();
  return numbers;
}
Numbers value_of_one(std::uint64_t round, Vnode v) {
  return value_of_pair(round, v, 1'000);
}

struct Counted {
  std::uint64_t round = 0;
  std::uint64_t spread = 0;  ///< Rounds in which all three processes held vnodes.
  void state(auto& io) { io(round, spread); }
};

void expect(bool holds, const char* what) {
  if (!holds) throw Failure(ErrorCode::kBadInput, what);
}

/// One of each, and each value compared with what it has to be.
void use_all(Session& job, std::uint64_t round) {
  const std::uint64_t n = job.vnodes();
  const Vnode root = round % n;
  const auto of = [&](Vnode v) { return value_of_one(round, v); };

  const auto gathered = job.gather(root, of);
  expect(gathered.has_value() == job.holds(root), "gather: the values are elsewhere");
  const auto all = job.allgather(of);
  expect(all.size() == n && (!gathered || *gathered == all), "allgather and gather differ");
  for (Vnode v = 0; v < n; ++v) expect(all[v] == of(v), "allgather: a wrong value");

  const auto parts = job.scatter(root, [&] {
    std::vector<Numbers> made;
    for (Vnode v = 0; v < n; ++v) made.push_back(value_of_pair(round, root, v));
    return made;
  });
  expect(parts.size() == job.held().size(), "scatter: parts are missing");
  for (const auto& [v, part] : parts) {
    expect(part == value_of_pair(round, root, v), "scatter: a wrong part");
  }

  const auto columns =
      job.alltoall([&](Vnode from, Vnode to) { return value_of_pair(round, from, to); });
  expect(columns.size() == job.held().size(), "alltoall: columns are missing");
  for (const auto& [to, column] : columns) {
    expect(column.size() == n, "alltoall: values are missing");
    for (Vnode from = 0; from < n; ++from) {
      expect(column[from] == value_of_pair(round, from, to), "alltoall: a wrong value");
    }
  }

  const auto ranks = job.scan(sum, [&](Vnode v) { return v + round; });
  for (const auto& [v, rank] : ranks) {
    expect(rank == v * (v + 1) / 2 + (v + 1) * round, "scan: a wrong sum");
  }
  const auto texts = job.exscan(
      std::plus<>(), [](Vnode v) { return std::string(1, static_cast<char>('a' + v)); }, "<");
  for (const auto& [v, text] : texts) {
    expect(text == "<" + std::string("abcdefghijklmnopqrstuvwxyz").substr(0, v),
           "exscan: a wrong text");
  }
}

}  // namespace

TEST_SUITE_BEGIN("api/collectives");

TEST_CASE("collectives give every vnode its values, whatever their sizes, while vnodes move") {
  constexpr std::uint64_t kVnodes = 11;
  constexpr std::uint64_t kRounds = 15;
  std::atomic<std::uint64_t> finished{0};
  run_on_three(kVnodes, [&](Session& job) {
    Objects<Counted> vnodes(job);
    while (job.safe_point()) {
      const std::uint64_t round = vnodes.begin()->second.round;
      use_all(job, round);
      const auto holders = job.allgather([&](Vnode) { return job.processor().value; });
      const bool is_spread = std::set(holders.begin(), holders.end()).size() == 3;
      for (auto& [v, counted] : vnodes) {
        ++counted.round;
        if (is_spread) ++counted.spread;
      }
      if (vnodes.begin()->second.spread == kRounds) break;
    }
    for (auto& [v, counted] : vnodes) finished += counted.spread == kRounds ? 1 : 0;
  });
  CHECK(finished == kVnodes);
}

TEST_CASE("what collectives send past the trees is received by no recv of the program") {
  constexpr std::uint64_t kVnodes = 3;
  std::atomic<int> received{0};
  run_on_three(kVnodes, [&](Session& job) {
    const std::string longer(100'000, 'x');
    if (!wait_for_three(job)) return;
    // v1 is told by a message that what v0 scatters is on its way, and looks for another one.
    const auto scatter = [&] {
      return job.scatter(0, [&] { return std::vector<std::string>(kVnodes, longer); });
    };
    if (job.holds(0)) {
      static_cast<void>(scatter());
      job.send(0, 1, std::string("behind it"));
    } else if (job.holds(1)) {
      if (job.recv<std::string>({.at = 1}) == "behind it") ++received;
      CHECK_FALSE(job.try_recv({.at = 1, .kind = Kind::kBroadcast}).has_value());
      if (scatter().at(1) == longer) ++received;
    } else {
      static_cast<void>(scatter());
    }
    job.barrier();
  });
  CHECK(received == 2);
}

TEST_CASE("everybody exchanges more than any process may keep for others") {
  constexpr std::uint64_t kVnodes = 6;
  std::atomic<int> exact{0};
  ::setenv("PHOENIX_SEND_BYTES", "4000000", 1);
  ::setenv("PHOENIX_RECEIVE_BYTES", "4000000", 1);
  run_on_three(kVnodes, [&](Session& job) {
    if (!wait_for_three(job)) return;
    const auto of = [](Vnode from, Vnode to) {
      return std::vector<std::uint64_t>(200'000, from * 100 + to);
    };
    const auto columns = job.alltoall(of);
    for (const auto& [to, column] : columns) {
      for (Vnode from = 0; from < kVnodes; ++from) exact += column[from] == of(from, to) ? 1 : 0;
    }
    const auto all = job.allgather([&](Vnode v) { return of(v, v); });
    for (Vnode v = 0; v < kVnodes; ++v) exact += all[v] == of(v, v) ? 1 : 0;
  });
  ::unsetenv("PHOENIX_SEND_BYTES");
  ::unsetenv("PHOENIX_RECEIVE_BYTES");
  CHECK(exact == 36 + 3 * 6);
}

TEST_CASE("collectives of one process send nothing past the trees") {
  Alone alone(4);
  const auto texts = [](std::size_t size) {
    return [size](Vnode v) { return std::string(size, static_cast<char>('a' + v)); };
  };
  for (const std::size_t size : {std::size_t{10}, std::size_t{100'000}}) {
    CAPTURE(size);
    const auto gathered = alone.job.gather(2, texts(size));
    REQUIRE(gathered.has_value());
    CHECK(gathered->at(3) == std::string(size, 'd'));
    CHECK(alone.job.allgather(texts(size)) == *gathered);
    CHECK(alone.job.scatter(1, [&] { return *gathered; }).at(3) == gathered->at(3));
    const auto columns = alone.job.alltoall([&](Vnode from, Vnode) { return texts(size)(from); });
    for (const auto& [to, column] : columns) CHECK(column == *gathered);
    CHECK_FALSE(alone.job.try_recv({.tag = {}, .kind = {}}).has_value());
  }
}

TEST_CASE("an operator for whole values sees whole values, in the order of the vnodes") {
  Alone alone(4);
  const auto of = [](Vnode v) { return Numbers(v + 1, v); };
  const auto append = whole([](Numbers left, const Numbers& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
  });
  const Numbers expected{0, 1, 1, 2, 2, 2, 3, 3, 3, 3};

  CHECK(alone.job.allreduce(append, of) == expected);
  CHECK(alone.job.reduce(2, append, of) == expected);
  CHECK(alone.job.scan(append, of).at(1) == Numbers{0, 1, 1});
  CHECK(alone.job.exscan(append, of, Numbers{9}).at(2) == Numbers{9, 0, 1, 1});
}

TEST_CASE("an operator of one's own gives all a result that is longer than what is on its way") {
  constexpr std::size_t kElements = (std::size_t{20} << 20U) / sizeof(std::uint64_t);
  const auto larger = [](std::uint64_t a, std::uint64_t b) { return a < b ? b : a; };
  const auto check = [&](Session& job) {
    const Numbers all = job.allreduce(larger, [](Vnode v) { return Numbers(kElements, v); });
    CHECK(all == Numbers(kElements, job.vnodes() - 1));
  };
  SUBCASE("in one process") {
    Alone alone(3);
    check(alone.job);
  }
  SUBCASE("in three") {
    std::atomic<int> checked = 0;
    run_on_three(6, [&](Session& job) {
      if (!wait_for_three(job)) return;
      check(job);
      ++checked;
    });
    CHECK(checked == 3);
  }
}

TEST_CASE(
    "who reduces long arrays in another order than the others is named, whatever their pieces") {
  constexpr std::size_t kShort = 32'768;
  constexpr std::size_t kLong = 65'536;
  std::atomic<int> refused = 0;
  run_on_three(3, [&](Session& job) {
    if (!wait_for_three(job)) return;
    const auto reduce = [&](std::size_t elements) {
      static_cast<void>(job.allreduce(sum, std::vector<double>(elements, 1)));
    };
    const bool is_odd = job.held().front() == 2;
    try {
      reduce(is_odd ? kLong : kShort);
      FAIL_CHECK("values of different lengths were combined");
    } catch (const Failure& failure) {
      const std::string what = failure.what();
      CHECK(what.find("does not fit: it has ") != std::string::npos);
      CHECK(what.find("524288") != std::string::npos);
      CHECK(what.find("262144") != std::string::npos);
      ++refused;
    }
  });
  CHECK(refused == 3);
}

TEST_CASE("collectives with a wrong number of values are refused with a sentence") {
  Alone alone(3);
  const auto says = [](const auto& call, const char* what) {
    CHECK_THROWS_WITH_AS(static_cast<void>(call()), what, Failure);
  };
  says([&] { return alone.job.scatter(0, [] {
               return std::vector<int>{1, 2};
             }); },
       "scatter: 2 values for 3 vnodes");
  says(
      [&] {
        return alone.job.alltoall_bytes({{1, {Payload()}}});
      },
      "alltoall: v1 gives 1 values for 3 vnodes");
  says(
      [&] { return alone.job.allreduce_bytes(reduction<int>(std::plus<>(), true), {}); },
      "allreduce: values of 0 vnodes were given; it takes one of each vnode held, and of no other");
  says([&] { return alone.job.try_recv({.tag = kCollectiveTag}); },
       "the highest tag is taken: collectives use it");
  says([&] { return alone.job.gather(7, 1); }, "gather: there is no v7: the job has 3 vnodes");
}

TEST_CASE("who makes another call than the others is named") {
  const std::vector<Payload> given{part_of(Gathering::kAllgather, encode(1), false),
                                   part_of(Gathering::kAllgather, encode(2), true),
                                   part_of(Gathering::kAlltoall, encode(3), true)};

  CHECK_THROWS_WITH_AS(static_cast<void>(gathering(Gathering::kAllgather).fold(given)),
                       "allgather: v2 has called alltoall instead", Failure);
  CHECK_THROWS_WITH_AS(static_cast<void>(gathering(Gathering::kAlltoall).fold(given)),
                       "alltoall: v0 has called allgather instead", Failure);
  CHECK(split(gathering(Gathering::kAllgather).fold({given[0], given[1]}), 2) ==
        Parts{encode(1), std::nullopt});
  CHECK_THROWS_WITH_AS(static_cast<void>(gathering(Gathering::kGather).fold({Payload()})),
                       "gather: v0 has called another collective instead", Failure);
}

TEST_CASE("parts that are damaged are refused") {
  const Parts equal{encode(1), encode(2), encode(3)};
  CHECK(split(join(equal), 3) == equal);
  CHECK(join(equal).size() < 3 * (sizeof(int) + 8) + 8);
  CHECK_THROWS_AS(static_cast<void>(split(join(equal), 4)), Failure);
  const Parts parts{encode(1), std::nullopt, Payload(), encode(std::string("text"))};
  const Payload joined = join(parts);
  CHECK(split(joined, 4) == parts);
  CHECK_THROWS_AS(static_cast<void>(split(joined, 3)), Failure);
  for (std::size_t size = 0; size < joined.size(); ++size) {
    CHECK_THROWS_AS(static_cast<void>(split(joined.slice(0, size), 4)), Failure);
  }
}

TEST_CASE("what collectives and votes wait for is taken by no recv() of another thread") {
  Alone alone(3);
  Session& job = alone.job;
  std::atomic<bool> is_done = false;
  int taken = 0;
  std::thread takes([&] {
    while (!is_done) {
      for (const auto kind : {std::optional<Kind>(), std::optional(Kind::kAllreduced),
                              std::optional(Kind::kReduced)}) {
        if (job.try_recv({.kind = kind})) ++taken;
      }
    }
  });
  const auto either = [](bool a, bool b) { return a || b; };
  const std::vector<std::uint64_t> long_one(40'000, 1);
  for (int round = 0; round < 40; ++round) {
    CHECK(job.safe_point());
    CHECK(job.allreduce(sum, [](Vnode v) { return v; }) == 3);
    CHECK(job.allreduce(either, [](Vnode v) { return v == 1; }));
    CHECK(job.reduce(2, sum, 1) == std::optional(3));
    CHECK(job.reduce(2, either, true) == std::optional(true));
    CHECK(job.allgather(1).size() == 3);
    CHECK(job.allreduce(sum, long_one)[39'999] == 3);
  }
  is_done = true;
  takes.join();
  CHECK(taken == 0);
  for (const Vnode v : job.held()) job.contribute(v, 1, sum, 2, true);
  for (const Vnode v : job.held()) CHECK(job.recv<int>({.at = v, .kind = Kind::kAllreduced}) == 6);
}

TEST_SUITE_END();

}  // namespace phx::collectives_test
