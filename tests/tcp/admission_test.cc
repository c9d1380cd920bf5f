#include "runtime/tcp/admission.h"

#include <doctest/doctest.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <future>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/tcp/daemons.h"
#include "tests/tcp/folder.h"

namespace phx::tcp::admission_test {

using namespace test;

namespace {

/// Ports that the system gives to nobody else, and at which a daemon can listen.
class Ports {
 public:
  explicit Ports(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      auto& port = held_.emplace_back(io_, asio::ip::tcp::v4());
      port.set_option(asio::ip::tcp::socket::reuse_address(true));
      port.bind({asio::ip::address_v4::loopback(), 0});
    }
  }
  /// Of daemons that have one list, with all of them.
  [[nodiscard]] std::vector<DriverOptions> options() const {
    std::vector<std::string> all;
    std::vector<DriverOptions> options;
    for (const auto& port : held_) {
      options.push_back(options_of());
      options.back().listen = Address{"127.0.0.1", port.local_endpoint().port()};
      all.push_back(to_string(*options.back().listen));
    }
    for (DriverOptions& one : options) one.join = all;
    return options;
  }

 private:
  asio::io_context io_;
  std::vector<asio::ip::tcp::socket> held_;
};

/// As the driver asks for it.
Newcomer newcomer_of(const DriverOptions& options) {
  Newcomer newcomer;
  newcomer.self.incarnation = 1;
  newcomer.bound = *options.listen;
  newcomer.asked = options.join;
  return newcomer;
}

std::size_t members_at(const Daemon& daemon) {
  ToolClient tool = tool_at(daemon.endpoint());
  return answer<runtime::StatusReply>(tool, runtime::StatusRequest{}).view.members.size();
}

}  // namespace

TEST_SUITE_BEGIN("tcp/admission");

TEST_CASE("of daemons with one list of members the first begins the mesh, and joins it later") {
  const Ports ports(3);
  const auto options = ports.options();
  std::optional<Daemon> first(std::in_place, options[0]);
  CHECK(first->driver->self() == ProcessorId{1});
  Daemon second(options[1]);
  Daemon third(options[2]);
  CHECK(members_at(third) == 3);

  first->driver->drain();
  first->wait();
  first.emplace(options[0]);

  CHECK(first->driver->self() == ProcessorId{4});
  CHECK(members_at(third) == 3);
}

TEST_CASE("who is to ask only itself is told so") {
  const Ports ports(1);
  const auto started = TcpDriver::start(ports.options()[0], {});
  REQUIRE(!started.ok());
  CHECK(started.error().code == ErrorCode::kBadInput);
  CHECK(started.error().what.ends_with("is this daemon itself; without --join a mesh begins"));
}

TEST_CASE("where a mesh begins may have a name, and several addresses") {
  const Ports ports(2);
  auto options = ports.options();
  for (DriverOptions& one : options) {
    one.join[0] = "localhost:" + std::to_string(options[0].listen->port);
  }
  options[0].listen->name = "0.0.0.0";
  Daemon first(options[0]);
  Daemon second(options[1]);
  CHECK(members_at(first) == 2);
}

TEST_CASE("a founder remembers where it should have joined a mesh") {
  const Ports ports(2);
  const auto options = ports.options();
  const auto born = begin_or_join(newcomer_of(options[0]), key_of(1));
  REQUIRE(born.ok());
  CHECK(born.value().self == ProcessorId{1});
  CHECK(born.value().elsewhere == std::vector{options[0].join[1]});

  // Who begins one by the same list again begins a part of the same mesh.
  const auto again = begin_or_join(newcomer_of(options[0]), key_of(1));
  const auto other = begin_or_join(newcomer_of(Ports(2).options()[0]), key_of(1));
  REQUIRE(again.ok());
  REQUIRE(other.ok());
  CHECK(again.value().snapshot.view.origin == born.value().snapshot.view.origin);
  CHECK(other.value().snapshot.view.origin != born.value().snapshot.view.origin);
}

TEST_CASE("who is being started does not keep the first from beginning the mesh") {
  const Ports ports(1);
  auto options = ports.options()[0];
  asio::io_context io;  // The system takes connections, and nobody answers.
  const asio::ip::tcp::acceptor starting(io, {asio::ip::address_v4::loopback(), 0});
  options.join.push_back(to_string(Address{"127.0.0.1", starting.local_endpoint().port()}));
  const auto born = begin_or_join(newcomer_of(options), key_of(1));
  REQUIRE(born.ok());
  CHECK(born.value().elsewhere == std::vector{options.join[1]});
}

TEST_CASE("who cannot look a name up does not take that for an absence, and begins no mesh") {
  const Ports ports(2);
  auto options = ports.options()[0];
  const std::string too_long(64, 'x');  // So no system knows it.
  options.join.insert(options.join.begin() + 1, too_long + ":7000");
  const auto born = begin_or_join(newcomer_of(options), key_of(1), Duration::zero());
  REQUIRE(!born.ok());
  CHECK(born.error().code == ErrorCode::kNotFound);
  CHECK(born.error().what.find(too_long) != std::string::npos);
}

TEST_CASE("who finds nobody, and is not the first, says where the mesh begins") {
  const Ports ports(2);
  const auto options = ports.options();
  const auto born = begin_or_join(newcomer_of(options[1]), key_of(1), Duration::zero());
  REQUIRE(!born.ok());
  CHECK(born.error().code == ErrorCode::kUnavailable);
  CHECK(born.error().what.ends_with("the first of the list, " + options[0].join[0] + ", is"));
}

TEST_CASE("who is refused for good does not ask again") {
  Daemon daemon(options_of());
  Newcomer program;
  program.self.incarnation = 1;
  program.self.embedded = true;
  program.asked = {daemon.endpoint()};
  const auto born = begin_or_join(program, key_of(1), 1h);
  REQUIRE(!born.ok());
  CHECK(born.error().code == ErrorCode::kDenied);
  CHECK(born.error().what.find("it takes no program with a daemon inside") != std::string::npos);
}

TEST_CASE("who asks a daemon that has all tools that it takes asks again") {
  constexpr int kMost = 256;
  const Folder folder;
  auto log = LogSink::open({.level = "warn", .file = folder / "log"});
  REQUIRE(log.ok());
  Daemon only(options_of(), std::move(log).value());
  std::list<ToolClient> tools;
  for (int i = 0; i < kMost; ++i) tools.push_back(tool_at(only.endpoint()));
  Newcomer newcomer;
  newcomer.self.incarnation = 1;
  newcomer.asked = {only.endpoint()};
  auto born =
      std::async(std::launch::async, [&] { return begin_or_join(newcomer, key_of(1), kWatchdog); });

  const auto is_refused = [&] {
    return text_of(folder / "log").find("too many tools are connected") != std::string::npos;
  };
  while (!is_refused()) std::this_thread::yield();
  tools.clear();

  CHECK(born.get().ok());
}

TEST_CASE("a founder that should have joined a mesh ends when there is one") {
  const Ports ports(2);
  auto options = ports.options();
  auto born = begin_or_join(newcomer_of(options[0]), key_of(1));
  REQUIRE(born.ok());
  runtime::Daemon founder(std::move(born).value(), {}, 1);
  founder.start(Instant{});
  bool has_asked = false;
  while (!has_asked) {
    const auto due = founder.next_deadline();
    REQUIRE(due);
    founder.on_deadline(*due);
    for (const runtime::Effect& effect : founder.take_effects()) {
      const auto* inquire = std::get_if<runtime::Inquire>(&effect);
      has_asked = has_asked || (inquire && inquire->endpoints == std::vector{options[0].join[1]});
    }
  }
  options[1].join = {};
  Daemon other(options[1]);
  Daemon more(options_of({options[0].join[1]}));
  ToolClient tool = tool_at(other.endpoint());
  founder.on_inquired(Instant{} + 1h,
                      answer<runtime::StatusReply>(tool, runtime::StatusRequest{}).view);

  std::int32_t code = 0;
  for (const runtime::Effect& effect : founder.take_effects()) {
    if (const auto* stop = std::get_if<runtime::Stop>(&effect)) code = stop->code;
  }
  CHECK(code == 3);
}

TEST_CASE("who would be the first does not begin a mesh where others have another key") {
  const Ports ports(2);
  auto options = ports.options();
  options[0].join = {};
  Daemon stranger(options[0]);
  options[1].join = {to_string(*options[1].listen), to_string(*options[0].listen)};
  options[1].key = key_of(2);

  const auto joined = TcpDriver::start(options[1], {});

  REQUIRE(!joined.ok());
  CHECK(joined.error().code == ErrorCode::kDenied);
}

TEST_SUITE_END();

}  // namespace phx::tcp::admission_test
