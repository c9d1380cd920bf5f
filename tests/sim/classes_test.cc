#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "runtime/channels/channels.h"
#include "runtime/sim/network.h"

namespace classes_test {

using namespace phx;
using namespace phx::sim;

namespace {

using runtime::Channels;
using runtime::Envelope;
using runtime::PointToPoint;
using runtime::VnodeMessage;

constexpr std::uint64_t kBytesPerSecond = 2'500'000;  // 20 Mbit/s
constexpr Duration kLatency = 10ms;
constexpr Duration kIdle = 2 * kLatency + 1ms;  // A round trip of something short.
constexpr Duration kRow = 20ms;                 // In front of the line, before senders are held up.
constexpr std::size_t kPiece = std::size_t{256} << 10U;

Duration time_of(std::uint64_t bytes) {
  return Duration{static_cast<Duration::rep>(bytes * 1'000'000'000 / kBytesPerSecond)};
}

Envelope piece(std::uint64_t from, std::uint64_t seq, std::size_t bytes) {
  return VnodeMessage{JobId{1}, 0,
                      PointToPoint{VnodeId{from}, VnodeId{9}, seq, 0, 0, Payload(Bytes(bytes))}};
}

/// The channels of two machines at the ends of a slow line. m1 answers probes, and pieces of 1
/// byte.
class Line {
 public:
  /// `one_class`: the driver says at once that a link is empty, so all waits in one row [planted].
  explicit Line(bool one_class = false) : one_class_(one_class) {
    network_.set_inputs({
        [this](MachineId at, LinkId link, bool dialled) {
          run(at, [=](Channels& c, Instant now) { c.on_link_up(now, link, dialled); });
        },
        [this](MachineId at, LinkId link) {
          run(at, [=](Channels& c, Instant now) { c.on_link_down(now, link); });
        },
        [this](MachineId at, ProcessorId peer, bool refused) {
          const auto how =
              refused ? Channels::DialFailure::kRefused : Channels::DialFailure::kNoWay;
          run(at, [=](Channels& c, Instant now) { c.on_dial_failed(now, peer, how, "no"); });
        },
        [this](MachineId at, LinkId link, runtime::Frame frame) {
          run(at, [&](Channels& c, Instant now) { c.on_frame(now, link, std::move(frame)); });
        },
        [this](MachineId at, LinkId link) {
          ++told;
          run(at, [=](Channels& c, Instant now) { c.on_drained(now, link); });
        },
    });
    for (std::uint32_t i = 0; i < 2; ++i) {
      network_.open(network_.add_machine(i), ProcessorId{i + 1});
      ends_.emplace_back(ProcessorId{i + 1}, ProcessorSet{}, runtime::ChannelOptions{});
    }
  }
  void send(std::uint32_t from, Envelope envelope) {
    run(MachineId{from},
        [&](Channels& c, Instant now) { c.send(now, ProcessorId{2 - from}, std::move(envelope)); });
  }
  void run_until(Instant end) {
    while (true) {
      std::optional<Instant> timer;
      for (const Channels& c : ends_) {
        if (c.next_deadline() && (!timer || *c.next_deadline() < *timer)) timer = c.next_deadline();
      }
      const bool is_timer = timer && (agenda_.empty() || *timer < agenda_.next_at());
      if (is_timer ? *timer > end : agenda_.empty() || agenda_.next_at() > end) break;
      if (!is_timer) {
        agenda_.step();
        continue;
      }
      agenda_.advance_to(std::max(agenda_.now(), *timer));
      for (std::uint32_t i = 0; i < 2; ++i) {
        run(MachineId{i}, [](Channels& c, Instant now) { c.on_deadline(now); });
      }
    }
    agenda_.advance_to(end);
  }
  [[nodiscard]] Instant now() const { return agenda_.now(); }
  /// How long it takes until m0 has an answer.
  Duration round_trip(const Envelope& envelope) {
    const Instant begin = now();
    answered_.reset();
    send(0, envelope);
    while (!answered_ && now() - begin < 60s) run_until(now() + 1ms);
    return answered_.value_or(now()) - begin;
  }

  std::map<VnodeId, std::uint64_t> bytes;  ///< Received by m1 from this vnode.
  Instant last_at;                         ///< ... the last time.
  std::uint64_t told = 0;
  const Envelope probe = overlay::Message{overlay::Probe{}};
  const Envelope word = piece(7, 0, 1);

 private:
  using Call = std::function<void(Channels&, Instant)>;
  void run(MachineId at, const Call& call) {
    Channels& channels = ends_[at.value];
    call(channels, agenda_.now());
    channels.check_invariants();
    for (auto& output : channels.take_outputs()) {
      if (const auto* dial = std::get_if<Channels::Connect>(&output)) {
        network_.dial(at, dial->peer, MachineId{dial->peer.value - 1});
      } else if (auto* sent = std::get_if<runtime::Transmit>(&output)) {
        network_.transmit(at, sent->link, std::move(sent->frame), sent->tell && !one_class_);
        if (sent->tell && one_class_)
          run(at, [&](Channels& c, Instant now) { c.on_drained(now, sent->link); });
      } else if (auto* got = std::get_if<Channels::Received>(&output)) {
        on_received(at, got->envelope);
      }
    }
  }
  void on_received(MachineId at, const Envelope& envelope) {
    if (at.value == 0) {
      answered_ = agenda_.now();
      return;
    }
    if (const auto* message = std::get_if<VnodeMessage>(&envelope)) {
      const auto& got = std::get<PointToPoint>(message->delivery);
      bytes[got.from] += got.payload.size();
      last_at = agenda_.now();
      if (got.payload.size() > 1) return;
    }
    send(1, runtime::StatusAnswer{});
  }

  bool one_class_;
  Agenda agenda_;
  NetworkModel model_{overlay::Topology::uniform({1, 1}, {kLatency, kBytesPerSecond}), 0, Rng(1)};
  Network network_{agenda_, model_, Rng(2)};
  std::vector<Channels> ends_;
  std::optional<Instant> answered_;
};

/// The longest round trip of `envelope` while 40 pieces wait.
Duration worst_beside_bulk(bool one_class, bool is_probe, std::size_t size = kPiece) {
  Line line(one_class);
  line.run_until(Instant{1s});
  const std::uint64_t count = 40 * kPiece / size;
  for (std::uint64_t seq = 0; seq < count; ++seq) line.send(0, piece(1, seq, size));
  line.run_until(line.now() + 300ms);  // it has found out how slow it is
  Duration worst{};
  while (line.bytes[VnodeId{1}] < 30 * kPiece) {
    worst = std::max(worst, line.round_trip(is_probe ? line.probe : line.word));
  }
  return worst;
}

}  // namespace

TEST_SUITE_BEGIN("sim/classes");

TEST_CASE("beside bulk on a line of 20 Mbit/s a probe takes a piece or two longer than alone") {
  Line idle;
  idle.round_trip(idle.probe);
  CHECK(idle.round_trip(idle.probe) < kIdle);
  const std::uint64_t share = runtime::ChannelOptions{}.share_min;
  for (const std::size_t size : {kPiece, kPiece / 4, kPiece / 16}) {
    CAPTURE(size);
    CHECK(worst_beside_bulk(false, true, size) <
          kIdle + kRow + time_of(std::max(share, size) + 2 * size));
  }
}

TEST_CASE("beside bulk of another flow a byte takes a piece or two longer than alone") {
  CHECK(worst_beside_bulk(false, false) < kIdle + 2 * time_of(kPiece));
}

TEST_CASE("that everything stands in one row is found") {
  CHECK(worst_beside_bulk(true, true) > 10 * time_of(kPiece));
  CHECK(worst_beside_bulk(true, false) > 10 * time_of(kPiece));
}

TEST_CASE("costs: a line is busy all the time, and tells twice per share") {
  const std::uint64_t share = runtime::ChannelOptions{}.share_min;
  for (const std::size_t size : {kPiece, std::size_t{1000}}) {
    CAPTURE(size);
    Line line;
    line.run_until(Instant{1s});
    line.round_trip(line.probe);
    const Instant begin = line.now();
    const std::uint64_t count = (std::size_t{8} << 20U) / size;
    for (std::uint64_t seq = 0; seq < count; ++seq) line.send(0, piece(1, seq, size));
    line.run_until(begin + 60s);

    constexpr std::uint64_t kHeader = 128;  // At most, on the wire; and what weights count.
    CHECK(line.bytes[VnodeId{1}] == count * size);
    CHECK(line.last_at - begin < kLatency + time_of(count * (size + kHeader)) + 5ms);
    const std::uint64_t per_call = (share / 2 + size - 1) / size;
    CHECK(line.told <= count / per_call * 5 / 4);
    CHECK(line.told >= count / per_call * 3 / 4);  // the first shares are larger
  }
}

TEST_CASE("two flows of bulk have half of the line each, whatever their pieces are") {
  Line line;
  line.run_until(Instant{1s});
  for (std::uint64_t i = 0; i < 40; ++i) line.send(0, piece(1, i, kPiece));
  for (std::uint64_t i = 0; i < 640; ++i) line.send(0, piece(2, i, kPiece / 16));
  line.run_until(line.now() + time_of(20 * kPiece));

  const auto both = line.bytes[VnodeId{1}] + line.bytes[VnodeId{2}];
  CHECK(both > 18 * kPiece);
  CHECK(line.bytes[VnodeId{1}] > both / 2 - 2 * kPiece);
  CHECK(line.bytes[VnodeId{2}] > both / 2 - 2 * kPiece);
}

TEST_SUITE_END();

}  // namespace classes_test
