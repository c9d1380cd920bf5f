#include "runtime/tcp/first_words.h"

#include <doctest/doctest.h>

namespace phx::tcp::first_words_test {
namespace {

constexpr ApplicationId kOne{1};
constexpr ApplicationId kOther{2};
constexpr Instant kStart{};

using All = std::vector<ApplicationId>;

}  // namespace

TEST_SUITE_BEGIN("tcp/first_words");

TEST_CASE("who says nothing is late after ten seconds, and one more") {
  FirstWords words;
  words.expect(kStart, kOne);
  words.expect(kStart + 5s, kOther);

  CHECK(words.next_deadline() == kStart + 10s);
  CHECK(words.take_late(kStart + 10s, true).empty());
  CHECK(words.next_deadline() == kStart + 11s);
  CHECK(words.take_late(kStart + 11s, true) == All{kOne});
  CHECK(words.next_deadline() == kStart + 15s);
}

TEST_CASE("who has said who he is, or is gone, is never late") {
  FirstWords words;
  words.expect(kStart, kOne);

  words.forget(kOne);

  CHECK(!words.next_deadline());
  CHECK(words.take_late(kStart + 100s, true).empty());
}

TEST_CASE("a daemon that stood still, or does not read, gives everybody another second") {
  FirstWords words;
  words.expect(kStart, kOne);
  words.expect(kStart, kOther);

  CHECK(words.take_late(kStart + 60s, true).empty());  // it stood still since the start
  words.forget(kOther);                                // whose word had come meanwhile
  for (Duration held_up = 61s; held_up < 90s; held_up += 1s) {
    CHECK(words.take_late(kStart + held_up, false).empty());
  }
  CHECK(words.take_late(kStart + 90s, true).empty());
  CHECK(words.take_late(kStart + 91s, true) == All{kOne});
}

TEST_SUITE_END();

}  // namespace phx::tcp::first_words_test
