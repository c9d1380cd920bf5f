#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/channels/channels.h"

namespace phx::support {

inline constexpr ProcessorId kSelf{5};
inline constexpr ProcessorId kLow{2};   // a peer with a smaller id
inline constexpr ProcessorId kHigh{9};  // a peer with a greater id

inline runtime::Envelope word(std::uint64_t number) {
  return runtime::StatusQuestion{number};
}

/// One Channels whose links and peers are played by the test.
struct ChannelHarness {
  explicit ChannelHarness(const runtime::ChannelOptions& options = {})
      : channels(kSelf, ProcessorSet{}, options) {}

  using Outputs = std::vector<runtime::Channels::Output>;
  void send(ProcessorId peer, std::uint64_t number) { channels.send(now, peer, word(number)); }
  void up(LinkId link, bool dialled) { channels.on_link_up(now, link, dialled); }
  void frame(LinkId link, std::uint64_t seq, std::uint64_t received) {
    runtime::Frame frame{seq, received, std::nullopt};
    if (seq > 0) frame.envelope = word(seq);
    channels.on_frame(now, link, std::move(frame));
  }
  /// A link on which both have said that they have nothing yet.
  LinkId ready(ProcessorId peer, std::uint64_t incarnation, bool dialled) {
    const LinkId link{peer, incarnation};
    up(link, dialled);
    frame(link, 0, 0);
    take();
    return link;
  }
  void pass(Duration duration) {
    const Instant end = now + duration;
    while (channels.next_deadline() && *channels.next_deadline() <= end) {
      now = std::max(now, *channels.next_deadline());
      channels.on_deadline(now);
    }
    now = end;
  }
  Outputs take() {
    channels.check_invariants();
    return channels.take_outputs();
  }
  template <class Kind>
  std::vector<Kind> take_only() {
    std::vector<Kind> found;
    for (auto& output : take()) {
      if (auto* kind = std::get_if<Kind>(&output)) found.push_back(std::move(*kind));
    }
    return found;
  }
  /// "link:seq/received" of every frame sent.
  std::vector<std::string> take_frames() {
    std::vector<std::string> texts;
    for (const runtime::Transmit& transmit : take_only<runtime::Transmit>()) {
      texts.push_back(std::to_string(transmit.link.incarnation) + ':' +
                      std::to_string(transmit.frame.seq) + '/' +
                      std::to_string(transmit.frame.received));
    }
    return texts;
  }

  Instant now;
  runtime::Channels channels;
};

}  // namespace phx::support
