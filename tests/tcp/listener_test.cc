#include "runtime/tcp/listener.h"

#include <doctest/doctest.h>

#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <exception>
#include <filesystem>
#include <future>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/tcp/greeting.h"
#include "runtime/tcp/local_listener.h"
#include "tests/tcp/folder.h"
#include "tests/tcp/loop.h"

namespace phx::tcp::listener_test {
namespace {

using asio::ip::tcp;

/// A listener of p7 at a free port of loopback, and what it reported.
struct Door {
  explicit Door(Duration patience = kHandshakeTimeout) {
    auto opened = Listener::open(loop.io.get_executor(), {"127.0.0.1", 0});
    REQUIRE(opened.ok());
    listener = std::move(opened).value();
    listener->start(test::key_of(1), {.role = Role::kDaemon, .self = ProcessorId{7}},
                    {.on_proved =
                         [this](tcp::socket socket, const Hello& peer) {
                           sockets.push_back(std::move(socket));
                           proved.push_back(peer);
                         },
                     .on_rejected =
                         [this](const Error& error, const std::string& from) {
                           CHECK(from == "127.0.0.1");
                           rejected.push_back(error);
                         }},
                    patience);
  }
  tcp::socket knock() {
    tcp::socket socket(loop.io);
    socket.connect({asio::ip::address_v4::loopback(), listener->address().port});
    return socket;
  }
  /// Dials like a member or a tool would.
  DialOutcome dial_in(unsigned char key, const Handshake::Identity& identity) {
    std::optional<DialOutcome> outcome;
    asio::co_spawn(loop.io, dial({to_string(listener->address())}, test::key_of(key), identity),
                   [&](const std::exception_ptr&, DialOutcome done) { outcome = std::move(done); });
    REQUIRE(loop.until([&] { return outcome.has_value(); }));
    return std::move(*outcome);
  }

  test::Loop loop;
  std::unique_ptr<Listener> listener;
  std::list<tcp::socket> sockets;
  std::vector<Hello> proved;
  std::vector<Error> rejected;
};

constexpr Handshake::Identity kTool{.role = Role::kClient};
constexpr Handshake::Identity kMember{
    .role = Role::kDaemon, .self = ProcessorId{3}, .expected = {}};

/// Whether the other side has closed. REQUIRES that it does so sooner or later.
void wait_for_end(tcp::socket& socket) {
  std::error_code error;
  std::array<std::byte, 64> bytes{};
  while (!error) socket.read_some(asio::buffer(bytes), error);
}

asio::awaitable<void> greet_into(std::optional<Result<Hello>>& outcome, tcp::socket& socket,
                                 Handshake handshake, Duration patience) {
  outcome = co_await greet(socket, std::move(handshake), patience);
}

}  // namespace

TEST_SUITE_BEGIN("tcp/listener");

TEST_CASE("a tool and a member with the key get in") {
  Door door;

  const DialOutcome tool = door.dial_in(1, kTool);
  const DialOutcome member = door.dial_in(1, kMember);

  REQUIRE(door.loop.until([&] { return door.proved.size() == 2; }));
  REQUIRE(tool.reached);
  CHECK(tool.reached->peer.self == ProcessorId{7});
  REQUIRE(member.reached);
  CHECK(door.proved.front().role == Role::kClient);
  CHECK(door.proved.back().self == ProcessorId{3});
  CHECK(door.rejected.empty());
}

TEST_CASE("a wrong key is turned away, and both sides know why") {
  Door door;

  const DialOutcome outcome = door.dial_in(2, kMember);

  REQUIRE(door.loop.until([&] { return !door.rejected.empty(); }));
  CHECK(!outcome.reached);
  CHECK(!outcome.failure.refused);
  CHECK(outcome.failure.error.code == ErrorCode::kDenied);
  CHECK(outcome.failure.error.what.find("key") != std::string::npos);
  CHECK(door.rejected.front().code == ErrorCode::kDenied);
  CHECK(door.proved.empty());
}

TEST_CASE("who looks for another processor learns that it is not here") {
  Door door;

  const DialOutcome outcome =
      door.dial_in(1, {.role = Role::kDaemon, .self = ProcessorId{3}, .expected = ProcessorId{9}});

  CHECK(!outcome.reached);
  CHECK(outcome.failure.refused);
}

TEST_CASE("one of another release says more than others at whose addresses is nobody") {
  test::Loop loop;
  tcp::acceptor door(loop.io, {asio::ip::address_v4::loopback(), 0});
  tcp::acceptor closed(loop.io, {asio::ip::address_v4::loopback(), 0});
  const std::string gone = to_string(Address{"127.0.0.1", closed.local_endpoint().port()});
  closed.close();
  tcp::socket other(loop.io);
  door.async_accept(other, [&](const std::error_code&) {
    Hello hello = decode_hello(Handshake(Handshake::Side::kAcceptor, test::key_of(1),
                                         {.role = Role::kDaemon, .self = ProcessorId{7}}, Nonce{})
                                   .hello())
                      .value();
    hello.version = 99;
    asio::write(other, asio::buffer(encode(hello)));
  });
  const std::string alive = to_string(Address{"127.0.0.1", door.local_endpoint().port()});
  std::optional<DialOutcome> outcome;
  asio::co_spawn(loop.io, dial_any({gone, alive, gone}, test::key_of(1), kTool),
                 [&](const std::exception_ptr&, DialOutcome done) { outcome = std::move(done); });
  REQUIRE(loop.until([&] { return outcome.has_value(); }));

  CHECK(!outcome->reached);
  CHECK(outcome->failure.error.code == ErrorCode::kBadVersion);
}

TEST_CASE("a name that is not known says more than others at whose addresses is nobody") {
  const LookUp none = [](const Address& address) -> Result<Places> {
    return Error{ErrorCode::kNotFound, address.name + ": no such name"};
  };
  test::Loop loop;
  tcp::acceptor closed(loop.io, {asio::ip::address_v4::loopback(), 0});
  const std::string gone = to_string(Address{"127.0.0.1", closed.local_endpoint().port()});
  closed.close();
  std::optional<DialOutcome> outcome;
  asio::co_spawn(loop.io,
                 dial_any({gone, "nobody:1", gone}, test::key_of(1), kTool,
                          {.head_start = 1h, .at_once = 1}, none),
                 [&](const std::exception_ptr&, DialOutcome done) { outcome = std::move(done); });
  REQUIRE(loop.until([&] { return outcome.has_value(); }));

  CHECK(!outcome->failure.refused);
  CHECK(outcome->failure.error.code == ErrorCode::kNotFound);
}

TEST_CASE("nobody at an address is a refusal, a bad address is none") {
  test::Loop loop;
  auto opened = Listener::open(loop.io.get_executor(), {"127.0.0.1", 0});
  REQUIRE(opened.ok());
  const std::string gone = to_string(opened.value()->address());
  opened.value()->close();
  std::vector<DialOutcome> outcomes;
  for (const std::string& place : {gone, std::string("::::")}) {
    asio::co_spawn(
        loop.io, dial({place}, test::key_of(1), kTool),
        [&](const std::exception_ptr&, DialOutcome done) { outcomes.push_back(std::move(done)); });
    const std::size_t wanted = outcomes.size() + 1;
    REQUIRE(loop.until([&] { return outcomes.size() == wanted; }));
  }

  CHECK(outcomes[0].failure.refused);
  CHECK(outcomes[0].failure.error.what.find(gone) != std::string::npos);
  CHECK(!outcomes[1].failure.refused);
}

TEST_CASE("a name whose look-up hangs costs its head start only") {
  std::promise<void> end;
  const LookUp hang = [hung = end.get_future().share()](const Address&) -> Result<Places> {
    hung.wait();
    return Places{};
  };
  Door door;
  std::optional<DialOutcome> outcome;
  asio::co_spawn(door.loop.io,
                 dial_any({"hangs:1", to_string(door.listener->address())}, test::key_of(1), kTool,
                          {.head_start = 5ms}, hang),
                 [&](const std::exception_ptr&, DialOutcome done) { outcome = std::move(done); });

  REQUIRE(door.loop.until([&] { return outcome.has_value(); }));
  CHECK(outcome->reached);
  end.set_value();
}

TEST_CASE("one that hangs costs its head start only, and is left alone then") {
  Door door;
  // As with a process that is stopped: the system accepts, and nobody says a word.
  tcp::acceptor mute(door.loop.io, {asio::ip::address_v4::loopback(), 0});
  const auto address_of = [](const auto& acceptor) {
    return "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
  };
  std::optional<DialOutcome> outcome;

  asio::co_spawn(door.loop.io,
                 dial_any({address_of(mute), address_of(mute), to_string(door.listener->address())},
                          test::key_of(1), kTool, {.head_start = 5ms}),
                 [&](const std::exception_ptr&, DialOutcome done) { outcome = std::move(done); });

  REQUIRE(door.loop.until([&] { return outcome.has_value(); }));
  REQUIRE(outcome->reached);
  CHECK(outcome->reached->peer.self == ProcessorId{7});
  for (int i = 0; i < 2; ++i) {
    tcp::socket dropped = mute.accept();
    dropped.non_blocking(true);
    CHECK(door.loop.until([&] {
      std::error_code error;
      std::array<std::byte, 64> bytes{};
      while (!error) dropped.read_some(asio::buffer(bytes), error);
      return error != asio::error::would_block;
    }));
  }
}

TEST_CASE("of several that fail, one is named, and all must have refused to be gone") {
  Door door;
  const std::string place = to_string(door.listener->address());
  auto opened = Listener::open(door.loop.io.get_executor(), {"127.0.0.1", 0});
  REQUIRE(opened.ok());
  const std::string gone = to_string(opened.value()->address());
  opened.value()->close();
  std::vector<DialOutcome> outcomes;

  for (const auto& places :
       {std::vector{gone, gone}, std::vector{gone, place}, std::vector<std::string>{}}) {
    asio::co_spawn(
        door.loop.io, dial_any(places, test::key_of(2), kTool),
        [&](const std::exception_ptr&, DialOutcome done) { outcomes.push_back(std::move(done)); });
    const std::size_t wanted = outcomes.size() + 1;
    REQUIRE(door.loop.until([&] { return outcomes.size() == wanted; }));
  }

  CHECK(outcomes[0].failure.refused);
  CHECK(outcomes[0].failure.error.what.find(gone) != std::string::npos);
  CHECK(!outcomes[1].failure.refused);
  CHECK(outcomes[1].failure.error.code == ErrorCode::kDenied);
  CHECK(!outcomes[2].failure.refused);
  CHECK(outcomes[2].failure.error.code == ErrorCode::kBadInput);
}

TEST_CASE("garbage is closed without an answer") {
  Door door;
  tcp::socket socket = door.knock();
  asio::write(socket, asio::buffer("GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: " +
                                   std::string(80, 'x') + "\r\n\r\n"));

  REQUIRE(door.loop.until([&] { return !door.rejected.empty(); }));

  CHECK(door.rejected.front().code == ErrorCode::kBadInput);
  std::error_code error;
  std::array<std::byte, 1> byte{};
  CHECK(socket.read_some(asio::buffer(byte), error) == 0);
  CHECK(error);
}

TEST_CASE("who says nothing, or too little, is cut off") {
  Door door(20ms);
  tcp::socket silent = door.knock();
  tcp::socket slow = door.knock();
  asio::write(slow, asio::buffer(std::string("\x89PHX")));

  REQUIRE(door.loop.until([&] { return door.rejected.size() == 2; }));

  CHECK(door.rejected.front().code == ErrorCode::kTimeout);
  CHECK(door.rejected.back().code == ErrorCode::kTimeout);
  wait_for_end(silent);
  wait_for_end(slow);
  CHECK(door.listener->unproved() == 0);
}

TEST_CASE("a crowd that says nothing does not keep out who has the key") {
  Door door;
  std::list<tcp::socket> crowd;
  for (std::size_t i = 0; i < 3 * Listener::kUnprovedMax; ++i) {
    crowd.push_back(door.knock());
    door.loop.io.restart();
    door.loop.io.poll();
  }

  const DialOutcome outcome = door.dial_in(1, kTool);

  CHECK(outcome.reached);
  REQUIRE(door.loop.until([&] { return door.listener->unproved() <= Listener::kUnprovedMax; }));
  REQUIRE(door.loop.until([&] { return door.proved.size() == 1; }));
}

TEST_CASE("a crowd from one address does not push out who comes from another, however slow") {
  Door door;
  tcp::socket slow(door.loop.io);
  slow.open(tcp::v4());
  slow.bind({asio::ip::make_address("127.0.0.2"), 0});
  slow.connect({asio::ip::address_v4::loopback(), door.listener->address().port});
  slow.non_blocking(true);
  std::list<tcp::socket> crowd;

  for (std::size_t i = 0; i < 3 * Listener::kUnprovedMax; ++i) {
    crowd.push_back(door.knock());
    door.loop.io.restart();
    door.loop.io.poll();
  }

  std::error_code error;
  std::array<std::byte, 1> byte{};
  CHECK(slow.read_some(asio::buffer(byte), error) == 0);
  CHECK(error == asio::error::would_block);               // it has its place still
  CHECK(door.rejected.size() >= Listener::kUnprovedMax);  // all of 127.0.0.1, see Door
}

TEST_CASE("who sleeps beyond the deadline of a handshake has an open socket or a failure") {
  constexpr Duration kPatience = 20ms;
  constexpr int kStepsMax = 8;
  int opened = 0;
  for (int steps = 0; steps < kStepsMax; ++steps) {
    CAPTURE(steps);
    asio::io_context io;
    tcp::acceptor door(io, {asio::ip::address_v4::loopback(), 0});
    tcp::socket dialler(io);
    dialler.connect(door.local_endpoint());
    tcp::socket other = door.accept();
    std::optional<Result<Hello>> outcome;
    Handshake ours(Handshake::Side::kDialler, test::key_of(1), kMember, fresh_nonce());
    asio::co_spawn(io, greet_into(outcome, dialler, ours, kPatience), asio::detached);
    io.poll();  // It says hello, and waits for the answer.
    Handshake acceptor(Handshake::Side::kAcceptor, test::key_of(1),
                       {.role = Role::kDaemon, .self = ProcessorId{7}}, fresh_nonce());
    HelloBytes hello{};
    asio::read(other, asio::buffer(hello));
    REQUIRE(acceptor.on_hello(hello).ok());
    const Proof proof = acceptor.proof();
    asio::write(other, asio::buffer(acceptor.hello()));
    asio::write(other, asio::buffer(proof));
    for (int i = 0; i < steps; ++i) io.poll_one();

    std::this_thread::sleep_for(2 * kPatience);
    io.poll();

    REQUIRE(outcome);
    CHECK(outcome->ok() == dialler.is_open());
    if (outcome->ok()) ++opened;
  }
  CHECK(opened > 0);  // Who took enough steps was done before the deadline.
}

TEST_CASE("a port that is taken is said to be") {
  Door door;

  const auto second = Listener::open(door.loop.io.get_executor(), door.listener->address());

  REQUIRE(!second.ok());
  CHECK(second.error().code == ErrorCode::kBusy);
  CHECK(second.error().what.find("port taken") != std::string::npos);
}

TEST_CASE("closing the listener ends those in the handshake") {
  Door door;
  tcp::socket guest = door.knock();
  REQUIRE(door.loop.until([&] { return door.listener->unproved() == 1; }));

  door.listener->close();
  REQUIRE(door.loop.until([&] { return door.listener->unproved() == 0; }));

  wait_for_end(guest);
  CHECK(door.rejected.empty());
}

TEST_CASE("a socket that was left behind is replaced, and one where another daemon is stays") {
  const test::Folder folder;
  const std::string path = folder / "app-1.sock";
  test::Loop loop;
  const auto open = [&] {
    return LocalListener::open(
        loop.io.get_executor(), path,
        {.on_accepted = [](LocalListener::Socket) {}, .on_rejected = [](const Error&) {}});
  };
  {
    asio::local::stream_protocol::acceptor left(loop.io, path);
    left.close();
  }
  REQUIRE(std::filesystem::exists(path));

  auto first = open();
  REQUIRE(first.ok());
  const auto second = open();
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == ErrorCode::kBusy);
  CHECK(second.error().what.find("another daemon is at the socket " + path) == 0);
  asio::local::stream_protocol::socket still(loop.io);
  still.connect(path);  // Throws if it was taken away.
}

TEST_CASE("all addresses of an IPv6 network are counted as one host") {
  const auto counted = [](const char* text) { return counted_as(asio::ip::make_address(text)); };
  CHECK(counted("2001:db8:1:2::1") == counted("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  CHECK(counted("2001:db8:1:2::1") != counted("2001:db8:1:3::1"));
  CHECK(counted("10.0.0.1") != counted("10.0.0.2"));
  CHECK(counted("::ffff:10.0.0.1") == counted("10.0.0.1"));
  CHECK(counted("::ffff:10.0.0.1") != counted("::ffff:10.0.0.2"));
}

TEST_SUITE_END();

}  // namespace phx::tcp::listener_test
