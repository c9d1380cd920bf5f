#include "runtime/tcp/rings.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "overlay/base/rng.h"
#include "tests/local/meeting.h"
#include "tests/support/received_descriptors.h"

namespace phx::local::rings_test {
namespace {

using runtime::AppDeliver;
using runtime::AppSend;
using test::message;

/// An application that does with the memory what it likes.
class Liar {
 public:
  Liar() : Liar(test::socket_ends()) {}
  explicit Liar(std::array<int, 2> ends) : daemon(ends[1]), socket_(ends[0]) {
    daemon.send(runtime::AppAttached{JobId{1}, ProcessorId{1}, 1, {}});
    offered_ = support::received_descriptors(socket_.get());
    REQUIRE(offered_.size() == tcp::Rings::kOffered);
    void* memory =
        ::mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_SHARED, offered_[0].get(), 0);
    REQUIRE(memory != MAP_FAILED);
    memory_ = static_cast<std::byte*>(memory);
  }
  Liar(const Liar&) = delete;
  Liar& operator=(const Liar&) = delete;
  ~Liar() { ::munmap(memory_, kMapped); }

  /// As rings.cc lays it out.
  static constexpr std::size_t kLinesOfApplication = 1024;
  static constexpr std::size_t kRoomAt = 4096;
  static constexpr std::size_t kMapped = kRoomAt + 2 * tcp::Rings::kRingBytes;
  tcp::RingLines& to_daemon() { return *reinterpret_cast<tcp::RingLines*>(memory_); }
  tcp::RingLines& to_application() {
    return *reinterpret_cast<tcp::RingLines*>(memory_ + kLinesOfApplication);
  }
  std::span<std::byte> memory() { return {memory_, kMapped}; }
  std::span<std::byte> room() { return {memory_ + kRoomAt, tcp::Rings::kRingBytes}; }

  /// What an honest one says once it has mapped them.
  void say_mark() {
    tcp::Outgoing queue;
    std::vector<tcp::Descriptor> copies;
    for (const tcp::Descriptor& one : offered_) copies.emplace_back(::dup(one.get()));
    auto honest = tcp::Rings::open(std::move(copies));
    REQUIRE(honest != nullptr);
    honest->move(queue);
    REQUIRE(queue.write_to(socket_.get()) == 0);
    daemon.turn();
  }
  void say(std::string_view bytes) {
    REQUIRE(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  void ring() {
    const std::uint64_t once = 1;
    REQUIRE(::write(offered_[2].get(), &once, sizeof(once)) == sizeof(once));
  }

  test::DaemonSide daemon;

 private:
  tcp::Descriptor socket_;
  std::vector<tcp::Descriptor> offered_;
  std::byte* memory_ = nullptr;
};

}  // namespace

TEST_SUITE_BEGIN("local/rings");

TEST_CASE("once both ends have moved, nothing goes through the socket, and all is in order") {
  constexpr std::uint64_t kCount = 2000;
  test::Meeting meeting;
  meeting.greet();

  for (std::uint64_t seq = 0; seq < kCount; ++seq) {
    const std::size_t size = seq * 97 % 3000;
    meeting.link.queue(AppSend{message(seq, size)});
    REQUIRE(meeting.link.flush().ok());
    CHECK(meeting.daemon.on_socket() == 0);
    meeting.daemon.turn();
    meeting.daemon.send(AppDeliver{seq, message(seq, size)});
    meeting.pump();
    REQUIRE(meeting.daemon.received.size() == seq + 1);
    REQUIRE(meeting.received.size() == seq + 1);
    CHECK(std::get<AppSend>(meeting.daemon.received[seq]).message == message(seq, size));
    CHECK(std::get<AppDeliver>(meeting.received[seq]) == AppDeliver{seq, message(seq, size)});
  }
}

TEST_CASE("where the rings are refused, the same goes through the socket") {
  test::Meeting meeting(/*offers=*/false);
  meeting.greet();

  for (std::uint64_t seq = 0; seq < 100; ++seq) {
    meeting.link.queue(AppSend{message(seq, 100)});
    REQUIRE(meeting.link.flush().ok());
    CHECK(meeting.daemon.on_socket() > 0);
    meeting.daemon.send(AppDeliver{seq, message(seq, 100)});
  }
  meeting.work_until(
      [&] { return meeting.daemon.received.size() == 100 && meeting.received.size() == 100; });

  CHECK(std::get<AppSend>(meeting.daemon.received[99]).message == message(99, 100));
  CHECK(std::get<AppDeliver>(meeting.received[99]) == AppDeliver{99, message(99, 100)});
}

TEST_CASE("an application that does not know of rings goes on through its socket") {
  const auto ends = test::socket_ends();
  const tcp::Descriptor socket(ends[0]);
  test::DaemonSide daemon(ends[1]);

  std::array<std::byte, 4096> bytes{};
  for (std::uint64_t seq = 0; seq < 3; ++seq) {
    daemon.send(AppDeliver{seq, message(seq, 100)});
    CHECK(::read(socket.get(), bytes.data(), bytes.size()) > 100);  // and so the offer is gone
  }
  wire::Encoder encoder;
  const wire::Encoded encoded = encoder.encode(runtime::ToDaemon(runtime::AppFinish{}));
  REQUIRE(::write(socket.get(), encoded.head.data(), encoded.head.size()) > 0);
  daemon.turn();

  CHECK(daemon.received.size() == 1);
  CHECK_FALSE(daemon.closed);
}

TEST_CASE("more than the rings hold waits at its source, in both directions at once") {
  constexpr std::uint64_t kCount = 700;
  constexpr std::size_t kSize = 3000;
  test::Meeting meeting;
  meeting.greet();

  for (std::uint64_t seq = 0; seq < kCount; ++seq) {
    meeting.link.queue(AppSend{message(seq, kSize)});
    meeting.daemon.send(AppDeliver{seq, message(seq, kSize)});
  }
  REQUIRE(meeting.link.flush().ok());
  CHECK(meeting.link.unsent() > kCount * kSize - 2 * tcp::Rings::kRingBytes);
  CHECK(meeting.daemon.connection->queued_bytes() > kCount * kSize - 2 * tcp::Rings::kRingBytes);
  meeting.work_until([&] {
    return meeting.daemon.received.size() == kCount && meeting.received.size() == kCount;
  });

  for (std::uint64_t seq = 0; seq < kCount; ++seq) {
    CHECK(std::get<AppSend>(meeting.daemon.received[seq]).message == message(seq, kSize));
    CHECK(std::get<AppDeliver>(meeting.received[seq]) == AppDeliver{seq, message(seq, kSize)});
  }
}

TEST_CASE("long payloads that are lent keep their place among what is in the ring") {
  constexpr std::uint64_t kCount = 200;
  test::Meeting meeting;
  meeting.greet();
  const auto size_of = [](std::uint64_t seq) { return seq % 3 == 0 ? 100'000U : 20U; };

  for (std::uint64_t seq = 0; seq < kCount; ++seq) {
    meeting.link.queue(AppSend{message(seq, size_of(seq))});
    meeting.daemon.send(AppDeliver{seq, message(seq, size_of(seq))});
    if (seq % 10 == 0) meeting.pump();
    if (seq % 7 == 0) meeting.daemon.turn();
  }
  meeting.work_until([&] {
    return meeting.daemon.received.size() == kCount && meeting.received.size() == kCount;
  });

  for (std::uint64_t seq = 0; seq < kCount; ++seq) {
    CHECK(std::get<AppSend>(meeting.daemon.received[seq]).message == message(seq, size_of(seq)));
    const AppDeliver expected{seq, message(seq, size_of(seq))};
    CHECK(std::get<AppDeliver>(meeting.received[seq]) == expected);
  }
}

TEST_CASE("two threads that sleep whenever they can pass all, and none sleeps for ever") {
  constexpr std::uint64_t kCount = 3000;
  test::Meeting meeting;
  meeting.greet();
  std::thread application([&] {
    std::uint64_t queued = 0;
    while (true) {
      for (int i = 0; i < 40 && queued < kCount; ++i) {
        meeting.link.queue(AppSend{message(queued++, 500)});
      }
      if (!meeting.link.pump(meeting.received).ok()) return;
      if (queued < kCount) continue;
      if (meeting.received.size() == kCount && meeting.link.unsent() == 0) return;
      meeting.link.wait(meeting.link.unsent() > 0, kForever);
    }
  });
  for (std::uint64_t seq = 0; seq < kCount; ++seq) {
    meeting.daemon.send(AppDeliver{seq, message(seq, 500)});
    if (seq % 100 == 0) meeting.daemon.turn();
  }
  meeting.daemon.sleep_until([&] {
    return meeting.daemon.received.size() == kCount &&
           meeting.daemon.connection->queued_bytes() == 0;
  });
  application.join();

  CHECK(meeting.received.size() == kCount);
}

TEST_CASE("a thread that waits hears the bell, though another one has looked at it first") {
  constexpr int kRounds = 3000;
  test::Meeting meeting;
  meeting.greet();
  std::atomic<int> returns = 0;
  std::atomic<bool> is_over = false;
  std::thread waiting([&] {
    for (; !is_over; ++returns) meeting.link.wait(false, kForever);
  });
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const int before = returns;
    // The bell rings once for both. The other thread says nothing of what it finds.
    meeting.daemon.send(AppDeliver{2 * round, message(1, 10)});
    meeting.link.wait(false, Duration::zero());
    meeting.pump();
    meeting.daemon.send(AppDeliver{2 * round + 1, message(2, 10)});
    while (returns == before) std::this_thread::yield();
    meeting.pump();
  }
  is_over = true;
  meeting.link.wake();
  waiting.join();

  CHECK(meeting.received.size() == 2 * kRounds);
}

TEST_CASE("a daemon that is held up reads nothing, and then goes on with what is in the ring") {
  test::Meeting meeting;
  meeting.greet();
  meeting.daemon.connection->pause_reading(true);
  for (std::uint64_t seq = 0; seq < 10; ++seq) meeting.link.queue(AppSend{message(seq, 10)});
  meeting.pump();
  meeting.daemon.turn();
  CHECK(meeting.daemon.received.empty());
  meeting.daemon.send(AppDeliver{1, message(1, 10)});
  meeting.pump();
  CHECK(meeting.received.size() == 1);

  meeting.daemon.connection->pause_reading(false);
  meeting.daemon.turn();

  CHECK(meeting.daemon.received.size() == 10);
}

TEST_CASE("what an application said before it ended is read first, also by who is held up") {
  for (const bool is_held_up : {false, true}) {
    CAPTURE(is_held_up);
    test::Meeting meeting;
    meeting.greet();
    for (std::uint64_t seq = 0; seq < 500; ++seq) meeting.link.queue(AppSend{message(seq, 20)});
    meeting.pump();
    if (is_held_up) meeting.daemon.pauses_with = 3;
    meeting.link = LocalLink();  // as if it was killed
    meeting.daemon.turn();
    if (is_held_up) CHECK_FALSE(meeting.daemon.closed);
    meeting.daemon.connection->pause_reading(false);

    CHECK(meeting.daemon.end().code == ErrorCode::kUnavailable);
    CHECK(meeting.daemon.received.size() == 500);
  }
}

TEST_CASE("what the daemon said before it closed arrives before the error, more than fits, too") {
  test::Meeting meeting;
  meeting.greet();
  for (std::uint64_t seq = 0; seq < 200; ++seq) {
    meeting.daemon.send(AppDeliver{seq, message(seq, 2000)});
  }
  meeting.daemon.connection->close_after_drain();
  std::optional<Error> error;
  while (!error) {
    meeting.daemon.turn();
    const Status status = meeting.link.pump(meeting.received);
    if (!status.ok()) error = status.error();
  }

  CHECK(error->code == ErrorCode::kUnavailable);
  CHECK(meeting.received.size() == 200);
  meeting.link = LocalLink();
  CHECK(meeting.daemon.end().code == ErrorCode::kAborted);
}

TEST_CASE("finishing waits until the daemon has read everything, whatever that says meanwhile") {
  test::Meeting meeting;
  meeting.greet();
  for (std::uint64_t seq = 0; seq < 50; ++seq) meeting.link.queue(AppSend{message(seq, 1000)});
  meeting.pump();
  for (std::uint64_t seq = 0; seq < 300; ++seq) {  // more than the ring holds
    meeting.daemon.send(AppDeliver{seq, message(seq, 1000)});
  }
  std::thread application([&] { meeting.link.finish(kForever / 4); });

  CHECK(meeting.daemon.end().code == ErrorCode::kUnavailable);
  application.join();

  CHECK(meeting.daemon.received.size() == 50);
}

TEST_CASE("a child that inherits the rings and ends changes nothing") {
  test::Meeting meeting;
  meeting.greet();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);

  meeting.link.queue(AppSend{message(1, 10)});
  meeting.pump();
  meeting.daemon.turn();

  CHECK(meeting.daemon.received.size() == 1);
}

TEST_CASE("lies: counts that cannot be end the connection") {
  for (const std::uint64_t lie : {std::uint64_t{tcp::Rings::kRingBytes + 1}, ~std::uint64_t{0}}) {
    CAPTURE(lie);
    Liar liar;
    liar.say_mark();
    liar.to_daemon().written = lie;
    liar.ring();
    CHECK(liar.daemon.end().code == ErrorCode::kBadInput);
  }
  Liar liar;
  liar.say_mark();
  liar.to_application().taken = std::uint64_t{1} << 40U;
  for (int i = 0; i < 300; ++i) liar.daemon.send(AppDeliver{1, message(1, 1000)});
  CHECK(liar.daemon.end().code == ErrorCode::kBadInput);
}

TEST_CASE("lies: bytes beside the ring, a second mark, and no frames at all end it, too") {
  Liar beside;
  beside.say_mark();
  beside.say("?");
  CHECK(beside.daemon.end().code == ErrorCode::kBadInput);

  Liar twice;
  twice.say_mark();
  twice.say_mark();
  CHECK(twice.daemon.end().code == ErrorCode::kBadInput);

  Liar garbage;
  garbage.say_mark();
  std::memset(garbage.room().data(), '?', 100);
  garbage.to_daemon().written = 100;
  garbage.ring();
  CHECK(garbage.daemon.end().code == ErrorCode::kBadInput);
}

TEST_CASE("lies: whatever is in the memory, the daemon goes on, and ends nothing but this") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Liar liar;
    if (rng.chance(0.9)) liar.say_mark();
    for (int i = 0; i < 20; ++i) {
      const std::size_t begin = rng.below(liar.memory().size());
      const std::size_t most = rng.chance(0.5) ? 4096 : liar.memory().size();
      for (std::size_t at = begin % most; at < most; at += 1 + rng.below(300)) {
        liar.memory()[at] = static_cast<std::byte>(rng.next());
      }
      liar.ring();
      liar.daemon.send(AppDeliver{1, message(1, rng.below(50'000))});
      liar.daemon.turn();
    }
    CHECK(liar.daemon.received.size() <= 1);
  }
}

TEST_CASE("lies: an application whose bell is never looked at does not hold up the daemon") {
  constexpr int kMoreThanAPipeHolds = 20'000;
  Liar liar;
  liar.say_mark();
  for (int i = 0; i < kMoreThanAPipeHolds; ++i) {
    liar.to_application().taken = liar.to_application().written.load();
    liar.to_application().reader_sleeps = 1;
    liar.daemon.send(AppDeliver{1, message(1, 1)});
  }

  CHECK_FALSE(liar.daemon.closed);
  CHECK(liar.to_application().reader_sleeps == 0);
}

TEST_CASE("what is offered and is no rings is passed over") {
  const auto none = [] { return std::vector<tcp::Descriptor>(); };
  CHECK(tcp::Rings::open(none()) == nullptr);
  auto others = none();
  for (int i = 0; i < 3; ++i) others.emplace_back(::dup(STDIN_FILENO));
  CHECK(tcp::Rings::open(std::move(others)) == nullptr);
  auto unsealed = none();
  unsealed.emplace_back(::memfd_create("unsealed", MFD_CLOEXEC));
  REQUIRE(::ftruncate(unsealed[0].get(), Liar::kMapped) == 0);
  for (int i = 0; i < 2; ++i) unsealed.emplace_back(::dup(STDIN_FILENO));
  CHECK(tcp::Rings::open(std::move(unsealed)) == nullptr);
}

TEST_SUITE_END();

}  // namespace phx::local::rings_test
