#include "runtime/tcp/client_turns.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <asio/post.hpp>
#include <vector>

#include "tests/tcp/loop.h"

namespace phx::tcp::client_turns_test {
namespace {

constexpr ClientId kGreedy{1};
constexpr ClientId kModest{2};

struct Harness {
  void ask(ClientId client, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) turns.take(client, runtime::StatusRequest{});
  }
  [[nodiscard]] std::size_t served_for(ClientId client) const {
    return static_cast<std::size_t>(std::ranges::count(served, client));
  }

  test::Loop loop;
  std::vector<ClientId> served;
  std::vector<bool> paused;
  ClientTurns turns{loop.io.get_executor(),
                    {.serve = [this](ClientId client,
                                     const runtime::ClientRequest&) { served.push_back(client); },
                     .pause_reading = [this](ClientId, bool is) { paused.push_back(is); }}};
};

}  // namespace

TEST_SUITE_BEGIN("tcp/client_turns");

TEST_CASE("who asks a little is answered at once, also behind one who asks for thousands") {
  Harness h;
  h.ask(kGreedy, 5000);
  CHECK(h.served.size() == ClientTurns::kRequestsInARow);

  h.ask(kModest, 3);

  CHECK(h.served_for(kModest) == 3);
}

TEST_CASE("others have their turn between any few requests of one tool") {
  Harness h;
  std::vector<std::size_t> seen;
  h.ask(kGreedy, 100);
  for (int i = 0; i < 3; ++i) {
    asio::post(h.loop.io, [&] { seen.push_back(h.served.size()); });
    h.loop.io.run_one();
    h.loop.io.run_one();
  }

  CHECK(seen == std::vector<std::size_t>{32, 48, 64});
  REQUIRE(h.loop.until([&] { return h.served.size() == 100; }));
}

TEST_CASE("a tool with much to ask is not read until half of it is served") {
  Harness h;
  h.ask(kGreedy, 5000);
  CHECK(h.paused == std::vector<bool>{true});

  REQUIRE(h.loop.until([&] { return h.paused.size() == 2; }));
  CHECK_FALSE(h.paused.back());
  CHECK(h.served.size() >= 5000 - ClientTurns::kWaitingMax / 2);
  REQUIRE(h.loop.until([&] { return h.served.size() == 5000; }));
}

TEST_CASE("what a tool has asked that is gone is not served") {
  Harness h;
  h.ask(kGreedy, 100);
  h.turns.drop(kGreedy);
  h.ask(kModest, 1);

  REQUIRE(h.loop.until([&] { return h.served_for(kModest) == 1; }));
  CHECK(h.served_for(kGreedy) == ClientTurns::kRequestsInARow);
}

TEST_SUITE_END();

}  // namespace phx::tcp::client_turns_test
