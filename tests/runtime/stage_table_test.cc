#include "runtime/jobs/stage_table.h"

#include <doctest/doctest.h>

#include <cstdint>

#include "runtime/jobs/job_life.h"
#include "tests/support/job_items.h"

namespace phx::runtime::stage_table_test {
namespace {

constexpr ProcessorId kHome{1}, kOther{2}, kThird{3}, kFourth{4};
constexpr JobId kJob{7};

JobStart started(const ProcessorSet& processors, std::uint32_t most = 0) {
  JobSpec spec;
  spec.vnodes = 6;
  spec.command = {"program"};
  spec.processors_max = most;
  return {kJob, spec, kHome, 1, processors};
}

/// A mesh of so many, as it is known at `self`.
struct Mesh {
  explicit Mesh(std::uint32_t count) {
    for (std::uint32_t id = 1; id <= count; ++id) joins(ProcessorId{id});
  }
  void joins(ProcessorId id) {
    view.members.put(Member{id, id.value, {}, {}, false});
    members.insert(id);
    staying.insert(id);
    view.next_processor = id.value + 1;
    ++view.number;
  }
  [[nodiscard]] Surroundings around(ProcessorId self = kHome) const {
    return {now, trees, view, members, staying, kHome, !staying.contains(self)};
  }

  Instant now;
  View view;
  ProcessorSet members, staying;
  overlay::TreeStore trees;
};

/// The home of a job, which a tool follows, and whose process has ended: it decides.
struct Home {
  explicit Home(Mesh& m, const JobStart& start = started({kHome}))
      : mesh(m), life(kHome, start, {}) {
    life.on_follower(mesh.around(), {ClientId{1}}, {}, out);
    life.consider_start(mesh.around(), out);
  }
  void exits() { life.on_exit(mesh.around(), {}, out); }
  /// Takes the new view, as Jobs does. Returns whom it tells to start the program.
  ProcessorSet sees_view() {
    static_cast<void>(life.on_view(mesh.around(), out));
    static_cast<void>(out.take());
    life.choose(mesh.around(), {}, out);
    return told();
  }
  void is_at(ProcessorId id, Stage stage, std::uint64_t change, std::uint64_t written = 0) {
    life.on_stage(mesh.around(), id, {kJob, stage, {}, change, written}, out);
  }
  ProcessorSet told() {
    ProcessorSet all;
    for (const auto& [to, m] : support::sent<JobHome>(out.take())) all.insert(to);
    return all;
  }

  Mesh& mesh;
  JobOutbox out;
  JobLife life;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/stage_table");

TEST_CASE("the home says who starts the program: each member once, and newcomers") {
  Mesh mesh(3);
  Home home(mesh, started({kHome, kOther}));
  CHECK(home.sees_view() == ProcessorSet{kThird});  // It was no member for the coordinator.

  mesh.joins(kFourth);

  CHECK(home.sees_view() == ProcessorSet{kFourth});
  CHECK(home.sees_view().empty());
}

TEST_CASE("no job ends before those that were told to start it have said how that went") {
  Mesh mesh(1);
  Home home(mesh);
  mesh.joins(kOther);
  REQUIRE(home.sees_view() == ProcessorSet{kOther});

  home.exits();

  CHECK(!home.life.ended());
  CHECK(home.life.waiting(mesh.around()) ==
        "the others, to say which processes of the job they run: p2");
  home.is_at(kOther, Stage::kStarting, 1);
  home.is_at(kOther, Stage::kExited, 2, /*written=*/1);
  CHECK(!home.life.ended());  // What it wrote is on its way.
  home.life.on_output(mesh.around(), {kJob, kOther, false, {}, 1}, home.out);
  home.life.on_follower_took(mesh.around(), ClientId{1}, home.out);
  REQUIRE(home.life.ended());
  CHECK(home.life.ended()->code == 0);
}

TEST_CASE("who is told to start and leaves is not waited for, nor told again") {
  Mesh mesh(2);
  Home home(mesh);
  REQUIRE(home.sees_view() == ProcessorSet{kOther});

  // Its leaving is not known here yet.
  home.is_at(kOther, Stage::kNone, 1);

  CHECK(home.told().empty());
  CHECK(home.sees_view().empty());
  home.exits();
  CHECK(home.life.ended());
}

TEST_CASE("who has heard of no choice yet is chosen all the same, however often it says so") {
  Mesh mesh(2);
  Home home(mesh);
  REQUIRE(home.sees_view() == ProcessorSet{kOther});

  home.is_at(kOther, Stage::kNone, 0);  // Was asked before.
  home.exits();

  CHECK(!home.life.ended());
  CHECK(home.life.taking_part() == ProcessorSet{kOther});
}

TEST_CASE("a job of so many processes gets another one when one leaves, the oldest that is free") {
  Mesh mesh(4);
  Home home(mesh, started({kHome, kOther}, 2));
  CHECK(home.sees_view().empty());

  mesh.staying.erase(kOther);

  CHECK(home.sees_view() == ProcessorSet{kThird});
  CHECK(home.sees_view().empty());
}

TEST_CASE(
    "a new home chooses those that have said that they run nothing, and when all have of few") {
  for (const std::uint32_t most : {0U, 3U}) {
    Mesh mesh(4);
    JobLife life(kOther, started({kHome, kOther}, most), {});
    JobOutbox out;
    mesh.staying.erase(kHome);
    ++mesh.view.number;
    REQUIRE(life.on_view(mesh.around(kOther), out));
    life.choose(mesh.around(kOther), {}, out);
    CHECK(support::sent<JobHome>(out.take()).empty());

    life.on_stage(mesh.around(kOther), kFourth, {kJob, Stage::kNone, {}}, out);
    CHECK(support::sent<JobHome>(out.take()).empty());
    life.on_stage(mesh.around(kOther), kThird, {kJob, Stage::kAttached, {}, 2}, out);
    life.on_stage(mesh.around(kOther), kHome, {kJob, Stage::kAttached, {}, 2}, out);

    const auto words = support::sent<JobHome>(out.take());
    CHECK(words.size() == 1);
    for (const auto& [to, word] : words) CHECK(to == kFourth);
  }
}

TEST_CASE("what a home has chosen the next one chooses anew, though it has heard of it") {
  for (const bool is_early : {true, false}) {
    Mesh mesh(4);
    JobLife life(kThird, started({kHome, kOther}), {});
    JobOutbox out;
    JobHome word{kJob, kOther, 2, false, {}};
    word.stages.put({kThird, kFourth, {kJob, Stage::kStarting, {}}});
    mesh.staying.erase(kHome);
    mesh.staying.erase(kOther);
    if (is_early) life.on_home(mesh.around(kThird), kOther, word, out);
    ++mesh.view.number;
    static_cast<void>(life.on_view(mesh.around(kThird), out));
    if (!is_early) life.on_home(mesh.around(kThird), kOther, word, out);
    static_cast<void>(out.take());

    life.on_stage(mesh.around(kThird), kFourth, {kJob, Stage::kNone, {}}, out);
    // The home before may end the job as long as it has not heard of this one.
    CHECK(support::sent<JobHome>(out.take()).empty());
    life.on_stage(mesh.around(kThird), kHome, {kJob, Stage::kAttached, {}, 2}, out);
    life.on_stage(mesh.around(kThird), kOther, {kJob, Stage::kAttached, {}, 2}, out);

    const auto words = support::sent<JobHome>(out.take());
    REQUIRE(words.size() == 1);
    CHECK(words[0].first == kFourth);
  }
}

TEST_CASE("a home that is none any more forgets whom it has chosen in vain") {
  Mesh mesh(3);
  Home home(mesh, started({kHome}));
  REQUIRE(home.sees_view() == ProcessorSet{kOther, kThird});
  home.is_at(kThird, Stage::kStarting, 1);

  mesh.staying.erase(kHome);
  ++mesh.view.number;
  static_cast<void>(home.life.on_view(mesh.around(), home.out));

  CHECK(home.life.taking_part() == ProcessorSet{kHome, kThird});
}

TEST_CASE("the home that started a job is its home before the view with it comes") {
  Mesh mesh(3);
  JobStart start = started({kHome, kOther});
  start.home = kFourth;
  JobLife life(kOther, start, {});
  JobOutbox out;

  CHECK(!life.on_view(mesh.around(kOther), out));

  CHECK(life.home() == kFourth);
}

TEST_CASE("nobody starts the program at the word of one that is no home any more, or not yet") {
  Mesh mesh(3);
  JobHome word{kJob, kHome, 2, false, {}};
  word.stages.put(kThird, {kJob, Stage::kStarting, {}});
  for (const bool by_home : {true, false}) {
    for (const bool is_late : {true, false}) {
      JobLife life(kThird, started({kHome, kOther}), {});
      JobOutbox out;
      if (is_late) life.on_home(mesh.around(kThird), kOther, {kJob, kOther, 9, false, {}}, out);
      life.on_home(mesh.around(kThird), by_home ? kHome : kThird, word, out);
      const bool starts = by_home && !is_late;
      CHECK(support::effects<Spawn>(out.take()).size() == (starts ? 1 : 0));
    }
  }
}

TEST_CASE("who is asked and told in one statement starts first, and says that alone") {
  Mesh mesh(3);
  JobHome word{kJob, kHome, 2, /*is_new=*/true, {}};
  word.stages.put(kThird, {kJob, Stage::kStarting, {}});
  JobLife life(kThird, started({kHome, kOther}), {});
  JobOutbox out;

  life.on_home(mesh.around(kThird), kHome, word, out);

  const auto said = support::sent<JobStage>(out.take());
  REQUIRE(said.size() == 1);
  CHECK(said[0].second.stage == Stage::kStarting);
}

TEST_CASE("who is told to start when the program is done elsewhere says that it does not") {
  Mesh mesh(3);
  JobHome word{kJob, kHome, 2, false, {}};
  word.stages.put(kOther, {kJob, Stage::kExited, {}, 3});
  word.stages.put(kThird, {kJob, Stage::kStarting, {}});
  JobLife life(kThird, started({kHome, kOther}), {});
  JobOutbox out;

  life.on_home(mesh.around(kThird), kHome, word, out);

  auto items = out.take();
  CHECK(support::effects<Spawn>(items).empty());
  const auto said = support::sent<JobStage>(items);
  REQUIRE(said.size() == 1);
  CHECK(said[0].second.stage == Stage::kNone);
  CHECK(said[0].second.change > 0);
}

TEST_CASE("no process is started for ranks, nor for a job that is about to end") {
  Mesh mesh(3);
  JobStart ranks = started({kHome});
  ranks.spec.fixed = true;
  CHECK(Home(mesh, ranks).sees_view().empty());
  Home home(mesh, started({kHome, kOther}));
  home.is_at(kOther, Stage::kFinished, 2);
  CHECK(home.sees_view().empty());
}

TEST_SUITE_END();

}  // namespace phx::runtime::stage_table_test
