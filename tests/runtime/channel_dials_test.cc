#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/channel_harness.h"

namespace phx::runtime::channel_dials_test {
namespace {

using support::kHigh;
using support::kLow;
using Harness = support::ChannelHarness;
using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE_BEGIN("runtime/channel dials");

TEST_CASE(
    "dials when there is something to send, and sends it at once to one that can have nothing") {
  Harness h;

  h.send(kHigh, 1);
  CHECK(h.take_only<Channels::Connect>().size() == 1);
  h.up({kHigh, 1}, true);

  CHECK(h.take_frames() == Texts{"1:0/0", "1:1/0"});
}

TEST_CASE("after a break, and where the other side dialled, it waits for its statement") {
  Harness h;
  h.send(kHigh, 1);
  h.up({kHigh, 1}, true);
  h.channels.on_link_down(h.now, {kHigh, 1});
  h.send(kLow, 1);
  h.take();

  h.up({kHigh, 2}, true);
  CHECK(h.take_frames() == Texts{"2:0/0"});
  h.up({kLow, 1}, false);
  CHECK(h.take_frames() == Texts{"1:0/0"});
  h.frame({kHigh, 2}, 0, 1);
  CHECK(h.take_frames().empty());
  h.frame({kLow, 1}, 0, 0);
  CHECK(h.take_frames() == Texts{"1:1/0"});
}

TEST_CASE("when all is confirmed the next link need not wait for what the peer says") {
  Harness h;
  h.send(kHigh, 1);
  h.up({kHigh, 1}, true);
  h.frame({kHigh, 1}, 0, 0);
  h.frame({kHigh, 1}, 0, 1);
  h.channels.on_link_down(h.now, {kHigh, 1});
  h.send(kHigh, 2);
  h.take();

  h.up({kHigh, 2}, true);

  CHECK(h.take_frames() == Texts{"2:0/0", "2:2/0"});
}

TEST_CASE(
    "a link that may be needed is dialled once, nobody is accused if that fails, and it ends") {
  Harness h;
  h.channels.open(h.now, kHigh);
  h.channels.open(h.now, kHigh);
  CHECK(h.take_only<Channels::Connect>().size() == 1);

  h.channels.on_dial_failed(h.now, kHigh, true, "refused");
  h.pass(60s);
  CHECK(h.take().empty());
  h.send(kHigh, 1);
  CHECK(h.take_only<Channels::Connect>().size() == 1);  // At once.
  h.channels.on_dial_failed(h.now, kHigh, true, "refused");
  CHECK(h.take_only<Channels::Unreachable>().empty());  // It takes two of one need.

  h.channels.open(h.now, kLow);
  CHECK(h.take_only<Channels::Connect>().size() == 1);
  h.up({kLow, 1}, true);
  h.frame({kLow, 1}, 0, 0);
  h.channels.open(h.now, kLow);
  CHECK(h.take_only<Channels::Connect>().empty());
  h.pass(ChannelOptions{}.idle_timeout + 1s);
  CHECK(h.take_only<Hangup>().size() == 1);
  h.channels.check_invariants();
}

TEST_SUITE_END();

}  // namespace phx::runtime::channel_dials_test
