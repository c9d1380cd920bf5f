#include "apps/phoenix/mpi/mpi_waits.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

namespace phx::app::mpi_waits_test {
namespace {

using namespace std::chrono_literals;
using Used = std::vector<Duration>;

const std::string kReceive = "MPI_Recv (a message of rank 1 with tag 7)";
const std::string kFirst = "1 " + kReceive;

Instant at(Duration time) {
  return Instant(100s) + time;
}

MpiWaits begun(std::size_t ranks) {
  MpiWaits waits(ranks);
  for (std::size_t i = 0; i < ranks; ++i) waits.on_begun(i, at(0s));
  return waits;
}

/// Looks whenever that is due, until then. All that is told.
std::string told_until(MpiWaits& waits, Duration end, const Used& used) {
  std::string told;
  for (auto due = waits.due(); due && *due <= at(end); due = waits.due()) {
    told += waits.look(*due, used);
  }
  return told;
}

}  // namespace

TEST_SUITE_BEGIN("tool/mpi_waits");

TEST_CASE("a job whose ranks all wait stands still after ten seconds, and that is told once") {
  MpiWaits waits = begun(2);
  waits.on_waits(0, kFirst, at(1s));
  CHECK_FALSE(waits.due());  // rank 1 computes
  waits.on_waits(1, "4 MPI_Barrier (rank 0)", at(5s));

  CHECK(told_until(waits, 14s, {0s, 0s}) == "");
  CHECK(told_until(waits, 15s, {0s, 0s}) ==
        "  rank 0 waits in MPI_Recv (a message of rank 1 with tag 7)\n"
        "  rank 1 waits in MPI_Barrier (rank 0)\n");
  CHECK_FALSE(waits.due());
  waits.on_goes_on(1, "4", at(60s));
  waits.on_waits(1, "5 MPI_Barrier (rank 0)", at(61s));
  CHECK(told_until(waits, 71s, {0s, 0s}) == "");  // as before
  waits.on_goes_on(1, "5", at(72s));
  waits.on_waits(1, "6 MPI_Finalize (rank 0)", at(73s));
  CHECK(told_until(waits, 83s, {0s, 0s}) != "");
}

TEST_CASE("a rank that has another thread that computes does not stand still") {
  MpiWaits waits = begun(2);
  waits.on_waits(0, kFirst, at(0s));
  waits.on_waits(1, kFirst, at(0s));

  CHECK(waits.look(at(0s), Used{0s, 1s}) == "");
  CHECK(waits.look(at(10s), Used{0s, 2s}) == "");
  CHECK(waits.look(at(20s), Used{20ms, 2s + 20ms}) != "");
}

TEST_CASE("who is stopped does not compute, and is named, until it goes on") {
  MpiWaits waits = begun(3);
  CHECK(waits.looked_at().empty());  // nobody waits
  waits.on_waits(0, kFirst, at(0s));
  waits.on_finalizes(2, at(0s));
  CHECK(waits.looked_at() == std::vector<std::size_t>{0, 1});
  waits.on_state(1, false, at(1s));
  CHECK_FALSE(waits.due());
  waits.on_state(1, true, at(2s));
  waits.on_state(1, true, at(4s));

  CHECK(told_until(waits, 12s, {0s, 0s, 0s}) ==
        "  rank 0 waits in " + kReceive +
            "\n"
            "  rank 1 is stopped, by a signal or a debugger\n"
            "  rank 2 is in MPI_Finalize\n");
  CHECK(waits.looked_at().empty());  // It has been told.
  waits.on_goes_on(0, "1", at(20s));
  waits.on_waits(0, kFirst, at(21s));
  waits.on_state(1, false, at(22s));
  CHECK_FALSE(waits.due());
  waits.on_waits(1, kFirst, at(23s));
  waits.on_state(1, true, at(24s));
  CHECK(waits.said().find("  rank 1 is stopped in " + kReceive + "\n") != std::string::npos);
}

TEST_CASE("of several threads of a rank all have to go on, and those that wait are told") {
  MpiWaits waits = begun(1);
  waits.on_waits(0, kFirst, at(0s));
  waits.on_waits(0, "2 MPI_Send (a receive by rank 0 of MPI_COMM_WORLD)", at(0s));
  CHECK(waits.said() == "  rank 0 waits in " + kReceive +
                            ", and in MPI_Send (a receive by rank 0 of MPI_COMM_WORLD)\n");
  waits.on_goes_on(0, "2", at(1s));
  CHECK(waits.due());
  CHECK(waits.said() == "  rank 0 waits in " + kReceive + "\n");
  waits.on_goes_on(0, "1", at(2s));
  CHECK_FALSE(waits.due());
  waits.on_goes_on(0, "7", at(2s));  // of a wait whose beginning was lost
  waits.on_waits(0, "8 MPI_Wait (rank 1)", at(3s));
  CHECK(waits.due());
}

TEST_CASE("who is done is waited for in vain, and who has not begun may still come") {
  MpiWaits waits(4);
  waits.on_begun(0, at(0s));
  waits.on_begun(1, at(0s));
  waits.on_begun(2, at(0s));
  waits.on_waits(0, kFirst, at(0s));
  waits.on_finalizes(1, at(0s));
  waits.on_ended(2, at(0s));
  CHECK_FALSE(waits.due());
  CHECK(waits.said() ==
        "  rank 0 waits in MPI_Recv (a message of rank 1 with tag 7)\n"
        "  rank 1 is in MPI_Finalize\n"
        "  rank 2 has ended\n"
        "  rank 3 has not come through MPI_Init\n");
  waits.on_ended(3, at(0s));
  CHECK(waits.due());
}

TEST_CASE("ranks that say the same are one line, and lines have an end") {
  MpiWaits waits = begun(30);
  for (std::size_t i = 0; i < 30; ++i) waits.on_waits(i, kFirst, at(0s));
  CHECK(waits.said() == "  ranks 0, 1, 2, 3, 4, 5 and 24 more wait in " + kReceive + "\n");
  for (std::size_t i = 3; i < 30; ++i) waits.on_waits(i, "1 F" + std::to_string(i), at(0s));

  const std::string said = waits.said();
  CHECK(said.starts_with("  ranks 0, 1 and 2 wait in " + kReceive + "\n  rank 3 waits in F3\n"));
  CHECK(said.ends_with("  rank 8 waits in F8\n  and 21 more lines like these\n"));
}

TEST_CASE("while no rank waits there is nothing to say") {
  CHECK(begun(3).said() == "");
}

TEST_SUITE_END();

}  // namespace phx::app::mpi_waits_test
