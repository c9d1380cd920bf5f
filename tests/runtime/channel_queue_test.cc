#include <doctest/doctest.h>

#include <algorithm>
#include <variant>

#include "tests/support/channel_harness.h"

namespace phx::runtime::channel_queue_test {
namespace {

using support::kHigh;
using Harness = support::ChannelHarness;

}  // namespace

TEST_SUITE_BEGIN("runtime/channel queue");

TEST_CASE("limits: a long queue congests, is noted once at four times the limit, and is no crime") {
  ChannelOptions options;
  options.queued_bytes_high = 1000;
  Harness h(options);
  const LinkId link = h.ready(kHigh, 1, false);

  while (h.channels.queued_bytes(kHigh) <= 1000) h.send(kHigh, 1);
  CHECK(h.channels.congested());
  CHECK(h.take_only<Note>().empty());
  while (h.channels.queued_bytes(kHigh) <= 8000) h.send(kHigh, 1);
  const auto outputs = h.take();
  const auto count = [&](auto is) { return std::ranges::count_if(outputs, is); };
  CHECK(count([](const auto& o) { return std::holds_alternative<Channels::Unreachable>(o); }) == 0);
  CHECK(count([](const auto& o) {
          const auto* note = std::get_if<Note>(&o);
          return note != nullptr && note->event == "queue-long";
        }) == 1);
  CHECK(h.channels.counters().long_queues == 1);

  h.frame(link, 0, 60);
  CHECK(h.channels.congested());
  while (h.channels.queued_bytes(kHigh) <= 8000) h.send(kHigh, 1);
  CHECK(h.channels.counters().long_queues == 1);  // it has not been short in between
  h.frame(link, 0, 180);
  CHECK(!h.channels.congested());
  while (h.channels.queued_bytes(kHigh) <= 8000) h.send(kHigh, 1);
  CHECK(h.channels.counters().long_queues == 2);
}

TEST_CASE("a peer that acknowledges now and then is never reported, however long its queue") {
  ChannelOptions options;
  options.queued_bytes_high = 1000;
  Harness h(options);
  const LinkId link = h.ready(kHigh, 1, false);
  for (int i = 0; i < 200; ++i) h.send(kHigh, 1);

  for (std::uint64_t taken = 1; taken <= 20; ++taken) {
    h.pass(1900ms);
    h.frame(link, 0, taken);
  }

  CHECK(h.take_only<Channels::Unreachable>().empty());
  CHECK(h.channels.counters().stalls == 0);
  h.pass(10s);  // answers took 1.9 s: twice that is waited in addition
  CHECK(h.channels.counters().stalls == 1);
  CHECK(h.take_only<Channels::Unreachable>().size() == 1);
}

namespace {

/// An envelope of about `mebibytes`, whose parcels share the bytes of one state.
Envelope large(std::uint64_t mebibytes) {
  const Payload state(Bytes(std::size_t{1} << 20U));
  Migrate migrate;
  for (std::uint64_t v = 0; v < mebibytes; ++v) {
    migrate.parcels.push_back({VnodeId{v}, 1, {}});
    migrate.parcels.back().bundle.state = state;
  }
  return migrate;
}

}  // namespace

TEST_CASE("an envelope of 300 MiB over a slow line: activity is progress, silence is not") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, false);
  h.channels.send(h.now, kHigh, large(300));
  CHECK(h.channels.congested());
  CHECK(h.take_only<Channels::Unreachable>().empty());

  for (int i = 0; i < 10'000; ++i) {  // 1000 s, much longer than size / slowest_bandwidth
    h.pass(100ms);
    h.channels.on_activity(h.now, link);
  }
  CHECK(h.take_only<Channels::Unreachable>().empty());
  CHECK(h.channels.counters().stalls == 0);

  h.pass(300s);  // nothing moves any more; it may all be in the buffers of the line
  CHECK(h.take_only<Channels::Unreachable>().empty());
  CHECK(h.channels.counters().stalls == 0);
  h.pass(20s);
  CHECK(h.channels.counters().stalls == 1);
  CHECK(h.take_only<Channels::Unreachable>().size() == 1);
}

TEST_CASE("an envelope of 300 MiB that arrives ends the congestion, and nothing was said of it") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, false);
  h.channels.send(h.now, kHigh, large(300));
  h.pass(200s);

  h.frame(link, 0, 1);

  CHECK(!h.channels.congested());
  CHECK(h.channels.all_acknowledged());
  CHECK(h.take_only<Channels::Unreachable>().empty());
  CHECK(h.channels.counters().stalls == 0);
}

TEST_CASE("a link that nobody needs is closed, and opened again for the next envelope") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  h.pass(29s);
  CHECK(h.take_only<Hangup>().empty());
  h.send(kHigh, 1);
  h.frame(link, 0, 1);
  h.pass(29s);
  CHECK(h.take_only<Hangup>().empty());
  h.pass(2s);

  CHECK(h.take_only<Hangup>() == std::vector<Hangup>{{link}});
  CHECK(h.channels.counters().idles == 1);
  h.send(kHigh, 2);
  CHECK(h.take_only<Channels::Connect>().size() == 1);
}

TEST_CASE("a link that carries frames of others is not idle") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  for (int i = 0; i < 10; ++i) {
    h.pass(20s);
    h.channels.on_service(h.now, link);
  }
  CHECK(h.take_only<Hangup>().empty());
}

TEST_SUITE_END();

}  // namespace phx::runtime::channel_queue_test
