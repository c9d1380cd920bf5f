#include "runtime/channels/send_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "overlay/base/rng.h"
#include "tests/support/channel_harness.h"
#include "tests/support/seeds.h"

namespace phx::runtime::send_queue_test {
namespace {

using support::kHigh;
using Harness = support::ChannelHarness;
using Numbers = std::vector<std::uint64_t>;
using Kind = Standpoint::Kind;

constexpr std::uint64_t kKiB = 1024;
constexpr JobId kJob{1};

Standpoint flow(std::uint64_t from) {
  return {Kind::kFlow, {FlowKey::Kind::kPair, kJob, VnodeId{from}, VnodeId{0}}};
}

/// Says which one it is by the number of a question.
SendQueue::Item item(std::uint64_t number, std::uint64_t bytes) {
  return {StatusQuestion{number}, bytes};
}

std::uint64_t number_of(const SendQueue::Item& item) {
  return std::get<StatusQuestion>(item.envelope).request;
}

Numbers pop_all(SendQueue& queue) {
  Numbers numbers;
  while (!queue.empty()) {
    numbers.push_back(number_of(queue.pop()));
    queue.check_invariants();
  }
  return numbers;
}

Envelope piece(std::uint64_t from, std::uint64_t seq, std::size_t bytes) {
  return VnodeMessage{kJob, 0,
                      PointToPoint{VnodeId{from}, VnodeId{9}, seq, 0, 0, Payload(Bytes(bytes))}};
}

}  // namespace

TEST_SUITE_BEGIN("runtime/send queue");

TEST_CASE("control leaves first and in order, then short flows in turn, then bulk") {
  SendQueue queue;
  for (std::uint64_t n = 0; n < 3; ++n) queue.push(flow(1), item(n, 256 * kKiB));
  for (std::uint64_t n = 10; n < 12; ++n) queue.push(flow(2), item(n, 100));
  for (std::uint64_t n = 20; n < 23; ++n) queue.push(flow(3), item(n, 100));
  for (std::uint64_t n = 30; n < 32; ++n) queue.push({}, item(n, 100));

  CHECK(queue.bytes() == 3 * 256 * kKiB + 700);
  CHECK(pop_all(queue) == Numbers{30, 31, 10, 20, 11, 21, 22, 0, 1, 2});
  CHECK(queue.bytes() == 0);
}

TEST_CASE("a short message of a flow does not overtake the long ones before it, nor the reverse") {
  SendQueue queue;
  queue.push(flow(1), item(1, 256 * kKiB));
  queue.push(flow(1), item(2, 10));
  queue.push(flow(2), item(3, 10));
  queue.push(flow(2), item(4, 256 * kKiB));
  queue.push(flow(3), item(5, 10));

  CHECK(pop_all(queue) == Numbers{5, 1, 3, 4, 2});
}

TEST_CASE("many short messages of one flow are bulk") {
  SendQueue queue;
  for (std::uint64_t n = 0; n < 65; ++n) queue.push(flow(1), item(n, kKiB));
  queue.push(flow(2), item(100, kKiB));
  CHECK(number_of(queue.pop()) == 100);
}

TEST_CASE("bulk flows share the link by bytes, whatever their pieces are") {
  SendQueue queue;
  const std::vector<std::uint64_t> sizes{256 * kKiB, 16 * kKiB, 70 * kKiB};
  constexpr std::uint64_t kEach = 20480 * kKiB;
  for (std::size_t f = 0; f < sizes.size(); ++f) {
    for (std::uint64_t sent = 0; sent < kEach; sent += sizes[f]) {
      queue.push(flow(f), item(f, sizes[f]));
    }
  }
  std::vector<std::uint64_t> left(sizes.size());
  std::uint64_t sum = 0;
  for (; sum < kEach; sum += 0) {
    const SendQueue::Item next = queue.pop();
    left[number_of(next)] += next.bytes;
    sum += next.bytes;
  }
  const SendQueueOptions options;
  for (const std::uint64_t bytes : left) {
    CHECK(bytes >= sum / 3 - options.quantum - 256 * kKiB);
    CHECK(bytes <= sum / 3 + options.quantum + 256 * kKiB);
  }
}

TEST_CASE("bulk is not starved by short messages without end") {
  const SendQueueOptions options;
  SendQueue queue(options);
  constexpr std::uint64_t kPieces = 10;
  for (std::uint64_t n = 0; n < kPieces; ++n) queue.push(flow(0), item(0, 256 * kKiB));
  std::uint64_t bytes_short = 0;
  std::uint64_t pieces = 0;
  for (std::uint64_t n = 1; pieces < kPieces; ++n) {
    queue.push(flow(1 + n % 50), item(1, kKiB));
    const SendQueue::Item next = queue.pop();
    if (number_of(next) == 0) {
      ++pieces;
      CHECK(bytes_short <= pieces * options.short_in_a_row);
    } else {
      bytes_short += next.bytes;
    }
  }
  CHECK(bytes_short >= kPieces * options.short_in_a_row);
}

TEST_CASE("the end of a job leaves before everything but control, and nothing else of it waits") {
  SendQueue queue;
  const auto of_other = [](FlowKey::Kind kind) {
    return Standpoint{Kind::kFlow, {kind, JobId{2}, VnodeId{1}, VnodeId{0}}};
  };
  queue.push(flow(1), item(1, 300 * kKiB));
  queue.push(of_other(FlowKey::Kind::kPair), item(2, 300 * kKiB));
  queue.push(of_other(FlowKey::Kind::kBroadcast), item(3, 300 * kKiB));
  queue.push({}, item(5, 10));
  CHECK(queue.copy_bytes() == 300 * kKiB);

  queue.push({Kind::kEnd, {FlowKey::Kind::kJob, JobId{2}}}, item(6, 10));
  queue.push({}, item(7, 10));

  CHECK(queue.size() == 4);
  CHECK(queue.bytes() == 300 * kKiB + 30);
  CHECK(queue.copy_bytes() == 0);
  CHECK(pop_all(queue) == Numbers{5, 6, 7, 1});
}

TEST_CASE("the end of a job does not overtake its last output") {
  SendQueue queue;
  const FlowKey of_job{FlowKey::Kind::kJob, kJob};
  queue.push(flow(1), item(1, 10));
  queue.push({Kind::kFlow, of_job}, item(2, 10));
  queue.push({Kind::kEnd, of_job}, item(3, 10));
  queue.push({}, item(4, 10));

  CHECK(pop_all(queue) == Numbers{4, 2, 3});
}

TEST_CASE("everything comes out once, and each flow in its order") {
  for (std::uint64_t seed = 1; seed <= support::seeds(30); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    SendQueue queue(
        {.short_envelope = 100, .short_flow = 300, .short_in_a_row = 500, .quantum = 200});
    std::map<std::uint64_t, std::uint64_t> pushed;
    std::map<std::uint64_t, std::uint64_t> popped;
    std::uint64_t size = 0;
    for (int step = 0; step < 2000; ++step) {
      if (queue.empty() || (step < 1500 && rng.chance(0.6))) {
        const std::uint64_t of = rng.below(8);
        const std::uint64_t number = of * 10000 + pushed[of]++;
        queue.push(of == 0 ? Standpoint{} : flow(of), item(number, rng.below(250)));
        ++size;
      } else {
        const std::uint64_t number = number_of(queue.pop());
        CHECK(number % 10000 == popped[number / 10000]++);
        --size;
      }
      REQUIRE(queue.size() == size);
      queue.check_invariants();
    }
    for (const std::uint64_t number : pop_all(queue)) {
      CHECK(number % 10000 == popped[number / 10000]++);
    }
    CHECK(pushed == popped);
  }
}

TEST_CASE("which envelopes keep their order among themselves") {
  const auto of = [](const Envelope& envelope) { return standpoint_of(envelope, support::kSelf); };
  const FlowQuestion question{VnodeId{1}, VnodeId{9}};
  const collectives::ReductionToken token{{VnodeId{3}, 7}, {}, {}};
  JobStage stage;
  stage.job = kJob;
  collectives::TreeCopy copy;
  copy.piece.root = VnodeId{4};

  CHECK(of(Heartbeat{}).kind == Kind::kControl);
  CHECK(of(overlay::Message{overlay::Probe{}}).kind == Kind::kControl);
  CHECK(of(ViewChange{}).kind == Kind::kControl);
  CHECK(of(JobStart{}).kind == Kind::kControl);
  CHECK(of(VnodeMessage{kJob, 0, FlowCredit{}}).kind == Kind::kControl);
  CHECK(of(Flush{}).kind == Kind::kFence);
  ViewChange last;
  last.gone.emplace_back();
  last.gone.back().id = support::kSelf;
  CHECK(of(last).kind == Kind::kFence);
  ViewInstall install;
  CHECK(of(install).kind == Kind::kControl);  // Only who is gone: the receiver stays.
  install.view.members.put(Member{ProcessorId{99}, 1, {}, "", false});
  CHECK(of(install).kind == Kind::kFence);
  CHECK(of(Migrate{}).flow.kind == FlowKey::Kind::kMoves);
  CHECK(of(StatePiece{}).flow == of(Migrate{}).flow);
  CHECK(of(StateTaken{}).kind == Kind::kControl);
  CHECK(of(JobEnd{}).kind == Kind::kEnd);
  CHECK(of(StatusQuestion{1, kJob}).kind == Kind::kControl);
  CHECK(of(piece(1, 0, 5)).kind == Kind::kFlow);
  CHECK(of(piece(1, 0, 5)).flow == of(VnodeMessage{kJob, 0, question}).flow);
  CHECK(of(piece(1, 0, 5)).flow != of(piece(2, 0, 5)).flow);
  CHECK(of(VnodeMessage{kJob, 0, token}).flow == of(CollectiveMessage{kJob, token}).flow);
  CHECK(of(CollectiveMessage{kJob, copy}).flow.kind == FlowKey::Kind::kBroadcast);
  CHECK(of(Offer{kJob, 1, {}}).flow == of(Routes{kJob, {}}).flow);
  CHECK(of(Output{kJob, ProcessorId{1}, false, {}}).flow == of(stage).flow);
}

// --- In channels -----------------------------------------------------------------------------

TEST_CASE("a link takes its share and one envelope more, and as much again as it tells that left") {
  const ChannelOptions options;
  Harness h(options);
  const LinkId link = h.ready(kHigh, 1, true);
  constexpr std::size_t kBytes = 8192;
  constexpr std::uint64_t kEnvelopes = 200;
  for (std::uint64_t seq = 0; seq < kEnvelopes; ++seq) {
    h.channels.send(h.now, kHigh, piece(1, seq, kBytes));
  }
  std::uint64_t left = 0;
  std::vector<std::uint64_t> parts;  // Of what was given and has not left, envelopes.
  const auto take = [&] {
    for (const Transmit& sent : h.take_only<Transmit>()) {
      if (parts.empty()) parts.push_back(0);
      ++parts.back();
      if (sent.tell) parts.push_back(0);
    }
    return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
  };
  std::uint64_t given = take();
  CHECK(given == options.share_max / kBytes);
  CHECK_FALSE(h.channels.all_acknowledged());
  while (parts.size() > 1) {
    h.now += 1ms;
    left += parts.front();
    parts.erase(parts.begin());
    h.channels.on_drained(h.now, link);
    given = take();
    CHECK(given == std::min(options.share_max / kBytes, kEnvelopes - left));
    CHECK(*std::ranges::max_element(parts) <= options.share_max / kBytes / 2);
  }
  CHECK(given + left == kEnvelopes);
}

// They are behind the same interface.
TEST_CASE(
    "a new link begins with the share of the one that was full last, the first one with the most") {
  const ChannelOptions options;
  Harness h(options);
  constexpr std::size_t kBytes = 8192;
  const auto first_given = [&](ProcessorId peer) {
    h.ready(peer, 1, peer == kHigh);
    for (std::uint64_t seq = 0; seq < 100; ++seq) {
      h.channels.send(h.now, peer, piece(1, seq, kBytes));
    }
    return h.take_only<Transmit>().size() * kBytes;
  };
  CHECK(first_given(kHigh) == options.share_max);
  for (std::uint64_t told = 0; told < 20; ++told) {  // a slow one
    h.now += 1s;
    h.channels.on_drained(h.now, LinkId{kHigh, 1});
    h.channels.send(h.now, kHigh, piece(1, 100 + told, 2 * options.share_max));
  }
  h.take();
  CHECK(first_given(support::kLow) < options.share_min * 5 / 4);
}

TEST_CASE("what left while a link was full is told, with its time, and of all else nothing") {
  ChannelOptions options;
  options.share_min = options.share_max = 400;
  LinkShare share;
  const Instant begin{1s};
  CHECK_FALSE(share.give(begin, 60, 60, options));
  CHECK(share.give(begin, 160, 220, options));
  CHECK(share.on_drained(begin + 5s, 1, 220, options).bytes == 0);
  for (std::uint64_t all = 420; all <= 620; all += 200) {
    CHECK(share.give(begin + 6s, 200, all, options));
  }
  CHECK(share.is_full());

  const LinkShare::Left first = share.on_drained(begin + 7s, 1, 0, options);
  CHECK((first.bytes == 200 && first.time == 1s && first.all == 620));
  CHECK_FALSE(share.is_full());
  CHECK(share.give(begin + 7s, 1000, 2000, options));
  const LinkShare::Left second = share.on_drained(begin + 9s, 1, 0, options);
  CHECK((second.bytes == 200 && second.time == 2s && second.all == 2000));
  CHECK(share.is_full());  // Of a large envelope, until it has left.
  CHECK(share.on_drained(begin + 10s, 1, 0, options).bytes == 1000);
  CHECK_FALSE(share.is_full());
  CHECK(share.on_drained(begin + 10s, 1, 0, options).bytes == 0);
}

// As a driver tells of them whose socket takes much at once.
TEST_CASE("parts of a share that left together have one time, that of all of them") {
  ChannelOptions options;
  options.share_time = 1s;
  options.share_min = 100;
  options.share_max = 400;
  LinkShare share;
  Instant now{1s};
  std::uint64_t all = 0;
  for (int round = 0; round < 50; ++round) {
    std::size_t parts = 0;
    while (!share.is_full()) {
      if (share.give(now, 10, all += 10, options)) ++parts;
    }
    const std::uint64_t then = all;
    const std::uint64_t full = share.bytes();
    now += 4s;    // 100 in a second at most
    all += 1000;  // other links
    const LinkShare::Left left = share.on_drained(now, parts, all, options);
    CHECK(2 * left.bytes > full);
    CHECK(left.all == then);
    CHECK(share.on_drained(now, 1, all, options).bytes == 0);
  }
  CHECK(share.bytes() < 110);
}

TEST_CASE("a link's share is what it carries in 16 ms, within bounds") {
  const ChannelOptions options;
  const auto share_at = [&](std::uint64_t rate, Duration pause) {
    LinkShare share;
    Instant now{1s};
    std::uint64_t waiting = 0;  // for the driver to tell of
    for (int envelope = 0; envelope < 500; ++envelope) {
      const std::uint64_t bytes = 16384;
      now += pause;
      waiting += bytes;
      while (share.is_full()) {
        now += Duration(static_cast<Duration::rep>(waiting / 4 * 1'000'000'000 / rate));
        waiting -= waiting / 4;
        share.on_drained(now, 1, 0, options);
      }
      if (share.give(now, bytes, 0, options) && pause > Duration{}) {
        share.on_drained(now + pause, 1, 0, options);
      }
    }
    return share.bytes();
  };
  CHECK(share_at(1'000'000, 0ms) < options.share_min * 11 / 10);
  CHECK(share_at(1'000'000'000, 0ms) > options.share_max * 9 / 10);
  CHECK(share_at(1'000'000, 100ms) == options.share_max);  // There was nothing to carry.
}

TEST_CASE("a link's pace is that of its shares while it was full, beside that of all links") {
  const ChannelOptions options;
  LinkPace pace;
  Instant now{1s};
  std::uint64_t all = 0;
  std::optional<LinkPace::Sample> sample;
  int shares = 0;
  while (!sample) {
    now += 500ms;  // nothing to carry: that does not count
    const LinkShare::Left left{100'000, 50ms, all};
    all += 150'000;  // with another link's
    now += left.time;
    sample = pace.on_left(now, left, all, options);
    REQUIRE(++shares <= 4);
  }
  CHECK(shares == 4);
  CHECK(sample->one == 2'000'000);
  CHECK(sample->all == 600'000 * 1000 / 1700);

  // What is older than that is not of one time.
  CHECK(!pace.on_left(now, {100'000, 150ms, all}, all, options));
  now += options.pace_together + 1ms;
  CHECK(!pace.on_left(now, {100'000, 150ms, all}, all, options));
}

TEST_CASE("what is sent behind bulk leaves before it, but not before what is on the link") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  for (std::uint64_t seq = 0; seq < 4; ++seq) h.channels.send(h.now, kHigh, piece(1, seq, 300'000));
  h.channels.send(h.now, kHigh, piece(2, 0, 1));
  h.channels.send(h.now, kHigh, overlay::Message{overlay::Probe{}});
  h.take();

  h.now += 2ms;
  h.channels.on_drained(h.now, link);
  const auto given = h.take_only<Transmit>();
  REQUIRE(given.size() == 3);
  CHECK(given[0].frame.seq == 2);
  CHECK(std::holds_alternative<overlay::Message>(*given[0].frame.envelope));
  CHECK(given[1].frame.envelope == piece(2, 0, 1));
  CHECK(given[2].frame.envelope == piece(1, 1, 300'000));
}

TEST_CASE("who waits for its own turn does not say that a link is slow") {
  const auto paced = [](Duration late) {
    Harness h;
    const LinkId link = h.ready(kHigh, 1, true);
    h.channels.watch(h.now, ProcessorSet{kHigh});  // there will be a heartbeat
    h.now = h.channels.next_deadline().value() + late;
    h.channels.on_deadline(h.now);
    std::size_t said = 0;
    for (std::uint64_t seq = 0; seq < 16; ++seq) {
      h.channels.send(h.now, kHigh, piece(1, seq, 300'000));
    }
    for (int share = 0; share < 8; ++share) {
      h.now += 60ms;
      h.channels.on_drained(h.now, link);
      said += h.take_only<channel::Paced>().size();
    }
    return said;
  };
  const Duration late = ChannelOptions{}.pace_late;
  CHECK(paced(late / 2) > 0);
  CHECK(paced(late) == 0);
}

TEST_CASE("a detour holds 1 MiB and one envelope more, until the other end has them") {
  Harness h;
  const LinkId link{kHigh, 1, ProcessorId{77}};
  h.up(link, false);
  h.frame(link, 0, 0);
  h.take();
  for (std::uint64_t seq = 0; seq < 12; ++seq)
    h.channels.send(h.now, kHigh, piece(1, seq, 300'000));
  h.channels.send(h.now, kHigh, Heartbeat{});
  CHECK(h.take_only<Transmit>().size() == 4);

  h.frame(link, 0, 2);
  const auto given = h.take_only<Transmit>();
  REQUIRE(given.size() == 3);
  CHECK(given[0].frame.envelope == Envelope{Heartbeat{}});
  CHECK(given[1].frame.envelope == piece(1, 4, 300'000));
  CHECK_FALSE(given[0].tell);

  // The next link has to carry again what this one has lost, and that is no more.
  h.channels.on_link_down(h.now, link);
  h.up({kHigh, 2, ProcessorId{78}}, false);
  h.frame({kHigh, 2, ProcessorId{78}}, 0, 2);
  CHECK(h.take_frames().size() == 1 + 5);
}

TEST_CASE("nothing overtakes a fence, and a fence overtakes nothing") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  for (std::uint64_t seq = 0; seq < 3; ++seq) h.channels.send(h.now, kHigh, piece(1, seq, 300'000));
  h.channels.send(h.now, kHigh, Flush{});
  h.channels.send(h.now, kHigh, Heartbeat{});

  std::vector<Envelope> given;
  for (int i = 0; i < 4; ++i) {
    for (Transmit& transmit : h.take_only<Transmit>()) given.push_back(*transmit.frame.envelope);
    h.channels.on_drained(h.now, link);
  }
  REQUIRE(given.size() == 5);
  CHECK(given[2] == piece(1, 2, 300'000));
  CHECK(given[3] == Envelope{Flush{}});
  CHECK(given[4] == Envelope{Heartbeat{}});
}

TEST_CASE("marks count what waits, and what is sent later does not arrive in its place") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  for (std::uint64_t seq = 0; seq < 3; ++seq) h.channels.send(h.now, kHigh, piece(1, seq, 300'000));
  ChannelMarks marks = h.channels.marks();
  h.channels.send(h.now, kHigh, Heartbeat{});

  CHECK(marks.at(kHigh) == 3);
  h.channels.on_drained(h.now, link);
  h.frame(link, 0, 2);
  CHECK_FALSE(h.channels.has_acknowledged(marks));
  h.channels.on_drained(h.now, link);
  h.frame(link, 0, 3);
  CHECK(h.channels.has_acknowledged(marks));
}

TEST_CASE("what waits comes back with what is not confirmed when its receiver leaves") {
  Harness h;
  h.ready(kHigh, 1, true);
  for (std::uint64_t seq = 0; seq < 4; ++seq) h.channels.send(h.now, kHigh, piece(1, seq, 300'000));
  h.take();
  const std::vector<Envelope> back = h.channels.forget(h.now, kHigh);
  REQUIRE(back.size() == 4);
  CHECK(h.take_only<Transmit>().size() == 3);  // the others were on the link
  for (std::uint64_t seq = 0; seq < 4; ++seq) CHECK(back[seq] == piece(1, seq, 300'000));
}

TEST_SUITE_END();

}  // namespace phx::runtime::send_queue_test
