#include "runtime/jobs/job_life.h"

#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "runtime/vnodes/vnode_map.h"
#include "tests/support/job_items.h"

namespace phx::runtime::job_life_test {
namespace {

constexpr ProcessorId kHome{1}, kOther{2}, kThird{3};
constexpr JobId kJob{7};

/// One job's life at `self`, in a mesh of three where everybody has been told to start it.
struct Harness {
  explicit Harness(ProcessorId at) : self(at), life(at, start(), {}) {
    for (const ProcessorId id : {kHome, kOther, kThird}) {
      view.members.put(Member{id, id.value, {to_string(id)}, {}, false});
      members.insert(id);
      staying.insert(id);
    }
    view.next_processor = 4;
  }
  explicit Harness(ProcessorId at, JobStart start) : Harness(at) {
    life = JobLife(at, std::move(start), {});
  }
  static JobStart start() {
    JobSpec spec;
    spec.vnodes = 6;
    spec.command = {"program"};
    return {kJob, spec, kHome, 1, {kHome, kOther, kThird}};
  }
  Surroundings around() {
    return {now,   trees,   view,    members, staying, kHome, !staying.contains(self),
            false, nullptr, &fellows};
  }
  void is_followed(const JobOutput::Numbers& shown = {}) {
    life.on_follower(around(), {ClientId{1}}, shown, out);
  }
  void reads() { life.on_follower_took(around(), ClientId{1}, out); }
  /// True: the home's duty has come here.
  bool leaves(ProcessorId id) {
    staying.erase(id);
    ++view.number;
    return life.on_view(around(), out);
  }
  void is_gone(ProcessorId id, Departure why) {
    view.members.erase(id);
    members.erase(id);
    staying.erase(id);
    ++view.number;
    life.on_gone(around(), {id, why, "test"}, {}, out);
    static_cast<void>(life.on_view(around(), out));
  }
  void dies(ProcessorId id) { is_gone(id, Departure::kSilent); }
  void writes() { life.on_written(around(), {kJob, self, false, {}}, out); }
  void comes(ProcessorId writer, std::uint64_t number) {
    life.on_output(around(), {kJob, writer, false, {}, number}, out);
  }
  void is_at(ProcessorId id, Stage stage, std::uint64_t change, std::uint64_t written = 0) {
    life.on_stage(around(), id, {kJob, stage, {}, change, written}, out);
  }
  /// Messages of this kind since the last take, as (to, message).
  template <class M>
  std::vector<std::pair<ProcessorId, M>> sent() {
    return support::sent<M>(out.take());
  }

  Instant now;
  ProcessorSet fellows;
  ProcessorId self;
  View view;
  ProcessorSet members, staying;
  overlay::TreeStore trees;
  JobOutbox out;
  JobLife life;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/job_life");

TEST_CASE("a process is told with which vnode it begins, if the job begins there") {
  for (const auto& [at, first] : {std::pair{kHome, "0"}, {kOther, "2"}, {kThird, "4"}}) {
    Harness h(at);
    h.life.consider_start(h.around(), h.out);
    const auto spawned = support::effects<Spawn>(h.out.take());
    REQUIRE(spawned.size() == 1);
    CHECK(spawned[0].spec.environment ==
          std::vector<std::string>{std::string("PHOENIX_FIRST_VNODE=") + first});
  }
  Harness late(ProcessorId{7});
  late.view.members.put(Member{late.self, 7, {}, {}, false});
  late.members.insert(late.self);
  late.staying.insert(late.self);
  late.life.consider_start(late.around(), late.out);
  CHECK(support::effects<Spawn>(late.out.take()).empty());
  JobHome word{kJob, kHome, 0, false, {}};
  word.stages.put(late.self, {kJob, Stage::kStarting, {}});
  late.life.on_home(late.around(), kHome, word, late.out);
  const auto spawned = support::effects<Spawn>(late.out.take());
  REQUIRE(spawned.size() == 1);
  CHECK(spawned[0].spec.environment.empty());
}

TEST_CASE("where there are fewer vnodes than processors some begin with none") {
  for (const ProcessorId at : {kHome, kOther, kThird}) {
    JobStart start = Harness::start();
    start.spec.vnodes = 1;
    start.spec.has_input = true;
    Harness h(at, start);
    h.life.consider_start(h.around(), h.out);
    const auto spawned = support::effects<Spawn>(h.out.take());
    REQUIRE(spawned.size() == 1);
    // As the map has it, v0 is where the last one begins; standard input goes there.
    const bool has_vnode = VnodeMap(1, {kHome, kOther, kThird}).owner(VnodeId{0}).first == at;
    CHECK(has_vnode == (at == kThird));
    CHECK(spawned[0].has_input == has_vnode);
    CHECK(spawned[0].spec.environment.size() == (has_vnode ? 1 : 0));
  }
}

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
  h.life.consider_start(h.around(), h.out);
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

TEST_CASE("an application hears whether the mesh is on its machine alone, and when that changes") {
  Harness h(kOther);
  h.fellows = h.members.minus(ProcessorSet{h.self});
  h.life.consider_start(h.around(), h.out);
  static_cast<void>(h.life.on_view(h.around(), h.out));  // nobody has attached
  const auto told = [&h] {
    std::vector<AppPlace> said;
    for (const auto& effect : support::effects<ToApp>(h.out.take())) {
      if (const auto* place = std::get_if<AppPlace>(&effect.message)) said.push_back(*place);
    }
    return said;
  };
  CHECK(told().empty());
  h.life.on_attached(h.around(), ApplicationId{1}, h.out);
  CHECK(told() == std::vector<AppPlace>{{true}});
  static_cast<void>(h.life.on_view(h.around(), h.out));
  CHECK(told().empty());
  h.fellows.erase(kThird);
  static_cast<void>(h.life.on_view(h.around(), h.out));
  CHECK(told() == std::vector<AppPlace>{{false}});
  h.life.on_attached(h.around(), ApplicationId{2}, h.out);
  CHECK(told().empty());  // as it takes for granted
}

TEST_CASE("a process that ends with 0 without having finished is an error of the job") {
  Harness h(kHome);
  h.is_followed();
  h.life.consider_start(h.around(), h.out);
  h.life.on_attached(h.around(), ApplicationId{1}, h.out);

  h.life.on_exit(h.around(), {}, h.out);

  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->code == 1);
  CHECK(h.life.ended()->reason.starts_with(
      "the application at p1 ended with exit code 0: it had not called finish()"));

  Harness remote(kHome);
  remote.is_followed();
  remote.is_at(kOther, Stage::kExited, 1);  // perhaps all of them are mere commands
  CHECK(!remote.life.ended());
  remote.is_at(kThird, Stage::kAttached, 1);
  REQUIRE(remote.life.ended());
  CHECK(remote.life.ended()->code == 1);
  CHECK(remote.life.ended()->reason ==
        "the application at p2 ended with exit code 0: it had not attached, as others of the job "
        "have; every process needs a phx::Session");
}

TEST_CASE("a process that was told to end, because it gets no vnodes, may end as it likes") {
  Harness h(kOther);
  h.life.consider_start(h.around(), h.out);
  h.life.on_attached(h.around(), ApplicationId{1}, h.out);
  h.is_at(kThird, Stage::kExited, 3);
  h.life.consider_retire(h.around(), /*idle=*/true, h.out);
  static_cast<void>(h.out.take());

  h.life.on_exit(h.around(), {}, h.out);

  const auto stages = h.sent<JobStage>();
  REQUIRE(stages.size() == 1);
  CHECK(stages[0].second.exit.finished);
  CHECK(stages[0].second.exit.detail.empty());
}

TEST_CASE("an older stage does not replace a newer one, whatever way it comes") {
  Harness h(kThird);
  h.is_at(kOther, Stage::kAttached, 2);
  JobHome late{kJob, kHome, 0, false, {}};
  late.stages.put(kOther, {kJob, Stage::kStarting, {}, 1});

  h.life.on_home(h.around(), kHome, late, h.out);

  CHECK(h.life.ready() == ProcessorSet{kOther});
}

TEST_CASE("the home is the processor that was asked, or, when that leaves, the oldest that stays") {
  Harness h(kOther);
  CHECK(h.life.home() == kHome);

  CHECK(h.leaves(kHome));

  CHECK(h.life.home() == kOther);
  const JobHome statement = h.life.home_statement(true);
  CHECK(statement.view == h.view.number);
  Harness third(kThird);
  CHECK(!third.leaves(kHome));
  CHECK(third.life.home() == kOther);
  CHECK(third.leaves(kOther));
  CHECK(third.life.home() == kThird);
}

TEST_CASE("a home that leaves sends its tool to the next one, at once") {
  Harness h(kHome);
  h.is_followed();
  h.writes();  // which the tool has not taken
  static_cast<void>(h.out.take());

  CHECK(!h.leaves(kHome));

  const std::vector<JobOutbox::Item> said = h.out.take();
  const auto replies = support::replied(said);
  REQUIRE(replies.size() == 1);
  CHECK(std::get<RunMoved>(replies[0]).endpoints == std::vector<std::string>{"p2"});
  CHECK(support::effects<DropClient>(said).size() == 1);
  CHECK(!h.life.is_read());  // so this processor stays until the next home has shown it
}

TEST_CASE("a new home that names itself before the view comes is believed, an older one is not") {
  Harness h(kThird);
  h.life.on_home(h.around(), kOther, {kJob, kOther, 5, true, {}}, h.out);
  CHECK(h.life.home() == kOther);
  h.life.on_home(h.around(), kHome, {kJob, kHome, 4, false, {}}, h.out);
  CHECK(h.life.home() == kOther);

  h.view.number = 3;
  CHECK(!h.life.on_view(h.around(), h.out));
  CHECK(h.life.home() == kOther);
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

TEST_CASE("what a process wrote before it asked for the end comes before the end") {
  Harness writer(kOther);
  writer.life.consider_start(writer.around(), writer.out);
  writer.life.on_attached(writer.around(), ApplicationId{1}, writer.out);
  static_cast<void>(writer.out.take());

  writer.life.on_finish(writer.around(), {true, 5, "bad cell"}, writer.out);
  CHECK(!writer.life.ended());
  const auto told = support::effects<SignalProcess>(writer.out.take());
  REQUIRE(told.size() == 1);
  CHECK(told[0].escalate_after == DaemonConfig{}.kill_grace);

  writer.writes();
  writer.life.on_exit(writer.around(), {0, SIGTERM, false, ""}, writer.out);
  const auto said = writer.sent<JobStage>();
  REQUIRE(said.size() == 1);
  const JobStage& stage = said[0].second;
  CHECK(stage.written == 1);
  CHECK(stage.exit == Exit{5, 0, false, "bad cell", true});

  Harness h(kHome);
  h.is_followed();
  h.life.on_stage(h.around(), kOther, stage, h.out);
  CHECK(!h.life.ended());
  h.comes(kOther, 1);
  h.reads();
  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->code == 5);
  CHECK(h.life.ended()->reason == "p2 asked for the end: bad cell");
}

TEST_CASE("an embedded program that asks for the end hears of it at once, and so does everybody") {
  JobStart start = Harness::start();
  start.spec.command = {};
  Harness h(kOther, start);
  h.life.on_attached(h.around(), ApplicationId{1}, h.out);
  static_cast<void>(h.out.take());

  h.life.on_finish(h.around(), {true, 0, "too large"}, h.out);
  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->code == 1);
  CHECK(h.life.ended()->reason == "p2 asked for the end: too large");
  std::size_t told = 0;
  for (const ToApp& one : support::effects<ToApp>(h.out.take())) {
    if (std::holds_alternative<AppEnd>(one.message)) ++told;
  }
  CHECK(told == 1);
}

TEST_CASE("who asks for the end twice ends for the first reason, also when it is retired") {
  Harness h(kOther);
  h.life.consider_start(h.around(), h.out);
  h.life.on_attached(h.around(), ApplicationId{1}, h.out);
  h.leaves(kOther);
  h.life.consider_retire(h.around(), /*idle=*/true, h.out);
  h.life.on_finish(h.around(), {true, 0, "first"}, h.out);
  h.life.on_finish(h.around(), {true, 7, "second"}, h.out);
  static_cast<void>(h.out.take());
  h.life.on_exit(h.around(), {0, 0, false, ""}, h.out);
  const auto said = h.sent<JobStage>();
  REQUIRE(said.size() == 1);
  CHECK(said[0].second.stage == Stage::kExited);
  CHECK(said[0].second.exit.code == 1);
  CHECK(said[0].second.exit.detail == "first");
}

TEST_CASE("a leaver whose program is done and still runs says so") {
  Harness h(kOther);
  h.life.consider_start(h.around(), h.out);
  h.life.on_attached(h.around(), ApplicationId{1}, h.out);
  h.leaves(kOther);
  h.life.on_finish(h.around(), {}, h.out);
  CHECK(h.life.waiting(h.around()) == "the application to end");
}

TEST_CASE("ranks stay: a leaver starts its own, and nobody starts another one") {
  JobStart start = Harness::start();
  start.spec.fixed = true;
  start.spec.vnodes = start.spec.processors_max = 2;
  start.processors = {kHome, kOther};
  Harness spare(kThird, start);
  spare.leaves(kOther);
  spare.life.consider_start(spare.around(), spare.out);
  CHECK(support::effects<Spawn>(spare.out.take()).empty());

  Harness leaver(kOther, start);
  leaver.leaves(kOther);
  leaver.life.consider_start(leaver.around(), leaver.out);
  CHECK(support::effects<Spawn>(leaver.out.take()).size() == 1);

  Harness home(kHome, start);
  home.is_followed();
  home.life.on_stage(home.around(), kOther, {kJob, Stage::kExited, {1, 0, false, ""}, 1}, home.out);
  REQUIRE(home.life.ended());
  CHECK(home.life.ended()->reason == "rank 1 at p2 ended with exit code 1");

  Harness slow(kOther, start);
  slow.life.consider_start(slow.around(), slow.out);
  slow.life.on_timer(slow.around(), JobTimer{JobTimer::Kind::kAttach, kJob, {}}, slow.out);
  REQUIRE(slow.life.ended());
  CHECK(slow.life.ended()->reason == "rank 1 at p2 has not called MPI_Init in time");
}

TEST_CASE("a process tells a new home its stage again") {
  Harness h(kOther);
  h.life.consider_start(h.around(), h.out);
  static_cast<void>(h.out.take());

  h.life.on_home(h.around(), kThird, {kJob, kThird, 1, true, {}}, h.out);

  const auto said = h.sent<JobStage>();
  REQUIRE(said.size() == 1);
  CHECK(said[0].first == kThird);
  CHECK(said[0].second.stage == Stage::kStarting);
}

TEST_CASE("a job ends when the tool has all that its processes wrote") {
  Harness h(kHome);
  h.is_followed();
  h.is_at(kOther, Stage::kExited, 1);
  h.life.on_stage(h.around(), kThird, {kJob, Stage::kExited, {3, 0, false, ""}, 1, 2}, h.out);
  h.comes(kThird, 1);
  h.reads();
  CHECK(!h.life.ended());

  h.comes(kThird, 2);
  CHECK(h.life.waiting(h.around()) ==
        "the tool that follows j7, to read its output (if it is gone: phoenix attach j7, or "
        "phoenix kill j7)");
  CHECK(!h.life.ended());
  h.reads();

  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->code == 3);
  CHECK(h.life.waiting(h.around()).empty());
}

TEST_CASE("a new home hears of all before it ends a job, and asks for all that its tool lacks") {
  Harness h(kThird);
  h.life.consider_start(h.around(), h.out);
  for (int i = 0; i < 3; ++i) h.writes();
  h.life.on_exit(h.around(), {}, h.out);
  h.leaves(kHome);
  REQUIRE(h.leaves(kOther));
  CHECK(h.life.waiting(h.around()) ==
        "the tool that follows j7, to come here (if it is gone: phoenix attach j7, or phoenix kill "
        "j7)");
  static_cast<void>(h.out.take());

  h.is_followed({{kOther, 4}, {kThird, 1}});
  const auto asked = h.sent<OutputTaken>();
  REQUIRE(asked.size() == 3);
  CHECK(asked[1] == std::pair{kOther, OutputTaken{kJob, 4, true}});
  CHECK(asked[2] == std::pair{kThird, OutputTaken{kJob, 1, true}});
  h.life.on_taken(h.around(), kThird, asked[2].second, h.out);
  const auto repeated = h.sent<Output>();
  REQUIRE(repeated.size() == 2);
  for (const auto& [to, output] : repeated) h.life.on_output(h.around(), output, h.out);
  h.reads();
  h.is_at(kHome, Stage::kNone, 2);
  CHECK(!h.life.ended());
  CHECK(h.life.waiting(h.around()) == "the others, to say which processes of the job they run: p2");
  h.is_at(kOther, Stage::kExited, 3, 5);
  CHECK(!h.life.ended());
  h.comes(kOther, 5);
  h.reads();

  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->code == 0);
}

TEST_CASE("nobody waits for what the tool had, and nobody keeps any more") {
  Harness h(kOther);
  REQUIRE(h.leaves(kHome));
  h.is_followed({{kThird, 2}});
  h.life.on_stage(h.around(), kThird, {kJob, Stage::kExited, {}, 3, 4, /*taken=*/4}, h.out);
  h.is_at(kHome, Stage::kNone, 2);
  h.life.on_exit(h.around(), {}, h.out);

  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->code == 0);
}

TEST_CASE("a job fails by the exit of a process whose processor has left before the home moved") {
  Harness h(kOther);
  h.life.on_stage(h.around(), kThird, {kJob, Stage::kExited, {3, 0, false, ""}, 1}, h.out);
  h.is_gone(kThird, Departure::kLeft);
  REQUIRE(h.leaves(kHome));
  CHECK(!h.life.ended());

  h.is_followed();

  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->reason == "the application at p3 ended with exit code 3");
}

TEST_CASE("costs: how much each process has written makes no statement of stages longer") {
  Harness h(kHome);
  h.is_followed();
  h.life.on_exit(h.around(), {}, h.out);
  h.is_at(kOther, Stage::kExited, 1, 5);
  h.is_at(kThird, Stage::kExited, 1, 7);
  static_cast<void>(h.out.take());
  h.life.on_timer(h.around(), JobTimer{JobTimer::Kind::kStages, kJob, {}}, h.out);

  for (const auto& [to, statement] : h.sent<JobHome>()) CHECK(statement.stages.runs().size() == 1);
  CHECK(h.life.home_statement(true).stages.runs().size() == 1);
}

TEST_CASE("a new home believes what a writer says of itself, though others have said it before") {
  for (const std::int32_t code : {0, 3}) {
    Harness h(kOther);
    const JobStage exited{kJob, Stage::kExited, {code, 0, false, ""}, 3};
    JobHome said{kJob, kHome, 1, false, {}};
    said.stages.put(kThird, exited);
    h.life.on_home(h.around(), kHome, said, h.out);
    REQUIRE(h.leaves(kHome));
    h.is_followed();
    h.life.on_exit(h.around(), {}, h.out);
    h.is_at(kHome, Stage::kNone, 2);
    CHECK(!h.life.ended());  // How much it has written is not known here.
    h.life.on_stage(h.around(), kThird, {kJob, Stage::kExited, exited.exit, 3, 1}, h.out);
    CHECK(!h.life.ended());  // That has not come here yet.
    h.comes(kThird, 1);
    h.reads();
    REQUIRE(h.life.ended());
    CHECK(h.life.ended()->code == code);
  }
}

TEST_CASE("a leaver stays until the tool has what its process wrote, and says so") {
  Harness h(kOther);
  h.writes();
  h.leaves(kOther);
  CHECK(!h.life.is_read());
  CHECK(h.life.waiting(h.around()) ==
        "the tool that follows j7, to read its output (if it is gone: phoenix attach j7, or "
        "phoenix kill j7)");

  h.life.on_taken(h.around(), kHome, {kJob, 1, false}, h.out);

  CHECK(h.life.is_read());
  CHECK(h.life.waiting(h.around()).empty());
}

TEST_CASE("nobody waits for what a processor wrote that died") {
  Harness h(kHome);
  h.is_followed();
  h.is_at(kOther, Stage::kExited, 1);
  h.is_at(kThird, Stage::kExited, 1, 2);
  h.life.on_exit(h.around(), {}, h.out);
  CHECK(!h.life.ended());

  h.dies(kThird);

  REQUIRE(h.life.ended());
  CHECK(h.life.ended()->code == 0);
}

TEST_CASE("a job outlives the processor that was asked for it, when that dies as a leaver") {
  Harness h(kThird);
  h.leaves(kHome);
  static_cast<void>(h.out.take());

  h.dies(kHome);

  CHECK(!h.life.ended());
  const auto said = h.sent<JobStart>();  // the home may not have heard of the job
  REQUIRE(said.size() == 1);
  CHECK(said[0].first == kOther);
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

}  // namespace phx::runtime::job_life_test
