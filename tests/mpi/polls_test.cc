#include "runtime/mpi/engine/polls.h"

#include <doctest/doctest.h>

namespace phx::mpi::polls_test {

TEST_SUITE_BEGIN("mpi/polls");

namespace {

constexpr Duration kLook = 40ns;
constexpr Duration kCall = 45ns;  ///< between looks of a program that does nothing else

/// A program that looks in vain.
struct Program {
  Duration work;      ///< between two looks
  Duration others{};  ///< have the processor, when it is given away
  bool has_core = false;
  Polls polls{};
  Instant now{1h};
  Duration own{};  ///< time that it has had

  /// How often it gives the processor away in so many looks.
  int look(int times) {
    int given = 0;
    for (int i = 0; i < times; ++i) {
      const bool gives =
          polls.needs_time(!has_core) && polls.on_look(now, /*shares_cores=*/!has_core);
      pass(kLook);
      if (gives) {
        ++given;
        polls.on_gave_way(now, now + others);
        now += others;
      } else if (!has_core) {
        polls.on_vain(now);
      }
      pass(kCall + work);
    }
    return given;
  }
  void pass(Duration time) {
    now += time;
    own += time;
  }
};

}  // namespace

TEST_CASE("costs: who does nothing but look gives the processor away after each row of looks") {
  Program program{.work = 0ns};
  constexpr int kRow = Polls::kRow;  // in which it looks; at the next look it gives way
  CHECK(program.look(1) == 1);
  CHECK(program.look(100 * (kRow + 1)) == 100);
  program.others = 3ms;
  CHECK(program.look(100 * (kRow + 1)) == 100);
}

TEST_CASE("costs: with a little work in between the processor is given away once per turn") {
  for (const Duration work : {30ns, 60ns, 200ns, 1000ns}) {
    Program program{.work = work};
    program.look(1);
    const Instant begin = program.now;
    const int given = program.look(10'000);
    CHECK(given <= (program.now - begin) / Polls::kTurn);
    CHECK(given > 0);
  }
}

TEST_CASE("others that had the processor for long do not get it again before as long") {
  for (const Duration work : {60ns, 1000ns}) {
    Program program{.work = work, .others = 3ms};
    program.look(1);
    const Instant begin = program.now;
    program.own = {};
    program.look(100'000);
    CHECK(program.own * 2 >= program.now - begin);
  }
}

TEST_CASE("after work, and after others had the processor, a row begins anew") {
  Program program{.work = 0ns, .others = 3ms};
  CHECK(program.look(1) == 1);
  CHECK(program.look(Polls::kRow) == 0);
  program.pass(Polls::kTurn);
  CHECK(program.look(Polls::kRow) == 0);
  CHECK(program.look(1) == 1);
}

TEST_CASE("who has a core gives it away once per turn at most, whatever it does") {
  Program program{.work = 0ns, .has_core = true};
  program.look(Polls::kRow);
  const Instant begin = program.now;
  const int given = program.look(10'000);
  CHECK(given <= (program.now - begin) / Polls::kTurn);
  CHECK(given > 0);
}

TEST_SUITE_END();

}  // namespace phx::mpi::polls_test
