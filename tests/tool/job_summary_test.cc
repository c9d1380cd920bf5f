#include "apps/phoenix/jobs/job_summary.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "runtime/messages/client_messages.h"
#include "tests/tool/mesh_status.h"

namespace phx::app::job_summary_test {

using runtime::JobStatus;
using runtime::Stage;
using runtime::StatusReply;
using tool_test::kJob;
using tool_test::Mesh;

TEST_CASE("what the daemons say about a job is added up") {
  Mesh mesh(3);
  mesh.at(2).stage = Stage::kFinished;
  mesh.at(3).stage = Stage::kExited;
  mesh.at(3).held = {};

  const JobSummary summary = summarise(mesh.reply).at(kJob);

  CHECK(summary.name == "heat");
  CHECK(summary.home == ProcessorId{1});
  CHECK(summary.vnodes == 6);
  CHECK(summary.held == 4);
  CHECK(summary.running == 2);
  CHECK(summary.waiting == "");
  CHECK(summarise(StatusReply{}).empty());
}

TEST_CASE("whoever computes is what a call of others misses") {
  Mesh mesh(4);
  mesh.wait(1, 2, "barrier");
  mesh.at(3).figures.silent_ms = 12'999;
  mesh.at(4).stage = Stage::kFinished;

  CHECK(mesh.waiting() ==
        "p1 waits for barrier, and so does 1 more; missing: p3 (v4-5), computing for 12 s; p4 "
        "(v6-7), which has finished");
}

TEST_CASE("whoever holds nothing, or is held up by its output, is not missing") {
  Mesh mesh(3);
  mesh.wait(1, 1, "barrier");
  mesh.at(2).held = {};
  mesh.at(3).waiting = "its output to be read";
  mesh.at(3).is_held_up = true;

  CHECK(mesh.waiting() == "p3 waits for its output to be read; p1 waits for barrier");
}

TEST_CASE("of whoever does not compute is said what its daemon waits for") {
  Mesh mesh(2);
  mesh.wait(1, 1, "barrier");
  mesh.at(2).waiting = "v2 to move to p1";
  CHECK(mesh.waiting() ==
        "p2 waits for v2 to move to p1; p1 waits for barrier; missing: p2 (v2-3), whose daemon "
        "waits for v2 to move to p1");
}

TEST_CASE("calls that do not fit together are shown side by side") {
  Mesh mesh(5);
  mesh.wait(1, 3, "barrier");
  mesh.wait(4, 4, "recv by v6 from v0");
  mesh.wait(5, 5, "broadcast by v8 from v0");

  CHECK(mesh.waiting() ==
        "p1 waits for barrier, and so do 2 more; p4 waits for recv by v6 from v0; p5 waits for "
        "broadcast by v8 from v0; nobody computes");
}

TEST_CASE("all in one call is no sign that something is wrong") {
  Mesh mesh(3);
  mesh.wait(1, 3, "barrier");

  CHECK(mesh.waiting() == "p1 waits for barrier, and so do 2 more");
}

TEST_CASE("limits: three calls and three of those missing are named, and the others counted") {
  Mesh mesh(9);
  for (std::uint32_t i = 1; i <= 5; ++i) mesh.wait(i, i, "recv by v" + std::to_string(2 * i));

  CHECK(mesh.waiting() ==
        "p1 waits for recv by v2; p2 waits for recv by v4; p3 waits for recv by v6; 2 more calls "
        "wait; missing: p6 (v10-11); p7 (v12-13); p8 (v14-15); and 1 more");
}

TEST_CASE("daemons that do not answer are named beside what waits") {
  Mesh mesh(2);
  mesh.wait(1, 2, "barrier");
  for (std::uint32_t i = 3; i <= 6; ++i) mesh.reply.silent.push_back(ProcessorId{i});

  CHECK(mesh.waiting() ==
        "p1 waits for barrier, and so does 1 more; p3 does not answer; p4 does not answer; p5 does "
        "not answer");
}

TEST_CASE("of what daemons wait for, that which holds a process up comes first") {
  Mesh mesh(3);
  mesh.at(1).waiting = "v1 to move to p2";
  mesh.at(3).waiting = "its output to be read";
  CHECK(mesh.waiting() == "p1 waits for v1 to move to p2");

  mesh.at(3).is_held_up = true;

  CHECK(mesh.waiting() == "p3 waits for its output to be read");
}

TEST_CASE("the lines of one job say what each daemon and each process waits for") {
  Mesh mesh(2);
  mesh.at(1).waiting = "v1 to move to p2";
  mesh.at(1).process_waits = "barrier";
  mesh.reply.silent.push_back(ProcessorId{7});

  const std::string details = job_details(mesh.reply, kJob);

  CHECK(details.starts_with("j4: heat, 4 vnodes, looked after by p1\n"));
  CHECK(details.find("v1 to move to p2; its process: barrier\n") != std::string::npos);
  CHECK(details.find("p7         silent") != std::string::npos);
  CHECK(job_details(mesh.reply, JobId{5}).empty());
}

}  // namespace phx::app::job_summary_test
