#include "runtime/jobs/job_life.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/job_items.h"

namespace phx::runtime {
namespace {

constexpr ProcessorId kHome{1}, kOther{2}, kThird{3};
constexpr JobId kJob{7};

/// One job's life at `self`, in a mesh of three where everybody has been told to start it.
struct Harness {
  explicit Harness(ProcessorId at) : self(at), trees(at, {}, 1), life(at, start(), {}) {
    for (const ProcessorId id : {kHome, kOther, kThird}) {
      view.members[id] = {id, id.value, {to_string(id)}, {}, false};
      members.insert(id);
      staying.insert(id);
    }
    view.next_processor = 4;
  }
  static JobStart start() {
    JobSpec spec;
    spec.vnodes = 6;
    spec.command = {"program"};
    return {kJob, spec, kHome, 1, {kHome, kOther, kThird}};
  }
  Surroundings around() {
    return {now, trees, view, members, staying, kHome, !staying.contains(self)};
  }
  void is_followed() { life.on_follower(around(), ClientId{1}, out); }
  void reads() { life.on_follower_took(around(), ClientId{1}, out); }
  void leaves(ProcessorId id) { staying.erase(id); }
  void dies(ProcessorId id) {
    view.members.erase(id);
    members.erase(id);
    staying.erase(id);
    life.on_gone(around(), {id, Departure::kSilent, "test"}, {}, out);
  }
  void is_at(ProcessorId id, Stage stage, std::uint64_t change) {
    life.on_stage(around(), id, {kJob, stage, {}, change}, out);
  }
  /// Messages of this kind since the last take, as (to, message).
  template <class M>
  std::vector<std::pair<ProcessorId, M>> sent() {
    return support::sent<M>(out.take());
  }

  Instant now;
  ProcessorId self;
  View view;
  ProcessorSet members, staying;
  overlay::TreeForest trees;
  JobOutbox out;
  JobLife life;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/job_life");

TEST_CASE("a leaver that was chosen says that it starts nothing, so that nobody waits for it") {
  Harness h(kOther);
  h.leaves(kOther);

  h.life.consider_start(h.around(), h.out);
  h.life.consider_start(h.around(), h.out);

  const auto stages = h.sent<JobStage>();
  REQUIRE(stages.size() == 1);
  CHECK(stages[0].first == kHome);
  CHECK(stages[0].second.stage == Stage::kNone);
}

TEST_CASE(
    "a process is started, attaches, finishes and exits, and the home hears of each stage once") {
  Harness h(kOther);

  h.life.consider_start(h.around(), h.out);
  h.life.on_attached(h.around(), ApplicationId{1}, h.out);
  h.life.on_finish(h.around(), {}, h.out);
  h.life.on_exit(h.around(), {}, h.out);

  std::vector<Stage> stages;
  std::uint64_t last = 0;
  for (const auto& [to, m] : h.sent<JobStage>()) {
    CHECK(to == kHome);
    CHECK(m.change > std::exchange(last, m.change));
    stages.push_back(m.stage);
  }
  CHECK(stages ==
        std::vector{Stage::kStarting, Stage::kAttached, Stage::kFinished, Stage::kExited});
}

TEST_CASE("the home ends the job well when all have exited, and badly when one failed") {
  Harness h(kHome);
  h.is_followed();
  for (const ProcessorId id : {kOther, kThird}) h.is_at(id, Stage::kExited, 1);
  CHECK(!h.life.ended());
  h.life.on_exit(h.around(), {}, h.out);
  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->reason.empty());

  Harness bad(kHome);
  bad.is_followed();
  bad.life.on_stage(bad.around(), kOther, {kJob, Stage::kExited, {3, 0, false, ""}, 1}, bad.out);
  REQUIRE(bad.life.ended());
  CHECK(bad.life.ended()->code == 3);
  CHECK(bad.life.ended()->reason == "the application at p2 ended with exit code 3");
}

TEST_CASE("an older stage does not replace a newer one, whatever way it comes") {
  Harness h(kThird);
  h.is_at(kOther, Stage::kAttached, 2);
  const JobHome late{kJob, kHome, 0, {{kOther, {kJob, Stage::kStarting, {}, 1}}}, {}};

  h.life.on_home(h.around(), late, h.out);

  CHECK(h.life.ready() == ProcessorSet{kOther});
}

TEST_CASE("a home that leaves hands its duty to a ready one that stays, and tells everybody") {
  Harness h(kHome);
  h.is_at(kThird, Stage::kAttached, 1);
  h.leaves(kHome);
  static_cast<void>(h.out.take());

  h.life.pass_home_on(h.around(), h.out);

  const auto said = h.sent<JobHome>();
  REQUIRE(said.size() == 2);
  for (const auto& [to, m] : said) CHECK((m.home == kThird && m.moves == 1));
}

TEST_CASE("a leaver to whom the duty is handed hands it on") {
  Harness h(kThird);
  h.leaves(kThird);
  h.life.on_home(h.around(), {kJob, kThird, 1, {}, {}}, h.out);
  CHECK(h.life.home() == kThird);
  h.leaves(kHome);

  h.life.pass_home_on(h.around(), h.out);

  CHECK(h.life.home() == kOther);
  for (const auto& [to, m] : h.sent<JobHome>()) CHECK((m.home == kOther && m.moves == 2));
}

TEST_CASE("a job whose new home is dead already ends everywhere, and says why") {
  Harness h(kOther);
  h.dies(kThird);

  h.life.on_home(h.around(), {kJob, kThird, 1, {}, {}}, h.out);

  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->reason == "p3 is gone, which was to look after the job");
  CHECK(h.sent<JobEnd>().size() == 1);
}

TEST_CASE("who finds that a job is over tells its home, and only that one tells everybody") {
  Harness finder(kOther);
  Harness home(kHome);

  finder.life.end(finder.around(), 1, "test", finder.out);
  home.life.end(home.around(), 1, "test", home.out);

  const auto found = finder.sent<JobEnd>();
  REQUIRE(found.size() == 1);
  CHECK(found[0].first == kHome);
  CHECK(home.sent<JobEnd>().size() == 2);
}

TEST_CASE("a process tells a new home its stage again") {
  Harness h(kOther);
  h.life.consider_start(h.around(), h.out);
  static_cast<void>(h.out.take());

  h.life.on_home(h.around(), {kJob, kThird, 1, {}, {}}, h.out);

  const auto said = h.sent<JobStage>();
  REQUIRE(said.size() == 1);
  CHECK(said[0].first == kThird);
  CHECK(said[0].second.stage == Stage::kStarting);
}

TEST_CASE("a job ends when all has come that its processes wrote, which may have gone a long way") {
  Harness h(kHome);
  h.is_followed();
  h.is_at(kOther, Stage::kExited, 1);
  h.life.on_stage(h.around(), kThird, {kJob, Stage::kExited, {3, 0, false, ""}, 1, 2}, h.out);
  h.life.on_output(h.around(), {kJob, kThird, false, {}}, h.out);
  CHECK(!h.life.ended());

  h.life.on_output(h.around(), {kJob, kThird, true, {}}, h.out);
  CHECK(h.life.waiting() == "the tool that follows the job, to read its output");
  CHECK(!h.life.ended());
  h.reads();

  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->code == 3);
  CHECK(h.life.waiting().empty());
}

TEST_CASE("a new home knows what has come to the old one, and waits for what is on its way") {
  Harness old(kHome);
  old.is_at(kThird, Stage::kAttached, 1);
  old.is_at(kOther, Stage::kExited, 1);
  for (int i = 0; i < 2; ++i) old.life.on_output(old.around(), {kJob, kThird, false, {}}, old.out);
  old.life.on_exit(old.around(), {}, old.out);
  old.leaves(kHome);
  static_cast<void>(old.out.take());
  old.life.pass_home_on(old.around(), old.out);
  const std::vector<JobOutbox::Item> said = old.out.take();
  const auto statements = support::sent<JobHome>(said);
  const auto outputs = support::sent<Output>(said);  // that nobody had fetched
  REQUIRE(statements.size() == 2);
  CHECK(outputs.size() == 2);

  Harness h(kThird);
  h.life.consider_start(h.around(), h.out);
  for (int i = 0; i < 3; ++i) h.life.on_written(h.around(), {kJob, kThird, false, {}}, h.out);
  h.life.on_home(h.around(), statements[0].second, h.out);
  h.life.on_exit(h.around(), {}, h.out);
  CHECK(h.life.waiting() == "the tool that started the job, to follow it to its new home");
  h.is_followed();
  for (int i = 0; i < 3; ++i) {
    CHECK(!h.life.ended());
    CHECK(h.life.waiting() == "output of the job's processes that is on its way here");
    h.life.on_output(h.around(), {kJob, kThird, false, {}}, h.out);
    h.reads();
  }

  CHECK(h.life.ended());
}

TEST_CASE("a job whose tool is on its way to the new home ends there, after its output") {
  Harness h(kThird);
  h.is_at(kOther, Stage::kExited, 1);
  h.life.consider_start(h.around(), h.out);
  h.life.on_home(h.around(), {kJob, kThird, 1, {{kHome, {kJob, Stage::kExited, {}, 1, 0}}}, {}},
                 h.out);
  h.life.on_written(h.around(), {kJob, kThird, false, {}}, h.out);
  h.life.on_exit(h.around(), {}, h.out);
  CHECK(!h.life.ended());
  static_cast<void>(h.out.take());

  h.is_followed();
  h.reads();

  const std::vector<ClientReply> replies = support::replied(h.out.take());
  REQUIRE(replies.size() == 3);
  CHECK(std::holds_alternative<RunOutput>(replies[1]));
  CHECK(std::holds_alternative<RunEnded>(replies[2]));
}

TEST_CASE("output that waits for the tool is handed on, and counted, also of one that has left") {
  Harness h(kHome);
  h.is_at(kThird, Stage::kAttached, 1);
  for (const bool is_error : {false, true}) {
    h.life.on_output(h.around(), {kJob, kOther, is_error, {}}, h.out);
  }
  h.life.on_stage(h.around(), kOther, {kJob, Stage::kNone, {}, 1, 2}, h.out);
  h.view.members.erase(kOther);
  h.members.erase(kOther);
  h.staying.erase(kOther);
  h.life.on_gone(h.around(), {kOther, Departure::kLeft, ""}, {}, h.out);
  h.leaves(kHome);
  static_cast<void>(h.out.take());

  h.life.pass_home_on(h.around(), h.out);

  const auto said = h.sent<JobHome>();
  REQUIRE(said.size() == 1);
  CHECK(said[0].second.outputs.at(kOther) == OutputCount{2, 0});
}

TEST_CASE("nobody waits for what a processor wrote that died") {
  Harness h(kHome);
  h.is_followed();
  h.is_at(kOther, Stage::kExited, 1);
  h.life.on_stage(h.around(), kThird, {kJob, Stage::kExited, {}, 1, 2}, h.out);
  h.life.on_exit(h.around(), {}, h.out);
  CHECK(!h.life.ended());

  h.dies(kThird);

  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->code == 0);
}

TEST_CASE("a job ends when its home dies, and when vnodes or messages die with a processor") {
  Harness h(kOther);
  h.dies(kThird);
  CHECK(!h.life.ended());  // it had nothing of the job
  h.dies(kHome);
  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->reason == "p1 is gone (test), which looked after the job");

  Harness other(kOther);
  other.life.on_gone(other.around(), {kThird, Departure::kSilent, "test"}, "v4-5", other.out);
  REQUIRE(other.life.ended());
  CHECK(other.life.ended()->reason == "p3 is gone (test), and with it v4-5");
}

TEST_SUITE_END();

}  // namespace phx::runtime
