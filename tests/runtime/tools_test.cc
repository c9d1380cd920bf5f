#include "runtime/tools.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace phx::runtime::tools_test {
namespace {

constexpr ProcessorId kSelf{1}, kOther{2}, kThird{3};
constexpr ClientId kTool{5};

struct Harness {
  Harness() {
    for (const ProcessorId id : {kSelf, kOther, kThird}) {
      view.members.put(Member{id, id.value, {}, {}, false});
    }
    view.next_processor = 4;
    own.id = kSelf;
  }
  /// Replies of this kind since the last take.
  template <class M>
  std::vector<M> replies() {
    std::vector<M> found;
    for (auto& item : out.take()) {
      const auto* event = std::get_if<Tools::Event>(&item);
      const auto* effect = event == nullptr ? nullptr : std::get_if<Effect>(event);
      const auto* reply = effect == nullptr ? nullptr : std::get_if<Reply>(effect);
      const auto* m = reply == nullptr ? nullptr : std::get_if<M>(&reply->reply);
      if (m != nullptr) found.push_back(*m);
    }
    return found;
  }
  void drain(std::vector<ProcessorId> processors) {
    tools.on_drain(now, kTool, {std::move(processors)}, view, own, out);
  }

  Instant now;
  View view;
  ProcessorStatus own;
  Tools tools{kSelf, 1s};
  Tools::Outbox out;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/tools");

TEST_CASE("a status is answered when all have answered, or names the silent ones in time") {
  Harness h;
  h.tools.on_status(h.now, kTool, {true}, h.view, h.own, h.out);
  h.tools.on_answer(kOther, {1, {}}, h.view, h.out);
  CHECK(h.replies<StatusReply>().empty());

  h.tools.on_timer(h.now + 1s, {1}, h.view, h.own, h.out);

  const auto replies = h.replies<StatusReply>();
  REQUIRE(replies.size() == 1);
  CHECK(replies[0].processors.size() == 2);
  CHECK(replies[0].silent == std::vector{kThird});
}

TEST_CASE("nobody waits for the answer of a processor that is gone") {
  Harness h;
  h.tools.on_status(h.now, kTool, {true}, h.view, h.own, h.out);
  h.tools.on_answer(kOther, {1, {}}, h.view, h.out);
  static_cast<void>(h.out.take());

  h.view.members.erase(kThird);
  h.tools.on_view(h.view, {{kThird, Departure::kSilent, "silent"}}, h.out);

  CHECK(h.replies<StatusReply>().size() == 1);
}

TEST_CASE("a drain of all that stay, or of one that never was, is refused with a sentence") {
  Harness h;
  h.view.members.put(Member{kThird, kThird.value, {}, {}, true});

  h.drain({kSelf, kOther});
  h.drain({ProcessorId{9}});

  const auto replies = h.replies<Done>();
  REQUIRE(replies.size() == 2);
  CHECK(replies[0].error == "that would leave no processor; to end the mesh, use phoenix down");
  CHECK(replies[1].error == "no processor p9; see phoenix status");
}

TEST_CASE("a drain is over when all are gone") {
  Harness h;
  h.drain({kOther});
  const auto first = h.replies<DrainProgress>().at(0).processors.at(0);
  CHECK_FALSE(first.gone);
  CHECK_FALSE(first.vnodes_left.has_value());  // it has not answered

  h.view.members.erase(kOther);
  h.tools.on_view(h.view, {{kOther, Departure::kLeft, ""}}, h.out);

  const auto progress = h.replies<DrainProgress>();
  REQUIRE(progress.size() == 1);
  CHECK(progress[0].processors.at(0).gone);
  CHECK(progress[0].processors.at(0).lost.empty());
}

TEST_CASE("who dies while it leaves has not left, whichever daemon is asked, and when") {
  Harness h;
  h.drain({kOther});
  static_cast<void>(h.out.take());

  h.view.members.erase(kOther);
  h.tools.on_view(h.view, {{kOther, Departure::kConnectionLost, "it was killed"}}, h.out);
  h.drain({kOther});

  const auto progress = h.replies<DrainProgress>();
  REQUIRE(progress.size() == 2);
  for (const DrainProgress& one : progress) {
    CHECK(one.processors.at(0).gone);
    CHECK(one.processors.at(0).lost == "it was killed");
  }
}

TEST_CASE("a leaver that is far away is asked again before it has answered, and is heard") {
  Harness h;
  h.drain({kOther});
  h.tools.on_timer(h.now + 200ms, {1}, h.view, h.own, h.out);
  ProcessorStatus status;
  status.id = kOther;
  h.tools.on_answer(kOther, {1, status}, h.view, h.out);  // to the first question
  static_cast<void>(h.out.take());

  h.tools.on_timer(h.now + 400ms, {1}, h.view, h.own, h.out);

  const auto progress = h.replies<DrainProgress>();
  REQUIRE(progress.size() == 1);
  CHECK(progress[0].processors.at(0).vnodes_left.has_value());
}

TEST_CASE("a drain whose tool is gone is asked about no more, and that of another tool is") {
  Harness h;
  constexpr ClientId kAnother{6};
  h.drain({kOther});
  h.tools.on_drain(h.now, kAnother, {{kThird}}, h.view, h.own, h.out);
  static_cast<void>(h.out.take());

  h.tools.on_client_down(kTool);
  for (const std::uint64_t question : {1U, 2U}) {
    h.tools.on_timer(h.now + 1s, {question}, h.view, h.own, h.out);
  }

  std::vector<ProcessorId> asked;
  std::vector<ClientId> told;
  for (auto& item : h.out.take()) {
    if (const auto* sent = std::get_if<Tools::Outbox::Send>(&item)) asked.push_back(sent->to);
    const auto* event = std::get_if<Tools::Event>(&item);
    const auto* effect = event == nullptr ? nullptr : std::get_if<Effect>(event);
    const auto* reply = effect == nullptr ? nullptr : std::get_if<Reply>(effect);
    if (reply != nullptr) told.push_back(reply->client);
  }
  CHECK(asked == std::vector{kThird});
  CHECK(told == std::vector{kAnother});
}

TEST_CASE("who died is known, however many with higher ids died before") {
  Harness h;
  h.drain({kOther});
  for (std::uint32_t id = 10; id < 1010; ++id) {
    h.tools.on_view(h.view, {{ProcessorId{id}, Departure::kSilent, ""}}, h.out);
  }
  h.replies<DrainProgress>();

  h.view.members.erase(kOther);
  h.tools.on_view(h.view, {{kOther, Departure::kSilent, "it was killed"}}, h.out);

  const auto progress = h.replies<DrainProgress>();
  REQUIRE(progress.size() == 1);
  CHECK(progress[0].processors.at(0).lost == "it was killed");
}

TEST_CASE("whoever asked for a drain hears that the processor stays, others do not") {
  Harness h;
  h.drain({kOther});
  static_cast<void>(h.out.take());

  h.tools.on_refused({kThird, "not asked for here"}, h.out);
  CHECK(h.replies<Done>().empty());
  h.tools.on_refused({kOther, "it stays"}, h.out);

  const auto replies = h.replies<Done>();
  REQUIRE(replies.size() == 1);
  CHECK(replies[0].error == "it stays");
}

TEST_SUITE_END();

}  // namespace phx::runtime::tools_test
