#pragma once

#include <cstdint>
#include <string>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "runtime/messages/member_messages.h"
#include "runtime/messages/messages.h"

// What Channels tell their owner.
namespace phx::runtime::channel {

/// What a dial that failed says of the peer.
enum class DialFailure : std::uint8_t {
  kNoWay,    ///< Nothing.
  kRefused,  ///< Nobody listens there, or a firewall says so.
  kGone,     ///< Nobody listens on this machine, where no firewall stands in between.
};
struct Connect {  ///< Dial this peer; the daemon knows its addresses.
  ProcessorId peer;
};
struct Received {
  ProcessorId from;
  Envelope envelope;
};
/// Needed, but no success for a while. Repeated while that lasts.
struct Unreachable {
  ProcessorId peer;
  Departure why = Departure::kSilent;
  std::string detail;  ///< What was tried, for a person.
};
struct Reachable {  ///< A peer reported as Unreachable answers again.
  ProcessorId peer;
};
/// A forgotten processor speaks on `link`; to be answered by refuse().
struct Stranger {
  ProcessorId peer;
  LinkId link;
};
/// A link to the peer is given up because nothing arrives there.
struct Stalled {
  ProcessorId peer;
};
/// This processor did not run for so long: others should know.
struct Late {
  Duration by{};
};
/// Bytes per second that the link to the peer carries, while more waits for it; and what all links
/// together carry. Told five times per second of such time, or less often.
struct Paced {
  ProcessorId peer;
  std::uint64_t rate = 0;
  std::uint64_t all = 0;
};
struct Up {  ///< There is a link to the peer, and both know from where to send.
  ProcessorId peer;
};
struct Down {  ///< The link to the peer is lost; not reported for forgotten ones.
  ProcessorId peer;
};

}  // namespace phx::runtime::channel
