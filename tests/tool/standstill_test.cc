#include "apps/phoenix/jobs/standstill.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "runtime/messages/client_messages.h"
#include "tests/tool/mesh_status.h"

namespace phx::app::standstill_test {

using tool_test::kJob;
using tool_test::Mesh;

namespace {

/// All processes have been silent for so long.
void silence(Mesh& mesh, std::uint32_t processors, Duration time) {
  for (std::uint32_t i = 1; i <= processors; ++i) {
    mesh.at(i).figures.silent_ms = static_cast<std::uint64_t>(time / 1ms);
  }
}

/// Two in a barrier, one in a broadcast, all for 12 s.
Mesh odds() {
  Mesh mesh(3);
  mesh.wait(1, 2, "barrier");
  mesh.wait(3, 3, "broadcast by v4 from v0");
  silence(mesh, 3, 12s);
  return mesh;
}

}  // namespace

TEST_SUITE_BEGIN("tool/standstill");

TEST_CASE("calls that wait for each other are told, once") {
  Mesh mesh = odds();
  Standstill standstill;

  CHECK(standstill.look(mesh.reply, kJob, "default") ==
        "nothing has happened in j4 for 12 s: p1 waits for barrier, and so does 1 more; p3 waits "
        "for broadcast by v4 from v0; nobody computes (see phoenix status j4)");
  silence(mesh, 3, 30s);
  CHECK_FALSE(standstill.look(mesh.reply, kJob, "default"));
  mesh.wait(3, 3, "recv by v4");
  const auto again = standstill.look(mesh.reply, kJob, "run-7");
  REQUIRE(again);
  CHECK(again->ends_with("(see phoenix status j4 --mesh run-7)"));
}

TEST_CASE("so is who has finished while others wait for it") {
  Mesh mesh(2);
  mesh.wait(2, 2, "barrier");
  mesh.at(1).stage = runtime::Stage::kExited;
  mesh.at(2).figures.silent_ms = 10'000;
  Standstill standstill;

  CHECK(standstill.look(mesh.reply, kJob, "default") ==
        "nothing has happened in j4 for 10 s: p2 waits for barrier; missing: p1 (v0-1), which has "
        "finished (see phoenix status j4)");
}

TEST_CASE("a job in which somebody does something does not stand still") {
  Standstill standstill;
  Mesh computes = odds();
  computes.at(2).process_waits.clear();
  CHECK_FALSE(standstill.look(computes.reply, kJob, "default"));
  Mesh hears = odds();
  hears.at(2).figures.silent_ms = 9'999;
  CHECK_FALSE(standstill.look(hears.reply, kJob, "default"));
  Mesh begins = odds();
  begins.at(2).stage = runtime::Stage::kStarting;
  CHECK_FALSE(standstill.look(begins.reply, kJob, "default"));
  Mesh is_read = odds();
  is_read.at(2).is_held_up = true;
  CHECK_FALSE(standstill.look(is_read.reply, kJob, "default"));
  Mesh ends = odds();
  ends.at(2).ends_because = "v1 had an accident";
  CHECK_FALSE(standstill.look(ends.reply, kJob, "default"));
  CHECK_FALSE(standstill.look(odds().reply, JobId{5}, "default"));
}

TEST_CASE("those that are still, but not for long enough, are looked at when they would be") {
  Mesh mesh = odds();
  mesh.at(2).figures.silent_ms = 7'600;
  Standstill standstill;

  CHECK_FALSE(standstill.look(mesh.reply, kJob, "default"));
  CHECK(standstill.look_again_after() == 2'400ms);
  silence(mesh, 3, 10s);
  CHECK(standstill.look(mesh.reply, kJob, "default"));
  CHECK_FALSE(standstill.look_again_after());
  mesh.at(2).process_waits.clear();
  mesh.at(2).figures.silent_ms = 0;
  CHECK_FALSE(standstill.look(mesh.reply, kJob, "default"));
  CHECK_FALSE(standstill.look_again_after());
}

TEST_CASE("who holds nothing may be silent or not") {
  Mesh mesh = odds();
  mesh.at(3).held = {};
  mesh.at(3).process_waits.clear();
  mesh.at(3).figures.silent_ms = 0;
  Standstill standstill;

  CHECK(standstill.look(mesh.reply, kJob, "default") ==
        "nothing has happened in j4 for 12 s: p1 waits for barrier, and so does 1 more (see "
        "phoenix status j4)");
}

TEST_CASE("a job whose processes have all finished is about to end") {
  Mesh mesh(2);
  silence(mesh, 2, 60s);
  for (std::uint32_t i = 1; i <= 2; ++i) mesh.at(i).stage = runtime::Stage::kFinished;
  Standstill standstill;

  CHECK_FALSE(standstill.look(mesh.reply, kJob, "default"));
}

TEST_SUITE_END();

}  // namespace phx::app::standstill_test
