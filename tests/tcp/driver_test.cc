#include "runtime/tcp/tcp_driver.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/tcp/address.h"
#include "runtime/tcp/client.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/tcp/embedded.h"
#include "runtime/tcp/rings.h"
#include "runtime/wire/codec.h"
#include "tests/support/received_descriptors.h"
#include "tests/tcp/daemons.h"
#include "tests/tcp/folder.h"
#include "tests/tcp/loop.h"

namespace phx::tcp::driver_test {

using namespace test;

namespace {

/// Whether the other side closes the connection; the time limit only ends a hanging test.
bool is_closed_by_peer(asio::ip::tcp::socket& socket) {
  std::array<std::byte, 256> bytes{};
  std::error_code error;
  while (!error) {
    pollfd wanted{.fd = socket.native_handle(), .events = POLLIN, .revents = 0};
    if (::poll(&wanted, 1, 30000) != 1) return false;
    socket.read_some(asio::buffer(bytes), error);
  }
  return true;
}

/// One in which each pair was measured for itself: it takes many bytes.
overlay::KnownNetwork network_of(std::uint32_t processors) {
  overlay::KnownNetwork network;
  for (std::uint32_t from = 1; from <= processors; ++from) {
    for (std::uint32_t to = 1; to <= processors; ++to) {
      if (from != to) network.pairs[{ProcessorId{from}, ProcessorId{to}}] = {1ms, 1000 * from + to};
    }
  }
  return network;
}

/// An application that has attached, and the descriptors that came with the answer.
struct Attached {
  Attached(asio::io_context& io, const std::string& path) : socket(io) {
    socket.connect(asio::local::stream_protocol::endpoint(path));
    wire::Encoder encoder;
    const auto attach = encoder.encode(runtime::ToDaemon(runtime::AppAttach{JobId{77}, 1, 1}));
    asio::write(socket, asio::buffer(attach.head));
    offered = support::received_descriptors(socket.native_handle());
  }
  asio::local::stream_protocol::socket socket;
  std::vector<Descriptor> offered;
};

}  // namespace

TEST_SUITE_BEGIN("tcp/driver");

TEST_CASE("processors join through any member, and all see the same view") {
  Daemon first(options_of());
  Daemon second(options_of({first.endpoint()}));
  Daemon third(options_of({"127.0.0.1:1", second.endpoint()}));

  ToolClient tool = tool_at(third.endpoint());
  const auto status = answer<runtime::StatusReply>(tool, runtime::StatusRequest{});

  CHECK(tool.daemon() == third.driver->self());
  CHECK(status.view.members.size() == 3);
  CHECK(status.silent.empty());
  REQUIRE(status.processors.size() == 3);
  for (const auto& processor : status.processors) CHECK(processor.view == status.view.number);
}

TEST_CASE("a newcomer that cannot make its socket ends before others count on it") {
  const Folder folder;
  DriverOptions options = options_of();
  options.socket_path = folder / "app.sock";
  Daemon first(options);
  options.join = {first.endpoint()};
  DriverOptions nowhere = options_of({first.endpoint()});
  nowhere.socket_path = folder / "none/app.sock";

  const auto taken = TcpDriver::start(options, LogSink());
  const auto missing = TcpDriver::start(nowhere, LogSink());

  REQUIRE(!taken.ok());
  CHECK(taken.error().what.find("another daemon is at the socket") != std::string::npos);
  REQUIRE(!missing.ok());
  CHECK(missing.error().what.find("cannot be made") != std::string::npos);
  ToolClient tool = tool_at(first.endpoint());
  const auto status = answer<runtime::StatusReply>(tool, runtime::StatusRequest{});
  CHECK(status.view.number == 1);
  CHECK(status.view.members.size() == 1);
}

TEST_CASE("a drained processor leaves, and its run() ends well") {
  Daemon first(options_of());
  Daemon second(options_of({first.endpoint()}));

  second.driver->drain();
  second.wait();

  CHECK(second.stop.code == 0);
  ToolClient tool = tool_at(first.endpoint());
  CHECK(answer<runtime::StatusReply>(tool, runtime::StatusRequest{}).view.members.size() == 1);
}

TEST_CASE("taking the mesh down ends all daemons") {
  Daemon first(options_of());
  Daemon second(options_of({first.endpoint()}));
  ToolClient tool = tool_at(first.endpoint());

  CHECK(answer<runtime::Done>(tool, runtime::DownRequest{}).error.empty());
  first.wait();
  second.wait();

  CHECK(first.stop.code == 0);
  CHECK(second.stop.code == 0);
}

TEST_CASE("a processor that dies is noticed by the others") {
  Daemon first(options_of());
  std::optional<Daemon> second;
  second.emplace(options_of({first.endpoint()}));
  const ProcessorId gone = second->driver->self();
  second.reset();  // halts: nobody is told

  ToolClient tool = tool_at(first.endpoint());
  bool is_member = true;
  while (is_member) {
    const auto status = answer<runtime::StatusReply>(tool, runtime::StatusRequest{});
    is_member = status.view.members.contains(gone);
  }

  CHECK(!is_member);
}

TEST_CASE("a wrong key does not join, and says so") {
  Daemon first(options_of());
  DriverOptions options = options_of({first.endpoint()});
  options.key = test::key_of(2);

  const auto joined = TcpDriver::start(options, {});

  REQUIRE(!joined.ok());
  CHECK(joined.error().code == ErrorCode::kDenied);
  CHECK(joined.error().what.find("key") != std::string::npos);
}

TEST_CASE("a port that is taken is reported before anything else happens") {
  Daemon first(options_of());
  DriverOptions options = options_of({first.endpoint()});
  options.listen = parse_address(first.endpoint()).value();

  const auto second = TcpDriver::start(options, {});

  REQUIRE(!second.ok());
  CHECK(second.error().code == ErrorCode::kBusy);
}

TEST_CASE("garbage and silent connections leave a mesh and its tools alone") {
  Daemon first(options_of());
  Daemon second(options_of({first.endpoint()}));
  asio::io_context io;
  const std::uint16_t port = parse_address(first.endpoint()).value().port;
  std::list<asio::ip::tcp::socket> silent;
  for (int i = 0; i < 100; ++i) {
    silent.emplace_back(io).connect({asio::ip::address_v4::loopback(), port});
  }
  asio::ip::tcp::socket garbage(io);
  garbage.connect({asio::ip::address_v4::loopback(), port});
  asio::write(garbage, asio::buffer(std::string(1000, 'x')));

  ToolClient tool = tool_at(first.endpoint());
  const auto status = answer<runtime::StatusReply>(tool, runtime::StatusRequest{});

  CHECK(status.processors.size() == 2);
  CHECK(is_closed_by_peer(garbage));
}

TEST_CASE("one tool more than a daemon takes is told so") {
  constexpr int kMost = 256;
  Daemon only(options_of());
  std::list<ToolClient> tools;
  for (int i = 0; i < kMost; ++i) tools.push_back(tool_at(only.endpoint()));

  ToolClient more = tool_at(only.endpoint());
  const auto refusal = answer<runtime::Done>(more, runtime::StatusRequest{});

  CHECK(refusal.error == "p1 has 256 tools connected, as many as it takes");
  static_cast<void>(answer<runtime::StatusReply>(tools.back(), runtime::StatusRequest{}));
}

TEST_CASE("an application of a job gets its socket, attaches, and its output comes back") {
  const test::Folder folder;
  DriverOptions options = options_of();
  options.socket_path = folder / "app.sock";
  Daemon first(options);
  ToolClient tool = tool_at(first.endpoint());
  runtime::JobSpec spec;
  spec.vnodes = 4;
  spec.command = {"/bin/sh", "-c", "test -S $PHOENIX_SOCKET && echo job=$PHOENIX_JOB; exit 5"};
  const auto started = answer<runtime::RunStarted>(tool, runtime::RunRequest{spec});

  std::string output;
  std::optional<runtime::RunEnded> ended;
  while (!ended) {
    auto reply = tool.receive(kWatchdog);
    REQUIRE(reply.ok());
    if (auto* piece = std::get_if<runtime::RunOutput>(&reply.value())) {
      output += piece->output.bytes.text();
    }
    if (auto* end = std::get_if<runtime::RunEnded>(&reply.value())) ended = *end;
  }

  CHECK(output == "job=" + std::to_string(started.job.value) + "\n");
  CHECK(ended->code == 5);
}

TEST_CASE("a process whose tool does not read waits for it, and then all of its output comes") {
  const test::Folder folder;
  DriverOptions options = options_of();
  options.socket_path = folder / "app.sock";
  Daemon first(options);
  ToolClient lazy = tool_at(first.endpoint());
  ToolClient other = tool_at(first.endpoint());
  constexpr std::size_t kBytes = 100'000'000;
  runtime::JobSpec spec;
  spec.vnodes = 1;
  spec.command = {"/bin/sh", "-c", "head -c " + std::to_string(kBytes) + " /dev/zero"};
  static_cast<void>(answer<runtime::RunStarted>(lazy, runtime::RunRequest{spec}));
  const auto waits = [&] {
    const auto status = answer<runtime::StatusReply>(other, runtime::StatusRequest{});
    const auto& jobs = status.processors.at(0).jobs;
    return !jobs.empty() && jobs[0].waiting.find("the tool that follows j1, to read its") == 0;
  };
  while (!waits()) std::this_thread::yield();

  std::size_t bytes = 0;
  std::optional<runtime::RunEnded> ended;
  while (!ended) {
    auto reply = lazy.receive(kWatchdog);
    REQUIRE(reply.ok());
    const auto* piece = std::get_if<runtime::RunOutput>(&reply.value());
    if (piece != nullptr) bytes += piece->output.bytes.size();
    if (auto* end = std::get_if<runtime::RunEnded>(&reply.value())) ended = *end;
  }

  CHECK(bytes == kBytes);
  CHECK(ended->reason.empty());
}

TEST_CASE("what a tool has asked that was let go is not done") {
  constexpr int kInARow = 16;
  const test::Folder folder;
  DriverOptions options = options_of();
  options.socket_path = folder / "app.sock";
  Daemon first(options);
  runtime::JobSpec spec;
  spec.vnodes = 1;
  spec.command = {"/bin/sh", "-c", "exec sleep 1000"};
  std::vector<std::byte> requests;
  const auto ask = [&requests](const runtime::ClientRequest& request) {
    const std::vector<std::byte> bytes = bytes_of(request);
    requests.insert(requests.end(), bytes.begin(), bytes.end());
  };
  for (int i = 0; i < kInARow; ++i) ask(runtime::StatusRequest{});
  ask(runtime::FollowRequest{JobId{77}, {}});  // That is none, so the tool is refused, and let go.
  ask(runtime::RunRequest{spec});
  asio::io_context io;
  asio::ip::tcp::socket refused = socket_of_tool(io, first.endpoint());
  asio::write(refused, asio::buffer(requests));
  CHECK(is_closed_by_peer(refused));

  ToolClient other = tool_at(first.endpoint());
  const auto status = answer<runtime::StatusReply>(other, runtime::StatusRequest{});
  CHECK(status.processors.at(0).jobs.empty());
}

TEST_CASE("who listens everywhere is said to be where it does") {
  DriverOptions options = options_of();
  const auto is_v6_place = [](const std::string& at) { return at.starts_with('['); };
  options.listen = Address{"0.0.0.0", 0};
  const Daemon four(options);
  CHECK(std::ranges::none_of(four.driver->endpoints(), is_v6_place));

  options.listen = Address{"::", 0};
  const auto both = TcpDriver::start(options, {});
  if (!both.ok()) return;  // This machine has no IPv6.
  const std::vector<std::string> interfaces = interface_addresses();
  CHECK(std::ranges::count_if(both.value()->endpoints(), is_v6_place) ==
        std::ranges::count_if(interfaces, is_v6));
  const std::uint16_t port = parse_address(both.value()->endpoints().front()).value().port;
  asio::io_context io;
  std::error_code failure;
  asio::ip::tcp::socket socket(io);
  socket.connect({asio::ip::address_v4::loopback(), port}, failure);
  CHECK(!failure);
}

TEST_CASE("limits: a tool that asks and does not read is dropped with a line, and its job ends") {
  const test::Folder folder;
  auto log = LogSink::open({.level = "warn", .file = folder / "log"});
  REQUIRE(log.ok());
  DriverOptions options = options_of();
  options.socket_path = folder / "app.sock";
  Daemon first(options, std::move(log).value());
  asio::io_context io;
  asio::ip::tcp::socket lazy = socket_of_tool(io, first.endpoint());
  ToolClient other = tool_at(first.endpoint());
  runtime::JobSpec spec;
  spec.vnodes = 1;
  spec.name = std::string(std::size_t{100} << 10U, 'n');  // part of each answer
  spec.command = {"/bin/sh", "-c", "exec sleep 1000"};
  asio::write(lazy, asio::buffer(bytes_of(runtime::RunRequest{spec})));
  JobId job;
  const auto runs = [&] {
    const auto status = answer<runtime::StatusReply>(other, runtime::StatusRequest{});
    const auto& jobs = status.processors.at(0).jobs;
    if (!jobs.empty()) job = jobs[0].job;
    return !jobs.empty();
  };
  while (!runs()) std::this_thread::yield();

  const std::vector<std::byte> question = bytes_of(runtime::StatusRequest{});
  std::vector<std::byte> questions;
  for (int i = 0; i < 1000; ++i) {
    questions.insert(questions.end(), question.begin(), question.end());
  }
  asio::write(lazy, asio::buffer(questions));
  while (runs()) std::this_thread::yield();

  const auto end = answer<runtime::RunEnded>(other, runtime::FollowRequest{job, {}});
  CHECK(end.code == 129);
  CHECK(end.reason ==
        "the tool that followed it was dropped: it did not read what it was sent: 64 MiB waited");
  CHECK(text_of(folder / "log")
            .find("tool-dropped why=\"it did not read what it was sent: 64 MiB waited") !=
        std::string::npos);
}

namespace {

/// Waits for the next message of the daemon inside.
runtime::ToApplication next_of(EmbeddedDaemon& embedded) {
  std::vector<runtime::ToApplication> received;
  while (received.empty()) {
    embedded.wait(kWatchdog);
    REQUIRE(embedded.receive(received));
  }
  return received.front();
}

std::unique_ptr<EmbeddedDaemon> daemon_inside() {
  auto embedded = EmbeddedDaemon::start(EmbeddedDaemon::alone(), {.level = "off", .file = {}});
  REQUIRE(embedded.ok());
  return std::move(embedded).value();
}

/// An application has attached, and has been told all that there is to tell.
std::unique_ptr<EmbeddedDaemon> silent_daemon_inside() {
  auto embedded = daemon_inside();
  std::vector<runtime::ToDaemon> attach{runtime::AppAttach{.job = {}, .vnodes = 1, .process = 1}};
  embedded->send(attach);
  static_cast<void>(next_of(*embedded));
  std::vector<runtime::ToApplication> granted;
  while (embedded->wait(100ms)) REQUIRE(embedded->receive(granted));
  return embedded;
}

}  // namespace

TEST_CASE("an embedded daemon answers the application that drives it") {
  const auto embedded = daemon_inside();
  CHECK(embedded->endpoints().empty());

  std::vector<runtime::ToDaemon> attach{runtime::AppAttach{.job = {}, .vnodes = 8, .process = 1}};
  embedded->send(attach);

  const auto message = next_of(*embedded);
  const auto* attached = std::get_if<runtime::AppAttached>(&message);
  REQUIRE(attached != nullptr);
  CHECK(attached->refusal.empty());
  CHECK(attached->vnodes == 8);
}

TEST_CASE("what waits at an embedded daemon is woken by another thread, and by its time") {
  const auto embedded = silent_daemon_inside();
  CHECK_FALSE(embedded->wait(1ms));

  std::thread other([&] { embedded->wake(); });
  CHECK_FALSE(embedded->wait(kForever));
  other.join();
  embedded->wake();
  CHECK_FALSE(embedded->wait(kForever));  // also if nobody waited yet
}

TEST_CASE("a thread that waits is woken although others look at the same daemon meanwhile") {
  const auto embedded = silent_daemon_inside();

  for (int round = 0; round < 500; ++round) {  // the helper looks, too
    std::atomic<bool> is_over = false;
    bool is_late = false;
    std::thread waiter([&] {
      const auto begin = std::chrono::steady_clock::now();
      static_cast<void>(embedded->wait(30s));
      is_late = std::chrono::steady_clock::now() - begin >= 30s;
      is_over = true;
    });
    std::vector<runtime::ToApplication> none;
    for (int i = 0; i < round % 8; ++i) std::this_thread::yield();
    embedded->wake();
    while (!is_over) static_cast<void>(embedded->receive(none));
    waiter.join();
    REQUIRE_FALSE(is_late);
  }
}

TEST_CASE("a daemon inside leaves while a thread of the program waits, which ends the wait") {
  for (const Duration patience : {100ms, 0ms}) {
    for (int round = 0; round < 5; ++round) {
      const auto embedded = silent_daemon_inside();
      std::thread waiter([&] { static_cast<void>(embedded->wait(kForever)); });
      std::this_thread::sleep_for(round * 1ms);  // the helper has come to sleep, or not
      embedded->leave(patience);
      waiter.join();
    }
  }
}

TEST_CASE("while the application computes, somebody else drives the daemon inside it") {
  DriverOptions options = options_of();
  options.config.embedded = true;
  auto embedded = EmbeddedDaemon::start(options, {.level = "off", .file = {}});
  REQUIRE(embedded.ok());
  std::vector<runtime::ToDaemon> attach{runtime::AppAttach{.job = {}, .vnodes = 1, .process = 1}};
  embedded.value()->send(attach);
  static_cast<void>(next_of(*embedded.value()));

  for (int round = 0; round < 3; ++round) {  // nothing is called there meanwhile
    ToolClient tool = tool_at(embedded.value()->endpoints().front());
    CHECK(answer<runtime::StatusReply>(tool, runtime::StatusRequest{}).view.members.size() == 1);
    embedded.value()->wait(20ms);
  }
}

TEST_CASE("applications are offered rings with the first answer, unless the daemon shall not") {
  for (const bool offers : {true, false}) {
    CAPTURE(offers);
    const test::Folder folder;
    DriverOptions options = options_of();
    options.socket_path = folder / "socket";
    options.offers_rings = offers;
    Daemon daemon(options);
    asio::io_context io;

    const Attached application(io, options.socket_path);

    CHECK(application.offered.size() == (offers ? Rings::kOffered : 0));
  }
}

TEST_CASE("who has had rings and is gone leaves no descriptor") {
  constexpr std::size_t kMany = 80;
  const test::Folder folder;
  DriverOptions options = options_of();
  options.socket_path = folder / "socket";
  Daemon daemon(options);
  ToolClient tool = tool_at(daemon.endpoint());
  asio::io_context io;
  asio::local::stream_protocol::socket first(io);  // Asio's own come with it
  first.open();
  // This process has those of the daemon, too.
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = descriptors();

  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<Attached>> all;
    for (std::size_t i = 0; i < kMany; ++i) {
      all.push_back(std::make_unique<Attached>(io, options.socket_path));
    }
    all.clear();
    // The daemon sees each end with its next turns.
    while (descriptors() > before) {
      REQUIRE(answer<runtime::StatusReply>(tool, runtime::StatusRequest{}).view.members.size() ==
              1);
    }
  }
}

TEST_CASE("one application more than a daemon takes is told so") {
  const test::Folder folder;
  DriverOptions options = options_of();
  options.socket_path = folder / "socket";
  options.applications_max = 0;
  Daemon daemon(options);
  asio::io_context io;
  asio::local::stream_protocol::socket more(io);
  more.connect(asio::local::stream_protocol::endpoint(options.socket_path));

  std::string said;
  std::error_code end;
  asio::read(more, asio::dynamic_buffer(said), end);

  CHECK(end == asio::error::eof);
  CHECK(said.find("too many applications are attached") != std::string::npos);
}

TEST_CASE("limits: an application that asks and does not read is closed, and its daemon goes on") {
  const test::Folder folder;
  auto log = LogSink::open({.level = "warn", .file = folder / "log"});
  REQUIRE(log.ok());
  DriverOptions options = options_of();
  options.socket_path = folder / "socket";
  Daemon daemon(options, std::move(log).value());
  daemon.driver->know(network_of(100));
  asio::io_context io;
  asio::local::stream_protocol::socket lazy(io);
  lazy.connect(asio::local::stream_protocol::endpoint(options.socket_path));

  wire::Encoder encoder;
  const auto question = encoder.encode(runtime::ToDaemon(runtime::AppNetworkQuestion{}));
  std::error_code closed;
  while (!closed) asio::write(lazy, asio::buffer(question.head), closed);

  ToolClient tool = tool_at(daemon.endpoint());
  CHECK(answer<runtime::StatusReply>(tool, runtime::StatusRequest{}).view.members.size() == 1);
  CHECK(text_of(folder / "log").find("it did not read what it was sent: 64 MiB waited") !=
        std::string::npos);
}

TEST_CASE("garbage on the local socket ends that attachment only") {
  const test::Folder folder;
  DriverOptions options = options_of();
  options.socket_path = folder / "socket";
  Daemon daemon(options);
  asio::io_context io;
  asio::local::stream_protocol::socket bad(io);
  bad.connect(asio::local::stream_protocol::endpoint(options.socket_path));
  const std::string garbage(100, 'x');
  asio::write(bad, asio::buffer(garbage));

  char byte = 0;
  CHECK(::read(bad.native_handle(), &byte, 1) <= 0);
  ToolClient tool = tool_at(daemon.endpoint());
  CHECK(answer<runtime::StatusReply>(tool, runtime::StatusRequest{}).view.members.size() == 1);
}

TEST_SUITE_END();

}  // namespace phx::tcp::driver_test
