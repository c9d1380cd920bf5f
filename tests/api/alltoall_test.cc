#include "runtime/api/alltoall.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "runtime/api/failure.h"
#include "runtime/api/values.h"

namespace phx::alltoall_test {
namespace {

constexpr std::uint64_t kProcesses = 3;

/// How long the value of one vnode for another one is.
using Size = std::function<std::size_t(Vnode from, Vnode to)>;

Payload value_of(const Size& size, Vnode from, Vnode to) {
  return Payload(Bytes(size(from, to), static_cast<std::byte>(31 * from + to)));
}

/// Every third vnode is held by the same process.
Alltoall::Rows rows_of(std::uint64_t process, std::uint64_t vnodes, const Size& size) {
  Alltoall::Rows rows;
  for (Vnode from = process; from < vnodes; from += kProcesses) {
    for (Vnode to = 0; to < vnodes; ++to) rows[from].push_back(value_of(size, from, to));
  }
  return rows;
}

/// Gives what is sent to whoever expects it, and compares each value. The number of messages.
std::size_t exchange(std::uint64_t vnodes, const Size& size) {
  std::vector<Alltoall::Rows> rows;
  for (std::uint64_t p = 0; p < kProcesses; ++p) rows.push_back(rows_of(p, vnodes, size));
  std::vector<Alltoall> processes;
  for (const Alltoall::Rows& one : rows) processes.emplace_back(vnodes, one);
  std::map<Vnode, Payload> given;
  std::map<std::pair<Vnode, Vnode>, Payload> messages;
  for (const Alltoall& process : processes) {
    for (const auto& [v, part] : process.parts()) given[v] = part;
    for (const auto& sent : process.sends()) messages[{sent.from, *sent.to}] = sent.payload;
  }
  std::vector<Payload> parts;
  for (const auto& [v, part] : given) parts.push_back(part);
  const auto count = static_cast<std::size_t>(vnodes);
  const Parts all = split(gathering(Gathering::kAlltoall).fold(parts), count);
  std::size_t awaited = 0;
  for (std::size_t p = 0; p < kProcesses; ++p) {
    std::vector<Payload> received;
    for (const auto& one : processes[p].expected(all)) {
      REQUIRE(messages.contains({one.from, one.at}));
      received.push_back(messages[{one.from, one.at}]);
    }
    awaited += received.size();
    const Alltoall::Rows columns = processes[p].columns(received);
    CHECK(columns.size() == rows[p].size());
    for (const auto& [to, column] : columns) {
      REQUIRE(column.size() == count);
      for (Vnode from = 0; from < vnodes; ++from) {
        CHECK(column[static_cast<std::size_t>(from)] == value_of(size, from, to));
      }
    }
  }
  CHECK(awaited == messages.size());
  return messages.size();
}

}  // namespace

TEST_SUITE_BEGIN("api/alltoall");

TEST_CASE("few bytes go to everybody, and send nothing") {
  CHECK(exchange(12, [](Vnode, Vnode) { return 40; }) == 0);
  CHECK(exchange(12, [](Vnode from, Vnode to) { return from + to; }) == 0);
  CHECK(exchange(12, [](Vnode, Vnode) { return 0; }) == 0);
}

TEST_CASE("many short values cost a message per process and vnode elsewhere") {
  for (const std::uint64_t vnodes : {60U, 120U}) {
    CAPTURE(vnodes);
    const std::uint64_t expected = kProcesses * (vnodes - vnodes / kProcesses);
    CHECK(exchange(vnodes, [](Vnode, Vnode) { return 500; }) == expected);
    // Most are empty, as those of a graph's neighbours.
    CHECK(exchange(vnodes, [](Vnode from, Vnode to) { return (from + to) % 20 == 0 ? 6000 : 0; }) ==
          expected);
  }
}

TEST_CASE("long values go alone, so that they are not copied") {
  const std::uint64_t vnodes = 12;
  CHECK(exchange(vnodes, [](Vnode, Vnode) { return 5000; }) ==
        vnodes * (vnodes - vnodes / kProcesses));
}

TEST_CASE("vnodes with few bytes and vnodes with many go together") {
  const std::uint64_t vnodes = 60;
  const std::uint64_t elsewhere = vnodes - vnodes / kProcesses;
  // Of each process every second vnode has something to send.
  CHECK(exchange(vnodes, [](Vnode from, Vnode) { return from % 2 == 0 ? 300 : 1; }) ==
        kProcesses * elsewhere);
  CHECK(exchange(vnodes, [](Vnode from, Vnode) { return from == 7 ? 300 : 0; }) == elsewhere);
}

TEST_CASE("what others give is checked") {
  const Alltoall::Rows rows{{0, {encode(1), encode(2)}}};
  const auto damaged = [&](const std::vector<std::byte>& part) {
    Alltoall alltoall(2, rows);
    CHECK_THROWS_AS(static_cast<void>(alltoall.expected({Payload(), Payload(Bytes(part))})),
                    Failure);
  };
  damaged({});
  damaged({std::byte{0}});
  damaged({std::byte{1}, std::byte{1}});
  // In the name of a vnode that is held here, and of one that there is not.
  damaged({std::byte{1}, {}, {}, {}, {}, {}, {}, {}, {}});
  damaged({std::byte{1}, std::byte{9}, {}, {}, {}, {}, {}, {}, {}});
}

TEST_SUITE_END();

}  // namespace phx::alltoall_test
