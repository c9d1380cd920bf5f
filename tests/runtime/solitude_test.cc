#include "runtime/membership/solitude.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace phx::runtime::solitude_test {
namespace {

constexpr ProcessorId kSelf{2};

std::string place_of(std::uint32_t id) {
  return "10.0.0." + std::to_string(id) + ":1";
}

View view_of(const std::vector<std::uint32_t>& ids, std::uint32_t next = 9) {
  View view;
  view.number = 7;
  view.next_processor = next;
  for (const std::uint32_t id : ids) {
    Member member;
    member.id = ProcessorId{id};
    member.endpoints = {place_of(id)};
    view.members.put(member);
  }
  return view;
}

/// Of a mesh that this processor, or another one with its id, has begun; with all of the same
/// incarnation.
View lone_view(std::uint64_t incarnation, const std::vector<std::uint32_t>& others = {}) {
  View view = view_of(others, others.empty() ? kSelf.value + 1 : others.back() + 1);
  std::vector<Member> all;
  for (const auto& [id, member] : view.members) all.push_back(member);
  Member self;
  self.id = kSelf;
  all.push_back(self);
  for (Member& member : all) {
    member.incarnation = incarnation;
    view.members.put(member);
  }
  return view;
}

std::vector<ViewChange::Gone> gone(const std::vector<std::uint32_t>& ids,
                                   Departure why = Departure::kSilent) {
  std::vector<ViewChange::Gone> all;
  for (const std::uint32_t id : ids) all.push_back({ProcessorId{id}, why, {}});
  return all;
}

struct Harness {
  explicit Harness(Duration alone_max = Duration{}) : solitude(kSelf, alone_max, {}, {}) {
    sees(view_of({1, 2, 3}));
  }
  /// A founder, of incarnation 3.
  explicit Harness(std::vector<std::string> elsewhere)
      : solitude(kSelf, 60s, {}, std::move(elsewhere)) {
    sees(lone_view(3));
  }
  /// Has joined, and was told where others may be.
  Harness(const View& joined, std::vector<std::string> lost)
      : solitude(kSelf, 60s, std::move(lost), {}) {
    sees(joined);
  }
  /// The others are declared dead here, one after the other.
  void becomes_alone(Departure how = Departure::kSilent) {
    sees(view_of({2, 3}), gone({1}, how));
    sees(view_of({2}), gone({3}, how));
  }
  void sees(const View& view, const std::vector<ViewChange::Gone>& departed = {}) {
    own = view;
    solitude.on_view(now, view, departed, out);
    look();
  }
  void look() {
    for (auto& item : out.take()) {
      if (auto* arm = std::get_if<Solitude::Outbox::Arm>(&item)) at = arm->at;
      auto* event = std::get_if<Solitude::Event>(&item);
      if (event == nullptr) continue;
      if (auto* ask = std::get_if<Inquire>(event)) asked.push_back(ask->endpoints.front());
      if (auto* end = std::get_if<Solitude::GivenUp>(event)) why = end->why;
    }
  }
  void wait(bool is_idle = true) {
    REQUIRE(at);
    now = *at;
    solitude.on_timer(now, is_idle, out);
    look();
  }
  void answer(const View& view, bool is_idle = true) {
    solitude.on_answer(view, own, is_idle, out);
    look();
  }

  Instant now{};
  Solitude solitude;
  View own;
  Solitude::Outbox out;
  std::optional<Instant> at;
  std::vector<std::string> asked;
  std::string why;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/solitude");

TEST_CASE("each part of a mesh knows members of the others, also where ids follow the sites") {
  constexpr std::uint32_t kMembers = 36;
  for (const std::uint32_t sites : {2U, 3U, 4U}) {
    CAPTURE(sites);
    std::vector<std::uint32_t> all, here, elsewhere;
    for (std::uint32_t id = 1; id <= kMembers; ++id) {
      all.push_back(id);
      (id % sites == kSelf.value % sites ? here : elsewhere).push_back(id);
    }
    Harness h(view_of(all, kMembers + 1), {});
    // Of this part the processor that looks is the first one.
    std::erase_if(here, [](std::uint32_t id) { return id < kSelf.value; });

    h.sees(view_of(here, kMembers + 1), gone(elsewhere));

    CHECK(h.at);
  }
}

TEST_CASE("who has declared all others dead asks them in turn, each round half as often") {
  Harness h;
  h.becomes_alone();
  for (int i = 0; i < 5; ++i) h.wait();

  CHECK(h.asked == std::vector{place_of(3), place_of(1), place_of(3), place_of(1), place_of(3)});
  CHECK(h.now == Instant{} + (5s + 5s + 5s + 10s + 10s));
}

TEST_CASE("a founder asks at all addresses in turn, however long it is alone") {
  Harness h({"lab:7000", "lab:7001"});
  for (int i = 0; i < 50; ++i) h.wait();

  CHECK(h.asked.size() == 50);
  CHECK(h.asked[0] == "lab:7000");
  CHECK(h.asked[1] == "lab:7001");
  CHECK(h.asked[2] == "lab:7000");
  CHECK(h.now == Instant{} + 500s);
  CHECK(h.why.empty());
}

TEST_CASE("a founder ends when there is a mesh after all, unless a job runs or somebody has come") {
  // Of one or several, also one whose members are younger.
  for (const auto& mesh : {view_of({1, 4}), view_of({2, 3}), view_of({3}, 4), view_of({2}, 259)}) {
    for (const bool somebody_joins : {false, true}) {
      Harness h({"lab:7000"});
      if (somebody_joins) h.sees(lone_view(3, {5}));
      View other = mesh;
      other.origin = 77;
      h.answer(other, /*is_idle=*/false);
      CHECK(h.why.empty());
      h.answer(other);
      CHECK(h.why.empty() == somebody_joins);
    }
  }
}

TEST_CASE("of two founders one stays") {
  for (const std::uint64_t theirs : {1U, 5U}) {
    Harness h({"lab:7000"});
    h.answer(h.own);  // It has asked itself.
    CHECK(h.why.empty());
    h.answer(lone_view(theirs));
    CHECK(h.why.empty() == (theirs > 3));
  }
}

TEST_CASE("processors of meshes that began apart are not taken for this one's") {
  Harness h;
  h.sees(view_of({1, 2, 3}));
  h.sees(view_of({2, 3}), gone({1}));
  View other = lone_view(7, {3, 4, 5});
  h.answer(other);
  CHECK_FALSE(h.why.empty());
}

TEST_CASE("it ends when the mesh goes on without it") {
  Harness h;
  h.becomes_alone();
  h.answer(view_of({1, 3, 8}));

  CHECK(h.why ==
        "the mesh goes on without this processor, which could not be reached: p1 and 2 more in "
        "view 7");
}

TEST_CASE("a view that has it, or nobody, is no reason to end") {
  Harness h;
  h.becomes_alone();
  h.answer(view_of({1, 2, 3}));
  h.answer(view_of({}));
  CHECK(h.why.empty());
}

TEST_CASE("of two that are alone the older one stays") {
  Harness h;
  h.becomes_alone();
  h.answer(view_of({3}));
  CHECK(h.why.empty());

  h.answer(view_of({1}));
  CHECK_FALSE(h.why.empty());
}

TEST_CASE("of two parts of a mesh the smaller one ends, and of equal ones the younger") {
  struct Case {
    std::vector<std::uint32_t> ours;
    std::vector<std::uint32_t> theirs;
    bool ends;
  };
  for (const auto& [ours, theirs, ends] : {Case{{2, 5}, {1, 3, 4}, true},
                                           {{2, 5, 6}, {1, 3}, false},
                                           {{2, 5}, {1, 3}, true},
                                           {{2, 5}, {3, 4}, false},
                                           {{2}, {3, 4}, true}}) {
    std::vector<std::uint32_t> all = ours;
    all.insert(all.end(), theirs.begin(), theirs.end());
    Harness h;
    h.sees(view_of(all));
    h.sees(view_of(ours), gone(theirs));
    h.wait();
    CHECK(h.asked == std::vector{place_of(theirs.front())});

    h.answer(view_of(theirs), /*is_idle=*/false);
    CHECK(h.why.empty());
    h.answer(view_of(theirs));

    CHECK(h.why.empty() == !ends);
  }
}

TEST_CASE("a view that still counts some of this part is no reason to end yet") {
  Harness h;
  h.sees(view_of({1, 2, 3}));
  h.sees(view_of({2, 3}), gone({1}));
  h.answer(view_of({1, 3}));
  CHECK(h.why.empty());
}

TEST_CASE("whatever the ids of the smaller part it knows some of the larger one") {
  for (const std::uint32_t low : {2U, 50U, 98U}) {
    CAPTURE(low);
    Harness h;
    std::vector<std::uint32_t> all;
    for (std::uint32_t id = 2; id < 200; ++id) all.push_back(id);
    h.sees(view_of(all, 200));
    // p2 and 90 others in sequence are cut off from all others.
    std::vector<std::uint32_t> ours = {2};
    std::vector<std::uint32_t> theirs;
    for (const std::uint32_t id : all) {
      const bool is_ours = id >= low && id < low + 91;
      if (id != 2) (is_ours ? ours : theirs).push_back(id);
    }
    h.sees(view_of(ours, 200), gone(theirs));
    h.wait();

    REQUIRE(h.asked.size() == 1);
    h.answer(view_of(theirs, 200));
    CHECK_FALSE(h.why.empty());
  }
}

TEST_CASE("only the coordinator of a part asks, and the next one when that is gone") {
  Harness h;
  h.sees(view_of({1, 2, 3, 4, 5}));
  h.sees(view_of({1, 2}), gone({3, 4, 5}));
  CHECK_FALSE(h.at);
  h.answer(view_of({3, 4, 5}));
  CHECK(h.why.empty());

  h.sees(view_of({2}), gone({1}, Departure::kSilent));
  h.wait();
  h.answer(view_of({3, 4, 5}));

  CHECK(h.why ==
        "the mesh goes on without this processor, which could not be reached: p3 and 2 more in "
        "view 7");
}

TEST_CASE("a part of several says that all of it ends") {
  Harness h;
  h.sees(view_of({2, 3, 4, 5, 6}));
  h.sees(view_of({2, 3}), gone({4, 5, 6}));
  h.answer(view_of({4, 5, 6}));

  CHECK(h.why ==
        "the mesh goes on without this part of 2 processors, which could not be reached: p4 and 2 "
        "more in view 7");
}

TEST_CASE("a job that runs here keeps it") {
  Harness h(1s);
  h.becomes_alone();
  h.answer(view_of({1, 3}), /*is_idle=*/false);
  h.wait(/*is_idle=*/false);
  CHECK(h.why.empty());

  h.wait();
  CHECK(h.why == "alone for 10 s, and no job runs here: none of the others has answered");
}

TEST_CASE("who was left alone by those who left, or never had others, waits for newcomers") {
  Harness h(1s);
  h.becomes_alone(Departure::kLeft);
  CHECK_FALSE(h.at);

  h.answer(view_of({1, 3}));
  CHECK(h.why.empty());
}

TEST_CASE("a part that somebody joins goes on asking, and the smaller one ends") {
  for (const bool is_smaller : {true, false}) {
    Harness h;
    h.sees(view_of({1, 2, 3, 4, 5}));
    h.sees(view_of({2}), gone({1, 3, 4, 5}));
    h.sees(view_of({2, 9}, 10));
    h.wait();
    CHECK(h.asked.size() == 1);

    h.answer(is_smaller ? view_of({3, 4, 5}) : view_of({3}));
    CHECK(h.why.empty() != is_smaller);
  }
}

TEST_CASE("who has joined a part knows where the others may be, and asks when it has to") {
  Harness h(view_of({1, 2}), {place_of(3), place_of(4)});
  CHECK(h.solitude.lost() == std::vector{place_of(3), place_of(4)});
  CHECK_FALSE(h.at);
  h.sees(view_of({2}), gone({1}));
  for (int i = 0; i < 3; ++i) h.wait();
  CHECK(h.asked == std::vector{place_of(1), place_of(3), place_of(4)});

  // The other part gives the same ids.
  View other = view_of({2, 3}, 4);
  Member namesake = other.members.at(kSelf);
  namesake.incarnation = 8;
  other.members.put(namesake);
  h.answer(other);
  CHECK_FALSE(h.why.empty());
}

TEST_CASE("of parts as large as each other one stays, also if all of both have come meanwhile") {
  for (const std::uint64_t theirs : {1U, 5U}) {
    Harness h(lone_view(3, {8}), {place_of(3)});
    h.sees(lone_view(3), gone({8}));
    h.answer(lone_view(theirs, {9}));
    CHECK_FALSE(h.why.empty());

    Harness equal(lone_view(3, {8, 9}), {place_of(3)});
    equal.sees(lone_view(3, {8}), gone({9}));
    equal.answer(lone_view(theirs, {9}));
    CHECK(equal.why.empty() == (theirs > 3));
  }
}

TEST_CASE("a founder's mesh is a part of the one that it should have joined, once somebody comes") {
  Harness h({"lab:7000"});
  h.sees(lone_view(3, {5}));
  CHECK(h.solitude.lost() == std::vector<std::string>{"lab:7000"});
  h.wait();
  CHECK(h.asked == std::vector<std::string>{"lab:7000"});

  h.answer(view_of({3}));
  CHECK(h.why.empty());
  h.answer(view_of({3, 4, 6}));
  CHECK_FALSE(h.why.empty());
}

TEST_CASE("of a part that is one processor and a founder that is alone the founder ends") {
  Harness h;
  h.becomes_alone();
  h.answer(view_of({1}, 2));
  CHECK(h.why.empty());
}

TEST_CASE("a mesh of another origin is none of its parts, whoever it has taken in") {
  Harness h;
  h.becomes_alone();
  View other = view_of({3, 5, 6, 7});
  other.origin = 77;
  h.answer(other);
  CHECK(h.why.empty());
}

TEST_CASE("an address at which there is a member again is asked no more") {
  Harness h;
  h.becomes_alone();
  View back = view_of({2});
  Member returned;
  returned.id = ProcessorId{9};
  returned.endpoints = {place_of(3)};
  back.members.put(returned);
  h.sees(back);
  CHECK(h.solitude.lost() == std::vector{place_of(1)});

  h.wait();
  h.answer(h.own);  // By another name for it.
  CHECK(h.solitude.lost().empty());
  h.wait();
  CHECK(h.asked.size() == 1);
}

TEST_SUITE_END();

}  // namespace phx::runtime::solitude_test
