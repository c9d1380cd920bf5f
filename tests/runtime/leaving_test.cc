#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/daemon.h"
#include "runtime/membership/view_change.h"
#include "tests/support/daemon_net.h"

namespace phx::runtime::leaving_test {
namespace {

using support::DaemonNet;

constexpr ProcessorId kCoordinator{1}, kSender{2}, kLeaver{3};

/// Three daemons whose links are played by the test: they carry everything at once, but what is
/// lost.
class Trio {
 public:
  Trio() {
    View view;
    view.number = 1;
    view.next_processor = 4;
    for (const ProcessorId id : {kCoordinator, kSender, kLeaver}) {
      view.members.put(Member{id, 1000 + id.value, {to_string(id)}, to_string(id), false});
    }
    for (const ProcessorId id : {kCoordinator, kSender, kLeaver}) {
      Birth birth;
      birth.self = id;
      birth.snapshot.id = id;
      birth.snapshot.view = view;
      daemons_.try_emplace(id, birth, DaemonConfig{}, id.value);
    }
    for (auto& [id, daemon] : daemons_) daemon.start(now_);
    run_for(5s);
  }

  Daemon& daemon(ProcessorId id) { return daemons_.at(id); }
  /// From now on what `from` sends to `to` gets lost, unnoticed.
  void lose(ProcessorId from, ProcessorId to) { lossy_.insert({from, to}); }
  void lose_nothing() { lossy_.clear(); }
  void run_for(Duration duration) {
    const Instant end = now_ + duration;
    for (carry_all(); now_ < end; carry_all()) {
      Instant next = end;
      for (auto& [id, daemon] : daemons_) {
        next = std::min(next, daemon.next_deadline().value_or(end));
      }
      now_ = std::max(now_, next);
      for (auto& [id, daemon] : daemons_) daemon.on_deadline(now_);
    }
  }
  /// Calls `step` at every envelope that is sent, before it is carried.
  using Step = std::function<void(ProcessorId from, ProcessorId to, const Envelope& envelope)>;
  void watch(Step step) { step_ = std::move(step); }
  [[nodiscard]] Instant now() const { return now_; }

 private:
  void carry_all() {
    for (bool any = true; any;) {
      any = false;
      for (auto& [id, daemon] : daemons_) {
        for (Effect& effect : daemon.take_effects()) any = carry(id, effect) || any;
      }
    }
  }
  bool carry(ProcessorId from, Effect& effect) {
    if (const auto* dial = std::get_if<Dial>(&effect)) {
      const std::uint64_t incarnation = ++links_;
      open_.insert(incarnation);
      daemons_.at(from).on_link_up(now_, {dial->peer, incarnation}, true);
      daemons_.at(dial->peer).on_link_up(now_, {from, incarnation}, false);
    } else if (auto* transmit = std::get_if<Transmit>(&effect)) {
      const ProcessorId to = transmit->link.peer;
      if (step_ && transmit->frame.envelope) step_(from, to, *transmit->frame.envelope);
      if (lossy_.count({from, to}) > 0 || open_.count(transmit->link.incarnation) == 0) return true;
      daemons_.at(to).on_frame(now_, {from, transmit->link.incarnation},
                               std::move(transmit->frame));
    } else if (const auto* hangup = std::get_if<Hangup>(&effect)) {
      if (open_.erase(hangup->link.incarnation) == 0) return true;
      daemons_.at(hangup->link.peer).on_link_down(now_, {from, hangup->link.incarnation});
    } else {
      return false;
    }
    return true;
  }

  Instant now_{};
  std::map<ProcessorId, Daemon> daemons_;
  std::uint64_t links_ = 0;
  std::set<std::uint64_t> open_;
  std::set<std::pair<ProcessorId, ProcessorId>> lossy_;
  Step step_;
};

bool is_flush_answer(const Envelope& envelope) {
  const auto* flush = std::get_if<Flush>(&envelope);
  return flush != nullptr && flush->answer;
}
bool is_farewell(const Envelope& envelope) {
  const auto* leave = std::get_if<Leave>(&envelope);
  return leave != nullptr && leave->step == LeaveStep::kRemove;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/leaving");

// Else a sender gets back, when it sees the view without the leaver, tokens that the leaver has
// passed on: they would count twice in a reduction.
TEST_CASE("[Saito08 G16 b] a leaver goes only when all know what it took from them") {
  Trio trio;
  bool has_answered = false;
  bool has_gone = false;
  trio.watch([&](ProcessorId from, ProcessorId to, const Envelope& envelope) {
    if (from == kSender && to == kLeaver && is_flush_answer(envelope)) {
      has_answered = true;
      trio.lose(kLeaver, kSender);  // so that the answer is taken, and not confirmed
    }
    if (from == kLeaver && to == kCoordinator && is_farewell(envelope)) has_gone = true;
  });

  trio.daemon(kLeaver).drain(trio.now());
  trio.run_for(1s);
  CHECK(has_answered);
  CHECK(!has_gone);

  trio.watch([&](ProcessorId from, ProcessorId to, const Envelope& envelope) {
    if (from == kLeaver && to == kCoordinator && is_farewell(envelope)) has_gone = true;
  });
  trio.lose_nothing();
  trio.run_for(5s);  // the link is given up after 2 s, and made anew
  CHECK(has_gone);
}

// The newcomer was told who the owner was before, and joins too late to be asked to flush.
TEST_CASE("[Saito08 G16 b] a leaver goes only when a newcomer knows what it took from it, too") {
  constexpr ProcessorId kReceiver{4};
  DaemonNet net(4);
  RunRequest request;
  request.spec.vnodes = 4;
  request.spec.command = {"program"};
  net.ask(kSender, request);
  const JobId job = net.replies<RunStarted>().at(0).job;
  for (const ProcessorId id : {kLeaver, kReceiver}) net.attach(id, job);
  net.hold(kLeaver, kSender);    // where its vnode has gone; and the flush
  net.hold(kReceiver, kSender);  // that it has come there
  net.daemon(kLeaver).drain(net.now());
  net.run();
  const VnodeId moved{2};
  REQUIRE(net.heard_by_application<AppRelease>(kLeaver).size() == 1);
  net.say(kLeaver, AppReleased{0, {{moved, {}}}});
  net.daemon(kLeaver).on_process_ended(net.now(), job, Exit{0, 0, true, {}});
  net.run();
  net.hold(kCoordinator, kLeaver);  // the view that lets the newcomer in
  const ProcessorId newcomer = net.join(kSender);
  net.attach(newcomer, job);
  bool has_gone = false;
  bool has_passed_on = false;
  net.watch([&](ProcessorId from, ProcessorId to, const Envelope& envelope) {
    const bool is_message = std::holds_alternative<VnodeMessage>(envelope);
    if (from == newcomer && to == kLeaver && is_message) net.hold(kLeaver, newcomer);
    has_passed_on = has_passed_on || (from == kLeaver && is_message);
    has_gone = has_gone || (from == kLeaver && is_farewell(envelope));
  });

  net.say(newcomer, AppSend{{VnodeId{0}, moved, 1, 0, 0, {}}});
  net.release(kLeaver, kSender, 1s);
  CHECK(has_passed_on);
  REQUIRE(!has_gone);

  net.release(kLeaver, newcomer);
  net.release(kCoordinator, kLeaver);
  CHECK(has_gone);
}

// Its process has ended, so nothing but the daemon has the vnode; and nobody else wants it.
TEST_CASE("a leaver goes only when what it was giving away is taken, or known to be nobody's") {
  constexpr VnodeId kGiven{2};
  DaemonConfig config;
  config.state_piece_bytes = 1000;
  DaemonNet net(3, config);
  RunRequest request;
  request.spec.vnodes = 3;
  request.spec.command = {"program"};
  net.ask(kSender, request);
  const JobId job = net.replies<RunStarted>().at(0).job;
  for (const ProcessorId id : {kCoordinator, kSender, kLeaver}) net.attach(id, job);
  ProcessorId receiver;
  bool has_flushed = false;
  net.watch([&](ProcessorId from, ProcessorId to, const Envelope& envelope) {
    if (std::holds_alternative<Offer>(envelope)) receiver = to;
    has_flushed = has_flushed || (from == kLeaver && std::holds_alternative<Flush>(envelope));
  });
  net.daemon(kLeaver).drain(net.now());
  net.run();
  REQUIRE(receiver != ProcessorId{});
  net.hold(kLeaver, receiver);  // the pieces of the state; and the flush
  VnodeBundle large;
  large.state = Payload(Bytes(5000));
  net.say(kLeaver, AppReleased{0, {{kGiven, large}}});
  net.say(kLeaver, AppClosing{});
  net.daemon(kLeaver).on_process_ended(net.now(), job, Exit{0, 0, true, {}});
  net.run_for(1s);
  CHECK(!has_flushed);

  net.say(receiver, AppClosing{});  // it takes nothing more
  net.release(kLeaver, receiver, 1s);
  REQUIRE(net.has_stopped(kLeaver));
  const ProcessorId other = receiver == kSender ? kCoordinator : kSender;
  const VnodeId sender{other.value - 1};
  net.say(other, AppFlow{FlowQuestion{sender, kGiven, false, 1}});
  const FlowCredit closed{sender, kGiven, kFlowClosed, 0, {}};
  const auto answers = net.heard_by_application<AppDeliver>(other);
  CHECK(std::ranges::any_of(
      answers, [&](const AppDeliver& one) { return one.delivery == Delivery{closed}; }));
}

TEST_CASE("a leaver whose process has ended waits for what that had accepted, and refuses now") {
  constexpr VnodeId kAccepted{1};
  DaemonNet net(3);
  RunRequest request;
  request.spec.vnodes = 3;
  request.spec.command = {"program"};
  net.ask(kCoordinator, request);
  const JobId job = net.replies<RunStarted>().at(0).job;
  for (const ProcessorId id : {kCoordinator, kSender, kLeaver}) net.attach(id, job);
  std::vector<bool> answers;
  bool has_flushed = false;
  net.watch([&](ProcessorId from, ProcessorId, const Envelope& envelope) {
    const auto* answer = std::get_if<OfferReply>(&envelope);
    if (answer != nullptr) answers.push_back(answer->accepted);
    has_flushed = has_flushed || (from == kLeaver && std::holds_alternative<Flush>(envelope));
  });

  net.slip_in(kSender, kLeaver, Offer{job, 1, {{VnodeSet{kAccepted}, 2}}});
  net.run();
  net.say(kLeaver, AppClosing{});
  net.daemon(kLeaver).on_process_ended(net.now(), job, Exit{0, 0, true, {}});
  net.daemon(kLeaver).drain(net.now());
  net.run_for(1s);
  CHECK(!has_flushed);
  REQUIRE(answers.size() > 1);
  CHECK(answers.front());
  CHECK_FALSE(answers.back());
}

// Each request brings an answer that is not acknowledged before 20 ms, or the next request.
TEST_CASE("a coordinator goes while others never cease to ask it for jobs") {
  DaemonNet net(3);
  RunRequest request;
  request.spec.vnodes = 1;
  request.spec.command = {"program"};
  net.hold(kLeaver, kCoordinator);  // so that its answer to the flush is the last one
  net.daemon(kCoordinator).drain(net.now());
  for (std::uint32_t i = 0; i < 40; ++i) {
    const ClientId client{i};
    net.daemon(kSender).on_client_message(net.now(), client, request);
    net.daemon(kSender).on_client_down(net.now(), client);  // so that nothing starts

    net.run_for(10ms);

    if (i == 3) net.release(kLeaver, kCoordinator, 0ms);
  }

  CHECK(!net.daemon(kSender).view().members.contains(kCoordinator));
  CHECK(net.has_stopped(kCoordinator));
}

TEST_CASE("a leaver stays until it is taken out, also when two coordinators are frozen") {
  constexpr ProcessorId kAsked{4}, kLast{5};
  DaemonNet net(5);
  std::optional<Departure> why;
  net.watch([&](ProcessorId from, ProcessorId, const Envelope& envelope) {
    const auto* change = std::get_if<ViewChange>(&envelope);
    if (from == kLeaver && change != nullptr && is_gone_by(*change, kAsked)) {
      why = change->gone.front().why;
    }
    if (from != kAsked || !is_farewell(envelope)) return;
    for (const ProcessorId frozen : {ProcessorId{1}, ProcessorId{2}}) {
      for (std::uint32_t to = 1; to <= 5; ++to) net.hold(frozen, ProcessorId{to});
    }
  });

  net.daemon(kAsked).drain(net.now());
  for (int i = 0; i < 200 && !net.has_stopped(kAsked); ++i) net.run();

  REQUIRE(net.has_stopped(kAsked));
  CHECK(net.stop(kAsked).code == 0);
  CHECK(why == Departure::kLeft);
  CHECK(net.daemon(kLast).view().members.size() == 2);
}

TEST_CASE("a leaver hears that it is out also from one whose message before it refused") {
  constexpr ProcessorId kSecond{2};
  DaemonNet net(2);
  net.watch([&](ProcessorId from, ProcessorId, const Envelope& envelope) {
    if (from == kSecond && is_farewell(envelope)) net.hold(kCoordinator, kSecond);
  });
  net.daemon(kSecond).drain(net.now());
  net.run();
  net.slip_in(kCoordinator, kSecond, VnodeMessage{});
  net.release(kCoordinator, kSecond);  // the view without it, which follows the message

  REQUIRE(net.has_stopped(kSecond));
  CHECK(net.stop(kSecond).code == 0);
}

TEST_CASE("a leaver that has refused a message takes over when the coordinator dies") {
  constexpr ProcessorId kSecond{2}, kThird{3};
  DaemonNet net(3);
  net.watch([&](ProcessorId from, ProcessorId, const Envelope& envelope) {
    if (from == kSecond && is_farewell(envelope)) net.hold(kSecond, kCoordinator);
  });
  net.daemon(kSecond).drain(net.now());
  net.run_for(1s);
  REQUIRE(net.daemon(kThird).view().members.size() == 3);
  net.slip_in(kThird, kSecond, VnodeMessage{});
  net.kill(kCoordinator);

  net.run_for(20s);

  REQUIRE(net.has_stopped(kSecond));
  CHECK(net.stop(kSecond).code == 0);
  CHECK(net.daemon(kThird).view().members.size() == 1);
  CHECK(net.daemon(kThird).view().line == 1);  // The coordinator alone has died.
}

TEST_CASE("who was told to leave says that it is not marked yet") {
  DaemonNet net(3);
  net.hold(kCoordinator, kLeaver);
  net.ask(kSender, DrainRequest{{kLeaver}});
  net.run_for(1s);
  const std::string expected = "p1, the coordinator, to mark it as leaving";
  CHECK(net.daemon(kLeaver).status().leaving_waits_for == expected);
  const auto told = net.replies<DrainProgress>();
  REQUIRE(!told.empty());
  CHECK(told.back().processors.at(0).waiting == expected);
  net.release(kCoordinator, kLeaver, 0ms);
  net.run_for(1s);
  CHECK(net.has_stopped(kLeaver));
}

TEST_CASE("a leaver says whom it waits for, to itself and to whoever asked for the drain") {
  DaemonNet net(3);
  const auto waits_for = [&] { return net.daemon(kLeaver).status().leaving_waits_for; };
  bool is_removal = false;
  net.watch([&](ProcessorId from, ProcessorId, const Envelope& envelope) {
    if (from != kLeaver || !is_farewell(envelope)) return;
    is_removal = true;
    net.hold(kCoordinator, kLeaver);
  });
  CHECK(waits_for().empty());
  net.hold(kSender, kLeaver);
  net.ask(kCoordinator, DrainRequest{{kLeaver}});
  net.run_for(2s);
  CHECK(waits_for() == "p2 to send it nothing more");
  const auto told = net.replies<DrainProgress>();
  REQUIRE(!told.empty());
  CHECK(told.back().processors.at(0).waiting == "p2 to send it nothing more");

  net.release(kSender, kLeaver, 0ms);
  net.run_for(100ms);
  REQUIRE(is_removal);
  CHECK(waits_for() == "p1, the coordinator, to take it out of the mesh");
  net.release(kCoordinator, kLeaver, 0ms);
  net.run_for(1s);
  CHECK(net.has_stopped(kLeaver));
}

TEST_CASE("a leaver that waits to be taken out ends when the mesh is taken down") {
  DaemonNet net(3);
  net.watch([&](ProcessorId from, ProcessorId, const Envelope& envelope) {
    if (from == kLeaver && is_farewell(envelope)) net.hold(kCoordinator, kLeaver);
  });
  net.daemon(kLeaver).drain(net.now());
  net.run();
  CHECK(!net.has_stopped(kLeaver));

  net.ask(kSender, DownRequest{});
  // It is refused everywhere and hears nobody: for so long it may be its own firewall that refuses.
  net.run_for(DaemonConfig{}.peer_timeout + 1s);

  CHECK(net.has_stopped(kLeaver));
}

TEST_CASE("when the mesh is taken down nobody waits for what others that end will not take") {
  DaemonNet net(3);
  net.hold(kLeaver, kSender);
  net.daemon(kLeaver).drain(net.now());
  net.run();

  net.ask(kCoordinator, DownRequest{});
  net.run();

  for (const ProcessorId id : {kCoordinator, kSender, kLeaver}) CHECK(net.has_stopped(id));
}

namespace {

/// p2 has asked to be taken out when p1 freezes, so it does that itself; p4 does not hear it.
struct LastWord {
  LastWord() {
    net.watch([this](ProcessorId from, ProcessorId, const Envelope& envelope) {
      if (from != kAsked) return;
      const auto* change = std::get_if<ViewChange>(&envelope);
      if (change != nullptr && is_gone_by(*change, kAsked)) net.hold(kAsked, kDeaf);
      if (!is_farewell(envelope)) return;
      for (const ProcessorId id : {kAsked, kOther, kDeaf}) net.hold(kCoordinator, id);
    });
    net.daemon(kAsked).drain(net.now());
    for (int i = 0; i < 100 && net.daemon(kOther).view().members.contains(kAsked); ++i) net.run();
  }

  static constexpr ProcessorId kAsked{2}, kOther{3}, kDeaf{4};
  DaemonNet net{4};
};

}  // namespace

TEST_CASE("a leaver that becomes coordinator meanwhile goes when all have its last word") {
  LastWord it;
  REQUIRE(!it.net.daemon(it.kOther).view().members.contains(it.kAsked));
  CHECK(!it.net.has_stopped(it.kAsked));

  it.net.release(it.kAsked, it.kDeaf);

  REQUIRE(it.net.has_stopped(it.kAsked));
  CHECK(it.net.stop(it.kAsked).reason == "");
  CHECK(!it.net.daemon(it.kDeaf).view().members.contains(it.kAsked));
}

TEST_CASE("whoever has left is in no tree, also where the view that said so was missed") {
  constexpr ProcessorId kLast{6};
  DaemonNet net(6);
  overlay::KnownNetwork network;
  network.sites.push_back({"", ProcessorSet::range(kCoordinator, kLast), 1ms});
  net.daemon(kSender).know(net.now(), network);
  const auto is_child = [&] {  // of the sender, in any tree of those who stay
    bool any = false;
    for (std::uint32_t root = 1; root < kLast.value; ++root) {
      net.ask(kSender, StatusRequest{false, {}, {ProcessorId{root}, SizeClass{4}}});
      net.run();
      const ProcessorStatus one = net.replies<StatusReply>().back().processors.at(0);
      REQUIRE(one.id == kSender);
      REQUIRE(!one.asked_trees.empty());
      for (const TreeStatus& tree : one.asked_trees) {
        any = any || std::ranges::find(tree.children, kLast) != tree.children.end();
      }
    }
    return any;
  };
  REQUIRE(is_child());
  // It missed the view in which p6 was emptied, and the next one, in which p6 was gone.
  View third;
  third.number = 3;
  third.next_processor = kLast.value + 1;
  third.relaying_since = 2;
  for (std::uint32_t id = 1; id < kLast.value; ++id) {
    third.members.put(Member{ProcessorId{id}, 1000 + id, {to_string(ProcessorId{id})}, "", false});
  }
  net.slip_in(kCoordinator, kSender, ViewInstall{third, {{kLast, Departure::kLeft, {}}}});
  CHECK(!is_child());
}

TEST_CASE("a coordinator that leaves does not wait for those who are silent for 5 s") {
  LastWord it;
  it.net.run_for(4s);
  CHECK(!it.net.has_stopped(it.kAsked));

  it.net.run_for(1s);

  REQUIRE(it.net.has_stopped(it.kAsked));
  CHECK(it.net.stop(it.kAsked).code == 0);
  CHECK(it.net.stop(it.kAsked).reason == "not all have confirmed the view without this processor");
}

TEST_CASE("a leaver that is not taken out by those who live gives up after 30 s, and says why") {
  constexpr ProcessorId kAsked{9};
  DaemonNet net(9);
  net.watch([&](ProcessorId from, ProcessorId, const Envelope& envelope) {
    if (from == kAsked && is_farewell(envelope)) net.say_nothing_to(kAsked);
  });
  net.daemon(kAsked).drain(net.now());
  net.run_for(29s);
  CHECK(!net.has_stopped(kAsked));

  net.run_for(2s);

  REQUIRE(net.has_stopped(kAsked));
  CHECK(net.stop(kAsked).code == 3);
  CHECK(net.stop(kAsked).reason ==
        "nobody took this processor out of the mesh within 30 s after it asked p1 for it; the "
        "others will take it for dead");
}

TEST_SUITE_END();

}  // namespace phx::runtime::leaving_test
