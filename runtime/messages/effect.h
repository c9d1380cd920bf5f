#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/one_of.h"
#include "runtime/messages/client_messages.h"
#include "runtime/messages/local_messages.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// What the daemon wants done, in this order. A driver executes; it never interprets.

/// Connect to `peer` at one of these addresses (tried in order). Answered by on_link_up or
/// on_dial_failed. A driver ignores it while it is already dialling that peer.
struct Dial {
  ProcessorId peer;
  std::vector<std::string> endpoints;
  friend bool operator==(const Dial&, const Dial&) = default;
};
/// Ask whoever is there, as a tool does, for its view. Answered by on_inquired, if anybody answers.
struct Inquire {
  std::vector<std::string> endpoints;
  friend bool operator==(const Inquire&, const Inquire&) = default;
};
/// Close this connection; no on_link_down follows.
struct Hangup {
  LinkId link;
  friend bool operator==(const Hangup&, const Hangup&) = default;
};
/// Send on this connection; dropped if it is gone already. `tell`: call on_link_drained() when it
/// has left, as far as the driver can see; nothing more follows on this link until then, but
/// acknowledgements and frames of others.
struct Transmit {
  LinkId link;
  Frame frame;
  bool tell = false;
  friend bool operator==(const Transmit&, const Transmit&) = default;
};
/// Hand a message to an application process attached here.
struct ToApp {
  ApplicationId application;
  ToApplication message;
  friend bool operator==(const ToApp&, const ToApp&) = default;
};
/// Close the attachment after what was sent before.
struct DropApp {
  ApplicationId application;
  friend bool operator==(const DropApp&, const DropApp&) = default;
};
/// Answer a tool connected here.
struct Reply {
  ClientId client;
  ClientReply reply;
  friend bool operator==(const Reply&, const Reply&) = default;
};
/// Close the tool's connection after what was sent before.
struct DropClient {
  ClientId client;
  friend bool operator==(const DropClient&, const DropClient&) = default;
};
/// Start the application process of a job. Answered by on_process_ended, at once if it cannot be
/// started. Its output comes back through on_output.
struct Spawn {
  JobId job;
  JobSpec spec;
  bool has_input = false;  ///< By FeedProcess; else it is empty.
  friend bool operator==(const Spawn&, const Spawn&) = default;
};
/// Send a signal to the job's process; `escalate_after` later SIGKILL if it still runs.
struct SignalProcess {
  JobId job;
  std::int32_t signal = 0;
  Duration escalate_after = kForever;
  friend bool operator==(const SignalProcess&, const SignalProcess&) = default;
};
/// Read no more of what the job's process writes, until the opposite is said: it blocks once its
/// pipes are full. All the same its output is read to the end when it has ended.
struct HoldOutput {
  JobId job;
  bool hold = false;
  friend bool operator==(const HoldOutput&, const HoldOutput&) = default;
};
/// Bytes for the standard input of the job's process. What it has taken comes back through
/// on_input_taken.
struct FeedProcess {
  JobId job;
  std::uint64_t offset = 0;
  Payload bytes;
  bool is_end = false;
  friend bool operator==(const FeedProcess&, const FeedProcess&) = default;
};
/// A state change worth a log line: `event` in lower-case-hyphen form, `detail` as key=value.
struct Note {
  enum class Level : std::uint8_t { kDebug, kInfo, kWarn, kError };
  Level level = Level::kInfo;
  std::string_view event;  ///< A literal.
  std::string detail;
  friend bool operator==(const Note&, const Note&) = default;
};
/// The daemon has ended; the driver lets what is queued drain, then returns `code`. No input is
/// taken any more. `reason` is a sentence for the log; empty: as asked.
struct Stop {
  std::int32_t code = 0;
  std::string reason;
  friend bool operator==(const Stop&, const Stop&) = default;
};

using Effect = OneOf<Dial, Hangup, Transmit, ToApp, DropApp, Reply, DropClient, Spawn,
                     SignalProcess, HoldOutput, FeedProcess, Inquire, Note, Stop>;

}  // namespace phx::runtime
