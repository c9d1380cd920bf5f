#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <deque>
#include <string>

#include "runtime/mpi/engine/awaited.h"
#include "tests/mpi/world.h"
#include "tests/support/seeds.h"

namespace phx::mpi::traffic_test {
namespace {

Buffer bytes_of(std::vector<char>& memory) {
  return Buffer(memory.data(), static_cast<MPI_Count>(memory.size()), MPI_BYTE);
}

std::vector<char> pattern(std::size_t size, int seed) {
  std::vector<char> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>(i * 31 + static_cast<std::size_t>(seed));
  }
  return bytes;
}

constexpr std::size_t kLong = 700'000;

}  // namespace

TEST_SUITE_BEGIN("mpi/traffic");

TEST_CASE("messages of a pair meet receives in order, with wildcards, whatever their lengths") {
  for (std::uint64_t seed = 0; seed < support::seeds(60); ++seed) {
    CAPTURE(seed);
    World world(3, seed);
    Rng rng(seed);
    std::deque<std::vector<char>> sent;
    std::vector<Ref<SendRequest>> sends;
    std::deque<std::vector<char>> got;
    std::vector<Ref<ReceiveRequest>> receives;
    std::array<std::vector<std::size_t>, 2> lengths;
    for (int i = 0; i < 24; ++i) {
      if (rng.chance(0.5)) {
        for (std::uint64_t k = rng.below(4); k > 0; --k) static_cast<void>(world.step());
      }
      const int from = static_cast<int>(rng.below(2));
      const std::size_t size = rng.chance(0.3) ? kLong + rng.below(3) : rng.below(100);
      lengths[static_cast<std::size_t>(from)].push_back(size);
      sent.push_back(pattern(size, i));
      sends.push_back(world.at(from).send(world.scope(from), 2, i, bytes_of(sent.back())));
      got.emplace_back(kLong + 3);
      receives.push_back(world.at(2).receive({}, bytes_of(got.back())));
    }
    world.run();

    std::array<std::size_t, 2> next{};
    for (const auto& receive : receives) {
      REQUIRE(receive->is_done);
      const auto from = static_cast<std::size_t>(receive->outcome.source);
      CHECK(receive->outcome.bytes == static_cast<MPI_Count>(lengths[from][next[from]++]));
      const auto i = static_cast<std::size_t>(&receive - receives.data());
      const auto& bytes = sent[static_cast<std::size_t>(receive->outcome.tag)];
      CHECK(std::equal(bytes.begin(), bytes.end(), got[i].begin()));
    }
    for (const auto& send : sends) CHECK(send->is_done);
  }
}

TEST_CASE("a receive takes only its context, source and tag") {
  World world(2, 1);
  std::vector<char> one = pattern(5, 1);
  std::vector<char> two = pattern(6, 2);
  std::vector<char> in(6);
  world.at(0).send(world.scope(0, 8), 1, 3, bytes_of(one));
  world.at(0).send(world.scope(0, 4), 1, 4, bytes_of(one));
  world.at(0).send(world.scope(0, 4), 1, 3, bytes_of(two));
  world.run();

  const auto receive = world.at(1).receive({4, 0, 3}, bytes_of(in));

  REQUIRE(receive->is_done);
  CHECK(in == two);
  CHECK(world.at(1).look({4, 1, 4}) == nullptr);
  CHECK(world.at(1).look({8, MPI_ANY_SOURCE, 3}) != nullptr);
}

TEST_CASE("a communicator is quiet when its sends and receives are over, and others do not count") {
  World world(2, 1);
  std::vector<char> large = pattern(kLong, 1);
  std::vector<char> into(kLong);
  std::vector<char> small(3);
  CHECK(world.at(0).is_quiet(4));

  const auto send = world.at(0).send(world.scope(0, 4), 1, 7, bytes_of(large));
  const auto other = world.at(1).receive({8, 0, 7}, bytes_of(small));
  CHECK_FALSE(world.at(0).is_quiet(4));
  CHECK_FALSE(world.at(1).is_quiet(8));
  CHECK(world.at(1).is_quiet(4));
  const auto collective = world.at(1).receive({5, 0, 7}, bytes_of(small));
  CHECK_FALSE(world.at(1).is_quiet(4));
  world.at(1).cancel(*collective);
  const auto receive = world.at(1).receive({4, 0, 7}, bytes_of(into));
  while (!receive->is_done) {
    CHECK_FALSE(world.at(1).is_quiet(4));
    REQUIRE(world.step());
  }
  world.run();

  CHECK(send->is_done);
  CHECK(world.at(0).is_quiet(4));
  CHECK(world.at(1).is_quiet(4));
  CHECK_FALSE(other->is_done);
}

TEST_CASE("a short message costs one, a synchronous one two, a long one three and its parts") {
  std::vector<char> shorty = pattern(100, 1);
  std::vector<char> longy = pattern(static_cast<std::size_t>(2 * Traffic::kPart + 1), 1);
  std::vector<char> in(longy.size());
  const auto cost = [&](std::vector<char>& bytes, Traffic::Mode mode) {
    World world(2, 1);
    const auto send = world.at(0).send(world.scope(0), 1, 0, bytes_of(bytes), mode);
    world.run();
    CHECK(send->is_done == (mode == Traffic::Mode::kStandard && bytes.size() == 100));
    const auto receive = world.at(1).receive({}, bytes_of(in));
    world.run();
    CHECK(send->is_done);
    CHECK(receive->is_done);
    return world.messages;
  };

  CHECK(cost(shorty, Traffic::Mode::kStandard) == 1);
  CHECK(cost(shorty, Traffic::Mode::kSynchronous) == 2);
  CHECK(cost(longy, Traffic::Mode::kStandard) == 3 + 3);
}

TEST_CASE("a message to oneself whose receive waits is there at once, and sends nothing") {
  World world(2, 1);
  Traffic& own = world.at(0);
  std::vector<char> longy = pattern(kLong, 1);
  std::vector<char> in(kLong);
  Strided spread(kLong);
  const auto first = own.receive({0, 0, 1}, bytes_of(in));
  const auto second = own.receive({0, 0, 2}, spread.buffer());

  const auto send = own.send(world.scope(0), 0, 1, bytes_of(longy), Traffic::Mode::kSynchronous);
  CHECK(own.send_at_once(world.scope(0), 0, 2, bytes_of(longy)));

  CHECK(send->is_done);
  REQUIRE(first->is_done);
  REQUIRE(second->is_done);
  CHECK(in == longy);
  CHECK(first->outcome.bytes == static_cast<MPI_Count>(kLong));
  for (std::size_t i = 0; i < kLong; ++i) REQUIRE(spread.bytes[2 * i] == longy[i]);
  CHECK(own.take_outputs().empty());
}

TEST_CASE("a message to oneself goes to the oldest receive, and not past one that waits") {
  for (std::uint64_t seed = 0; seed < support::seeds(60); ++seed) {
    CAPTURE(seed);
    World world(1, seed);
    Rng rng(seed);
    std::deque<std::vector<char>> sent;
    std::deque<std::vector<char>> got;
    std::vector<Ref<ReceiveRequest>> receives;
    while (sent.size() < 24 || receives.size() < 24) {
      if (receives.size() == 24 || (sent.size() < 24 && rng.chance(0.5))) {
        const auto mode = rng.chance(0.5) ? Traffic::Mode::kStandard : Traffic::Mode::kSynchronous;
        const auto number = static_cast<int>(sent.size());
        sent.push_back(pattern(rng.chance(0.3) ? kLong : 100, number));
        world.at(0).send(world.scope(0), 0, number, bytes_of(sent.back()), mode);
      } else {
        got.emplace_back(kLong);
        const int source = rng.chance(0.5) ? MPI_ANY_SOURCE : 0;
        receives.push_back(world.at(0).receive({0, source, MPI_ANY_TAG}, bytes_of(got.back())));
      }
    }
    for (std::size_t i = 0; i < receives.size(); ++i) {
      REQUIRE(receives[i]->is_done);
      CHECK(receives[i]->outcome.tag == static_cast<int>(i));
      CHECK(std::equal(sent[i].begin(), sent[i].end(), got[i].begin()));
    }
  }
}

TEST_CASE("work of a rank alone is done while its schedule is built, in its order") {
  World world(1, 1);
  std::string order;
  const Ref<Schedule> schedule(new Schedule(world.scope(0)));
  const Buffer nothing(nullptr, 0, MPI_BYTE);

  schedule->run([&] { order += "a"; });
  CHECK(order == "a");
  CHECK(schedule->is_empty());
  schedule->receive(0, nothing);
  schedule->send(0, nothing);
  schedule->run([&] { order += "b"; });
  CHECK(order == "a");
  world.at(0).start(schedule);

  CHECK(schedule->is_done);
  CHECK(order == "ab");
}

TEST_CASE("a schedule says what came that it does not expect") {
  World world(2, 1);
  std::vector<char> five = pattern(5, 1);
  std::vector<char> three(3);
  const Ref<Schedule> gives(new Schedule(world.scope(0)));
  const Ref<Schedule> takes(new Schedule(world.scope(1)));
  gives->send(1, bytes_of(five));
  takes->receive(0, bytes_of(three));
  world.at(0).start(gives);
  world.at(1).start(takes);
  world.run();

  REQUIRE(takes->is_done);
  CHECK(takes->outcome.error == MPI_ERR_TRUNCATE);
  REQUIRE(takes->misfit() != nullptr);
  CHECK(takes->misfit()->outcome.source == 0);
  CHECK(takes->misfit()->sent == 5);
  CHECK(gives->misfit() == nullptr);
}

TEST_CASE("a short message leaves without a request, unless it has to wait, and keeps its order") {
  World world(2, 1);
  std::vector<char> shorty = pattern(100, 1);
  std::vector<char> longy = pattern(static_cast<std::size_t>(Traffic::kShortMax + 1), 1);
  std::vector<char> in(longy.size());

  CHECK_FALSE(world.at(0).send_at_once(world.scope(0), 1, 7, bytes_of(longy)));
  CHECK(world.at(0).take_outputs().empty());
  MPI_Count sent = 0;
  for (; world.at(0).send_at_once(world.scope(0), 1, static_cast<int>(sent), bytes_of(shorty));) {
    ++sent;
  }
  const auto last = world.at(0).send(world.scope(0), 1, static_cast<int>(sent), bytes_of(shorty));
  world.run();

  CHECK(sent * 100 <= Ahead::kMost);
  CHECK(!last->is_done);
  for (int tag = 0; tag <= sent; ++tag) {
    const auto receive = world.at(1).receive({}, bytes_of(in));
    world.run();
    REQUIRE(receive->is_done);
    REQUIRE(receive->outcome.tag == tag);
  }
  CHECK(last->is_done);
}

TEST_CASE("a short message is written where a near rank reads it, if nothing has to leave before") {
  World world(3, 1);
  std::vector<char> out = pattern(100, 3);
  std::vector<std::byte> place(1000);
  bool has_room = true;
  std::size_t left = 0;
  world.at(0).use({.room = [&](int to, std::size_t bytes) -> std::byte* {
                     CHECK(to == 1);
                     return has_room && bytes <= place.size() ? place.data() : nullptr;
                   },
                   .leave = [&](int, std::size_t bytes) { left = bytes; }});
  world.at(0).send(world.scope(0), 1, 5, bytes_of(out));
  CHECK(left == sizeof(Head) + out.size());
  CHECK(world.at(0).take_outputs().empty());
  std::vector<char> in(out.size());
  const auto receive = world.at(1).receive({0, 0, 5}, bytes_of(in));
  world.at(1).on_message(0, 0, Payload(nullptr, std::span(place).first(left)), true);
  CHECK(receive->is_done);
  CHECK(in == out);

  has_room = false;
  world.at(0).send(world.scope(0), 1, 5, bytes_of(out));
  has_room = true;
  left = 0;
  world.at(0).send(world.scope(0), 1, 6, bytes_of(out));
  CHECK(left == 0);
  CHECK(world.at(0).take_outputs().size() == 2);
}

TEST_CASE("a long message of a near rank is read where it lies, and costs two messages") {
  for (const bool may_read : {false, true}) {
    CAPTURE(may_read);
    World world(2, 1);
    for (const int rank : {0, 1}) {
      const auto read = [may_read](int from, std::uint64_t address, std::span<std::byte> into) {
        CHECK(from == 0);
        if (may_read) std::memcpy(into.data(), reinterpret_cast<const void*>(address), into.size());
        return may_read;
      };
      world.at(rank).use({.read = read});
    }
    std::vector<char> out = pattern(kLong, 3);
    std::vector<char> in(kLong);

    const auto send = world.at(0).send(world.scope(0), 1, 5, bytes_of(out));
    const auto receive = world.at(1).receive({0, 0, 5}, bytes_of(in));
    world.run();

    CHECK(send->is_done);
    CHECK(receive->is_done);
    CHECK(in == out);
    const auto parts = (kLong + Traffic::kPart - 1) / Traffic::kPart;
    CHECK(world.messages == (may_read ? 2 : 2 + parts));
  }
}

TEST_CASE(
    "a long message that does not lie side by side is packed as it leaves, and nowhere else") {
  struct Case {
    bool is_near, is_strided_out, is_strided_in;
    std::size_t reads;
  };
  constexpr std::size_t kReads = (kLong + 65'535) / 65'536;
  for (const Case& c : {Case{false, true, true, 0}, Case{true, true, true, 0},
                        Case{true, false, true, kReads}, Case{true, true, false, 0}}) {
    CAPTURE(c.is_near);
    CAPTURE(c.is_strided_out);
    CAPTURE(c.is_strided_in);
    World world(2, 1);
    std::size_t reads = 0;
    const auto read = [&](int, std::uint64_t address, std::span<std::byte> into) {
      ++reads;
      std::memcpy(into.data(), reinterpret_cast<const void*>(address), into.size());
      return true;
    };
    for (int rank = 0; c.is_near && rank < 2; ++rank) world.at(rank).use({.read = read});
    const std::vector<char> value = pattern(kLong, 3);
    Strided from(kLong);
    Strided into(kLong);
    std::vector<char> out = value;
    std::vector<char> in(kLong);
    for (std::size_t i = 0; i < kLong; ++i) from.bytes[2 * i] = value[i];

    const Buffer source = c.is_strided_out ? from.buffer() : bytes_of(out);
    const Buffer target = c.is_strided_in ? into.buffer() : bytes_of(in);
    const auto send = world.at(0).send(world.scope(0), 1, 5, source);
    const auto receive = world.at(1).receive({0, 0, 5}, target);
    world.run();

    for (std::size_t i = 0; c.is_strided_in && i < kLong; ++i) in[i] = into.bytes[2 * i];
    CHECK(send->is_done);
    CHECK(receive->is_done);
    CHECK(in == value);
    CHECK(reads == c.reads);
    const auto parts = (kLong + Traffic::kPart - 1) / Traffic::kPart;
    CHECK(world.messages == (c.reads > 0 ? 2 : 2 + parts));  // packed: it needs no answer
  }
}

TEST_CASE("what is packed as it leaves takes no memory until then") {
  World world(2, 1);
  Strided from(kLong);
  std::vector<char> in(kLong);
  const auto send = world.at(0).send(world.scope(0), 1, 5, from.buffer());
  const auto receive = world.at(1).receive({0, 0, 5}, bytes_of(in));
  for (const Traffic::Output& ask : world.at(0).take_outputs()) {
    world.at(1).on_message(0, ask.tag, ask.payload);
  }
  for (const Traffic::Output& grant : world.at(1).take_outputs()) {
    world.at(0).on_message(1, grant.tag, grant.payload);
  }
  const std::vector<Traffic::Output> outputs = world.at(0).take_outputs();
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].payload.empty());
  CHECK(outputs[0].bytes == static_cast<MPI_Count>(kLong));
  CHECK_FALSE(send->is_done);
  for (MPI_Count at = 0; at < outputs[0].bytes; at += Traffic::kPart) {
    world.at(1).on_message(0, outputs[0].tag, outputs[0].pack(at));
  }
  world.at(0).on_packed(*send);
  CHECK(send->is_done);
  world.run();
  CHECK(receive->is_done);
}

TEST_CASE("a send that is cancelled while it is packed is delivered, and says so") {
  World world(2, 1);
  Strided from(kLong);
  std::vector<char> in(kLong);
  const auto deliver = [&](int to, const std::vector<Traffic::Output>& outputs) {
    for (const Traffic::Output& one : outputs) {
      if (!one.packs) world.at(to).on_message(1 - to, one.tag, one.payload);
      for (MPI_Count at = 0; at < one.bytes; at += Traffic::kPart) {
        world.at(to).on_message(1 - to, one.tag, one.pack(at));
      }
    }
  };
  const auto send = world.at(0).send(world.scope(0), 1, 5, from.buffer());
  const auto receive = world.at(1).receive({0, 0, 5}, bytes_of(in));
  deliver(1, world.at(0).take_outputs());  // asks
  deliver(0, world.at(1).take_outputs());  // is granted
  const auto given = world.at(0).take_outputs();
  world.at(0).cancel(*send);
  const auto withdrawal = world.at(0).take_outputs();
  deliver(1, withdrawal);
  deliver(0, world.at(1).take_outputs());
  deliver(1, given);
  world.at(0).on_packed(*send);
  world.run();

  CHECK(send->is_done);
  CHECK_FALSE(send->outcome.is_cancelled);
  CHECK(receive->is_done);
  CHECK(receive->outcome.bytes == static_cast<MPI_Count>(kLong));
}

TEST_CASE("what each kind of request waits for can be said") {
  World world(3, 1);
  std::vector<char> bytes = pattern(kLong, 1);
  const auto send = world.at(0).send(world.scope(0), 2, 0, bytes_of(bytes));
  const auto receive = world.at(1).receive({0, 2, MPI_ANY_TAG}, bytes_of(bytes));
  const auto cast = world.at(0).cast(world.scope(0, 4, /*is_whole=*/true), 1, bytes_of(bytes));
  Schedule schedule(world.scope(0, 8));
  PersistentRequest persistent;
  persistent.active = Ref<Request>(receive.get());
  const GeneralRequest general;
  const Request nothing(Request::Kind::kSchedule);

  CHECK(spell(*send) == "a receive by rank 2 of MPI_COMM_WORLD");
  CHECK(spell(*receive) == "a message of rank 2 with any tag");
  CHECK(spell(*cast) == "the others");
  CHECK(spell(schedule) == "the others");
  CHECK(spell(persistent) == "a message of rank 2 with any tag");
  CHECK(spell(general) == "MPI_Grequest_complete");
  CHECK(spell(nothing) == "the others");
  CHECK(spell(Wanted{0, MPI_ANY_SOURCE, 5}) == "a message of any rank with tag 5");
}

TEST_CASE("a message that is too long fills the buffer, and is an error of the receive alone") {
  for (const std::size_t size : {std::size_t{100}, kLong}) {
    World world(2, 1);
    std::vector<char> out = pattern(size, 1);
    std::vector<char> in(size / 2);
    const auto send = world.at(0).send(world.scope(0), 1, 0, bytes_of(out));
    const auto receive = world.at(1).receive({}, bytes_of(in));
    world.run();

    CHECK(receive->outcome.error == MPI_ERR_TRUNCATE);
    CHECK(send->is_done);
    CHECK(send->outcome.error == MPI_SUCCESS);
    CHECK(std::equal(in.begin(), in.end(), out.begin()));
  }
}

TEST_CASE("a send is cancelled unless it has met its receive") {
  for (const std::size_t size : {std::size_t{100}, kLong}) {
    for (const bool is_received : {false, true}) {
      World world(2, 1);
      std::vector<char> bytes = pattern(size, 1);
      std::vector<char> in(size);
      const auto send = world.at(0).send(world.scope(0), 1, 0, bytes_of(bytes));
      if (is_received) world.at(1).receive({}, bytes_of(in));
      world.step();
      world.at(0).cancel(*send);
      CHECK(!send->is_done);
      world.run();

      CHECK(send->is_done);
      CHECK(send->outcome.is_cancelled != is_received);
      CHECK(world.at(1).look({}) == nullptr);
      CHECK((in == bytes) == is_received);
    }
  }
}

TEST_CASE("what comes before its receive is bounded, and the rest waits at its sender") {
  constexpr int kMany = 3000;
  World world(2, 1);
  std::vector<char> bytes = pattern(10'000, 1);
  std::vector<Ref<SendRequest>> sends;
  for (int i = 0; i < kMany; ++i) {
    sends.push_back(world.at(0).send(world.scope(0), 1, i, bytes_of(bytes)));
  }
  world.run();

  CHECK(world.at(1).waiting() > std::size_t{Ahead::kMost} / 2);
  CHECK(world.at(1).waiting() <= std::size_t{Ahead::kMost});
  CHECK(sends.front()->is_done);
  CHECK(!sends.back()->is_done);

  for (int i = 0; i < kMany; ++i) {
    std::vector<char> in(bytes.size());
    const auto receive = world.at(1).receive({0, MPI_ANY_SOURCE, MPI_ANY_TAG}, bytes_of(in));
    world.run();
    REQUIRE(receive->is_done);
    CHECK(receive->outcome.tag == i);
    CHECK(in == bytes);
  }
  CHECK(sends.back()->is_done);
  CHECK(world.at(1).waiting() == 0);
  CHECK(world.at(0).send(world.scope(0), 1, 0, bytes_of(bytes))->is_done);
}

TEST_CASE(
    "a cancelled message that had left waits at nobody, and its sender may send as much again") {
  World world(2, 1);
  std::vector<char> bytes = pattern(60'000, 1);
  for (int round = 0; round < 10; ++round) {
    std::vector<Ref<SendRequest>> sends;
    for (int i = 0; i < 30; ++i) {
      sends.push_back(world.at(0).send(world.scope(0), 1, i, bytes_of(bytes)));
      CHECK(sends.back()->is_done);
    }
    world.run();
    for (const auto& send : sends) world.at(0).cancel(*send);
    world.run();
    CHECK(world.at(1).waiting() == 0);
  }
}

TEST_CASE("a long send that was cancelled lets its sender be no further ahead than before") {
  World world(2, 1);
  std::vector<char> bytes = pattern(kLong, 1);
  for (int i = 0; i < 30; ++i) {
    const auto send = world.at(0).send(world.scope(0), 1, 0, bytes_of(bytes));
    world.run();
    world.at(0).cancel(*send);
    world.run();
    REQUIRE(send->outcome.is_cancelled);
  }
  const auto sent_ahead = [&](World& of) {
    int done = 0;
    std::vector<char> some = pattern(60'000, 1);
    while (done < 3000 && of.at(0).send(of.scope(0), 1, 0, bytes_of(some))->is_done) ++done;
    return done;
  };
  World fresh(2, 1);
  CHECK(sent_ahead(world) == sent_ahead(fresh));
}

TEST_CASE("pairs that are far ahead of their receivers keep their order") {
  for (std::uint64_t seed = 0; seed < support::seeds(20); ++seed) {
    CAPTURE(seed);
    World world(3, seed);
    Rng rng(seed);
    for (const int rank : {0, 1, 2}) world.at(rank).expect_senders(100'000);  // the least bound
    std::deque<std::vector<char>> sent;
    std::array<std::deque<int>, 2> order;
    int open = 0;
    const auto receive_one = [&] {
      std::vector<char> in(70'000);
      const auto receive = world.at(2).receive({0, MPI_ANY_SOURCE, MPI_ANY_TAG}, bytes_of(in));
      world.run();
      REQUIRE(receive->is_done);
      std::deque<int>& next = order[static_cast<std::size_t>(receive->outcome.source)];
      CHECK(receive->outcome.tag == next.front());
      const auto& bytes = sent[static_cast<std::size_t>(next.front())];
      CHECK(std::equal(bytes.begin(), bytes.end(), in.begin()));
      next.pop_front();
      --open;
    };
    for (int i = 0; i < 150; ++i, ++open) {
      const int from = static_cast<int>(rng.below(2));
      sent.push_back(pattern(rng.below(70'000), i));
      order[static_cast<std::size_t>(from)].push_back(i);
      world.at(from).send(world.scope(from), 2, i, bytes_of(sent.back()));
      if (rng.chance(0.5)) static_cast<void>(world.step());
      while (open > 0 && rng.chance(0.2)) receive_one();
      CHECK(world.at(2).waiting() <= std::size_t{1} << 20);  // two senders
    }
    while (open > 0) receive_one();
  }
}

TEST_CASE("casts that nobody receives are bounded, and go on when all have received") {
  constexpr std::size_t kOne = std::size_t{3} << 20;
  constexpr int kMany = 40;
  World world(3, 1);
  std::vector<char> bytes = pattern(kOne, 1);
  std::vector<Ref<Request>> casts;
  for (int i = 0; i < kMany; ++i) {
    casts.push_back(world.at(0).cast(world.scope(0, 0, /*is_whole=*/true), i, bytes_of(bytes)));
  }
  world.run();

  CHECK(world.at(1).waiting() <= std::size_t{Ahead::kCastMost});
  CHECK(!casts.back()->is_done);
  const auto receive_at = [&](int rank, int i) {
    std::vector<char> in(kOne);
    const auto receive = world.at(rank).receive({0, 0, i}, bytes_of(in));
    world.run();
    CHECK(in == bytes);
    return static_cast<bool>(receive->is_done);
  };
  for (int i = 0; i < 11; ++i) CHECK(receive_at(1, i));
  CHECK(!casts.back()->is_done);  // the other one has received nothing
  for (int i = 0; i < 11; ++i) CHECK(receive_at(2, i));
  for (int i = 11; i < kMany; ++i) {
    CHECK(receive_at(1, i));
    CHECK(receive_at(2, i));
  }
  CHECK(casts.back()->is_done);
  CHECK(world.casts == std::uint64_t{kMany});
}

TEST_SUITE_END();

}  // namespace phx::mpi::traffic_test
