#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "runtime/channels/channel_options.h"
#include "runtime/channels/lateness.h"
#include "runtime/channels/link_pace.h"
#include "runtime/channels/link_share.h"
#include "runtime/channels/send_queue.h"
#include "runtime/channels/stream.h"

namespace phx::runtime {

/// For each peer the number of an envelope to it.
using ChannelMarks = std::map<ProcessorId, std::uint64_t>;

/// A connection of a peer that is gone.
struct StrangerLink {
  std::optional<std::uint64_t> received = std::nullopt;  ///< What it had got, if told.
  std::uint64_t last = 0;                                ///< The last number that was put there.
};

/// What Channels know of one connection to a peer.
struct ChannelLink {
  LinkId id;
  bool dialled = false;    ///< By this side.
  bool stated = false;     ///< The peer's statement came.
  bool ready = false;      ///< Envelopes may be sent: it is known what the peer has.
  std::uint64_t next = 0;  ///< Number of the next envelope to send on it.
  LinkShare share{};
  LinkPace pace{};
  Instant up_at;
  Instant heard_at;  ///< The last frame came.
};

/// What Channels know of one peer. `link` is the one to send on. `surplus` exists only at the
/// smaller id of a pair, between a crossing of dials and its end.
struct ChannelPeer {
  ProcessorId id;
  Stream stream;
  SendQueue waiting;       ///< Not numbered yet.
  std::uint64_t sent = 0;  ///< The highest number ever put on a link.
  std::optional<ChannelLink> link;
  std::optional<ChannelLink> surplus;
  bool is_up = false;  ///< Reported as Up.

  bool is_dialling = false;      ///< A Connect was asked for and is not answered.
  Instant dialled_at;            ///< Last.
  Duration dial_pause{};         ///< Before the next dial; zero: none.
  std::uint32_t refusals = 0;    ///< Of dials, in a row ...
  Instant refused_since;         ///< ... whose first one this was.
  std::optional<Instant> doubted_since;  ///< Others accuse it, and no success since.
  std::uint32_t violations = 0;  ///< Since the last report of them.
  std::string trouble;           ///< Why the last dial failed; empty after a success.

  bool is_watched = false;
  bool is_heard = false;    ///< Ever.
  Lateness lateness;        ///< Of the peer, as it says.
  Lateness slowness;        ///< Of the way to it and back: what answers took.
  std::uint64_t timed = 0;  ///< The answer to this envelope is timed; 0: to none.
  Instant timed_at;
  bool is_reported = false;  ///< As Unreachable, and no success since.
  Instant reported_at;
  Instant used_at;      ///< The last envelope went or came; or its link served others.
  Instant heard_at;     ///< The last sign of life, or when watching began.
  Instant progress_at;  ///< The last acknowledgement, or when there was something to send.

  bool has_long_queue = false;  ///< Noted, and not short since.

  std::uint64_t owed_frames = 0;  ///< Envelopes received and not yet acknowledged.
  std::uint64_t owed_bytes = 0;
  Instant owed_since;

  /// There is something it must take or prove.
  [[nodiscard]] bool is_needed() const { return is_watched || !has_all(); }
  /// Everything has arrived there.
  [[nodiscard]] bool has_all() const { return stream.all_acknowledged() && waiting.empty(); }
  [[nodiscard]] std::uint64_t queued_bytes() const { return stream.kept_bytes() + waiting.bytes(); }
  /// REQUIRES a link. What a connection holds its driver tells; of a detour only the peer can.
  [[nodiscard]] bool is_link_full(const ChannelOptions& options) const {
    if (link->id.via == kNobody) return link->share.is_full();
    const std::uint64_t last = link->next - 1;
    return last > stream.acknowledged() && stream.bytes_until(last) >= options.detour_window;
  }
  /// A dial was refused: whether the row is long enough. A firewall that is loaded anew refuses for
  /// a moment, too, so it has to last until this dial, but where `is_proof`, or others have seen
  /// one that did. Not until now: the answer may have waited for this processor.
  [[nodiscard]] bool note_refusal(Instant now, bool is_proof, const ChannelOptions& options) {
    if (refusals++ == 0) refused_since = now;
    return is_proof || doubted_since || dialled_at >= refused_since + options.refusals_last;
  }
  /// When the row of refusals began, or others accused it before.
  [[nodiscard]] Instant doubtful_since() const {
    return doubted_since ? std::min(*doubted_since, refused_since) : refused_since;
  }
  /// From now on nothing overtakes what waits.
  void number_all() {
    while (!waiting.empty()) stream.push(waiting.pop().envelope);
  }
  /// An answer came, so long after what it answers.
  void note_answer(Instant now, Duration took, const ChannelOptions& options) {
    if (took >= options.late_least) slowness.note(now, std::min(took, options.late_most));
  }
  /// Many that share a slow way fill it: what is behind that is late, and not lost.
  [[nodiscard]] Duration late_answers(Instant now, const ChannelOptions& options) const {
    return std::min(options.slow_factor * slowness.worst(now), options.late_most);
  }
  /// The link with this name; null if it was hung up.
  [[nodiscard]] ChannelLink* find(const LinkId& wanted) {
    if (link && link->id == wanted) return &*link;
    return surplus && surplus->id == wanted ? &*surplus : nullptr;
  }
};

}  // namespace phx::runtime
