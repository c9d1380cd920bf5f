// What a short message asks of the heap on its way through two processes and their daemons.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "runtime/endpoint/endpoint.h"
#include "runtime/wire/codec.h"
#include "runtime/wire/framing.h"
#include "tests/support/allocations.h"
#include "tests/support/daemon_net.h"

namespace phx::runtime::message_cost_test {
namespace {

constexpr JobId kJob{1};
constexpr ApplicationId kApplication{1};

/// Two processes with one vnode each, on two daemons. What a driver does between them, without its
/// system calls: frames are written to one list of bytes and read from it.
class MessagePair {
 public:
  MessagePair() : net_(2) {
    JobSpec spec;
    spec.vnodes = 2;
    spec.command = {"program"};
    net_.ask(ProcessorId{1}, RunRequest{spec});
    for (std::size_t i = 0; i < 2; ++i) {
      const ProcessorId id{static_cast<std::uint32_t>(i + 1)};
      net_.attach(id, kJob);
      for (AppAttached& m : net_.heard_by_application<AppAttached>(id)) take(i, std::move(m));
      for (AppGrant& m : net_.heard_by_application<AppGrant>(id)) take(i, std::move(m));
      static_cast<void>(endpoints_.at(i).begin_safe_point(endpoints_.at(i).due()));
      endpoints_.at(i).finish_safe_point({});
    }
    bytes_.reserve(4096);
  }

  void send(std::size_t from, const Payload& payload) {
    const VnodeId source{from};
    const VnodeId target{1 - from};
    REQUIRE(endpoints_.at(from).send(source, target, 7, payload).ok());
    run(from);
  }
  [[nodiscard]] bool take(std::size_t at) {
    const auto message = endpoints_.at(at).take({.at = VnodeId{at}, .tag = 7});
    run(at);
    return message.has_value();
  }

 private:
  void take(std::size_t at, ToApplication message) {
    endpoints_.at(at).on_message(std::move(message));
  }
  /// What the endpoint says goes to its daemon.
  void run(std::size_t at) {
    const ProcessorId id{static_cast<std::uint32_t>(at + 1)};
    auto outputs = endpoints_.at(at).take_outputs();
    for (ToDaemon& message : outputs) {
      net_.daemon(id).on_app_message(net_.now(), kApplication, std::move(message));
      execute(at);
    }
    endpoints_.at(at).give_back(std::move(outputs));
  }
  void execute(std::size_t at) {
    const ProcessorId id{static_cast<std::uint32_t>(at + 1)};
    auto effects = net_.daemon(id).take_effects();
    for (Effect& effect : effects) {
      if (auto* m = std::get_if<ToApp>(&effect)) take(at, std::move(m->message));
      if (const auto* m = std::get_if<Transmit>(&effect)) transmit(at, *m);
    }
    net_.daemon(id).give_back(std::move(effects));
  }
  void transmit(std::size_t from, const Transmit& m) {
    const ProcessorId sender{static_cast<std::uint32_t>(from + 1)};
    bytes_.clear();
    if (!wire::append_short(m.frame, 2048, bytes_)) bytes_ = encoder_.encode(m.frame).head;
    std::span<const std::byte> rest(bytes_);
    REQUIRE(readers_.at(1 - from).consume(rest).ok());
    Payload payload = readers_.at(1 - from).take_payload();
    auto frame = decoder_.frame(readers_.at(1 - from).header(), std::move(payload));
    readers_.at(1 - from).next();
    REQUIRE(frame.ok());
    const LinkId link{sender, m.link.incarnation};
    net_.daemon(m.link.peer).on_frame(net_.now(), link, std::move(frame).value());
    if (m.tell) net_.daemon(sender).on_link_drained(net_.now(), m.link);
    execute(1 - from);
  }

  support::DaemonNet net_;
  std::array<Endpoint, 2> endpoints_;
  std::array<wire::FrameReader, 2> readers_{wire::FrameReader(wire::Family::kFrame),
                                            wire::FrameReader(wire::Family::kFrame)};
  wire::Encoder encoder_;
  wire::Decoder decoder_;
  Bytes bytes_;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/message_cost");

TEST_CASE("a short message asks the heap for what it is kept in, and for nothing on its way") {
  if (!support::counts_allocations()) return;
  MessagePair pair;
  const Payload payload(Bytes(64, std::byte{1}));
  constexpr std::uint64_t kTrips = 1000;
  const auto trip = [&] {
    for (const std::size_t from : {0U, 1U}) {
      pair.send(from, payload);
      REQUIRE(pair.take(1 - from));
    }
  };
  for (std::uint64_t i = 0; i < kTrips; ++i) trip();
  const std::uint64_t before = support::allocations();
  for (std::uint64_t i = 0; i < kTrips; ++i) trip();
  const std::uint64_t messages = 2 * kTrips;
  const std::uint64_t asked = support::allocations() - before;

  // Its flow keeps it, the channel does, and its bytes are at the receiver. The mailbox, and what
  // the daemon keeps for the process, are lists whose blocks hold several.
  constexpr std::uint64_t kKept = 3;
  CAPTURE(asked);
  CHECK(asked <= kKept * messages + messages / 2);
}

}  // namespace phx::runtime::message_cost_test
