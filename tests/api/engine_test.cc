#include "runtime/api/engine.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/wire/codec.h"

namespace phx::engine_test {
namespace {

/// A daemon that one process attaches to, and that only listens. It calls `on_message` in a thread
/// of its own.
class Listener {
 public:
  using OnMessage = std::function<void(Listener&, const runtime::ToDaemon&)>;
  explicit Listener(OnMessage on_message) : on_message_(std::move(on_message)) {
    std::filesystem::remove(path());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof(address.sun_path) - 1);
    REQUIRE(::bind(door_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(::listen(door_, 1) == 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~Listener() {
    thread_.join();
    ::close(door_);
    std::filesystem::remove(path());
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] static std::string path() {
    return std::filesystem::temp_directory_path() /
           ("phoenix-engine-test-" + std::to_string(::getpid()));
  }
  void write(const runtime::ToApplication& message) {
    const wire::Encoded encoded = encoder_.encode(message);
    CHECK(::write(socket_, encoded.head.data(), encoded.head.size()) ==
          static_cast<ssize_t>(encoded.head.size()));
  }

 private:
  void serve() {
    socket_ = ::accept(door_, nullptr, nullptr);
    wire::FrameReader frames(wire::Family::kToDaemon, {.references = true});
    while (true) {
      const auto space = frames.space();
      const ssize_t size = ::read(socket_, space.data(), space.size());
      if (size <= 0) break;
      CHECK(frames.advance(static_cast<std::size_t>(size)).ok());
      if (!frames.is_complete()) continue;
      Payload payload = frames.take_payload();
      const auto message = decoder_.to_daemon(frames.header(), std::move(payload));
      frames.next();
      if (message.ok()) on_message_(*this, message.value());
    }
    ::close(socket_);
  }

  OnMessage on_message_;
  int door_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
  int socket_ = -1;
  wire::Encoder encoder_;
  wire::Decoder decoder_;
  std::thread thread_;
};

}  // namespace

TEST_SUITE_BEGIN("api/engine");

TEST_CASE("a wait that throws is over for the daemon, too") {
  std::vector<std::string> waits;  // what the daemon has heard
  std::atomic<bool> throws = false;
  {
    Listener daemon([&](Listener& self, const runtime::ToDaemon& message) {
      if (std::holds_alternative<runtime::AppAttach>(message)) {
        self.write(runtime::AppAttached{JobId{1}, ProcessorId{0}, 1, {}});
      }
      const auto* const waiting = std::get_if<runtime::AppWaiting>(&message);
      if (waiting == nullptr) return;
      waits.push_back(waiting->what);
      throws = true;
      if (!waiting->what.empty()) self.write(runtime::AppRetire{});  // something comes in
    });
    Engine engine({.socket = Listener::path()});
    const auto look = [&](runtime::Endpoint&) -> std::optional<bool> {
      if (throws) throw std::runtime_error("too much");
      return std::nullopt;
    };
    CHECK_THROWS_AS(engine.await({60s, [] { return std::string("it"); }}, look),
                    std::runtime_error);
    engine.close([](runtime::Endpoint&) {});
  }
  CHECK(waits == std::vector<std::string>{"it", ""});
}

TEST_SUITE_END();

}  // namespace phx::engine_test
