#pragma once

#include <cstdint>

#include "overlay/base/time.h"

namespace phx::runtime {

/// Knobs of the channels; DaemonConfig sets those a person may want to turn.
struct ChannelOptions {
  /// An acknowledgement waits this long for a frame to ride on, or until so much is owed.
  Duration ack_delay = 20ms;
  std::uint32_t ack_frames = 32;
  std::uint64_t ack_bytes = std::uint64_t{256} << 10U;
  /// Pause before the second dial of a row; doubles up to the maximum.
  Duration dial_pause_min = 50ms;
  Duration dial_pause_max = 1s;
  /// A link on which nothing is acknowledged for this long is given up ...
  Duration stall_timeout = 2s;
  /// ... plus the time the oldest envelope needs at this speed, in bytes per second.
  std::uint64_t slowest_bandwidth = 1'000'000;
  Duration heartbeat_period = 1s;  ///< Silence of a watched peer before it is asked.
  Duration peer_timeout = 5s;      ///< Without success for so long: Unreachable.
  /// So many times that for a newcomer that has never been heard of: its contact may be slow.
  std::uint32_t newcomer_factor = 3;
  /// Timers later than this say that this processor did not run ...
  Duration late_least = 250ms;
  /// ... and lengthen peer_timeout by so many times that, for a minute, by `late_most` at most.
  std::uint32_t late_factor = 3;
  Duration late_most = 30s;
  /// What answers of a peer took at worst in the last minute lengthens its time-outs by so many
  /// times that, if it is `late_least` or more. 0: a slow way that many share is taken for dead.
  std::uint32_t slow_factor = 2;
  /// So many refused dials in a row, over so long a time: Unreachable. The time counts unless the
  /// peer's machine is this one, or others accuse it, too.
  std::uint32_t refusals = 2;
  Duration refusals_last = 1s;
  /// ... and if somebody on another machine than this one was heard meanwhile: else it may be the
  /// firewall of this one that refuses.
  bool refusals_need_others = true;
  std::uint32_t violations = 3;  ///< So many broken rules: Unreachable.
  /// Above it congested() holds: less is read from applications. 4 x this is noted and counted; a
  /// peer is given up for lack of progress only [limit].
  std::uint64_t queued_bytes_high = std::uint64_t{64} << 20U;
  /// What a link carries in `share_time`, within these bounds, and one envelope more, is given to
  /// it before it has told what has left.
  Duration share_time = 16ms;
  std::uint64_t share_min = std::uint64_t{64} << 10U;
  std::uint64_t share_max = std::uint64_t{256} << 10U;
  /// So much a detour is given, and one envelope more, before the other end has acknowledged it.
  std::uint64_t detour_window = std::uint64_t{1} << 20U;
  /// What links carry is told when one was full for so long within this time, in which no timer was
  /// later than that: else this processor waited for its own turn, and not for the link.
  Duration pace_time = 200ms;
  Duration pace_together = 5s;
  Duration pace_late = 10ms;
  Duration idle_timeout = 30s;  ///< A link that carried no envelope for so long is closed.
  Duration linger = 1s;  ///< So long the links of a forgotten peer live on, to carry last words.

  /// Timers that are due so soon are served at once, so that those that belong to one exchange wake
  /// this processor up only once.
  [[nodiscard]] Duration slack() const { return heartbeat_period / 200; }
  [[nodiscard]] bool is_early(Instant now, Instant due) const { return now + slack() < due; }
};

/// What happened so far, for `phoenix status`.
struct ChannelCounters {
  std::uint64_t dials = 0;
  std::uint64_t links = 0;         ///< That came up.
  std::uint64_t crossed = 0;       ///< Hung up because there was another one to the same peer.
  std::uint64_t idles = 0;         ///< Closed because nobody needed them.
  std::uint64_t stalls = 0;        ///< Given up because nothing was acknowledged.
  std::uint64_t resent = 0;        ///< Envelopes sent again, on another link.
  std::uint64_t duplicates = 0;    ///< Envelopes that came again, and were dropped.
  std::uint64_t violations = 0;    ///< Frames that broke the rules of the stream.
  std::uint64_t copies_most = 0;   ///< Most bytes of broadcasts' copies that waited for one link.
  std::uint64_t long_queues = 0;   ///< Times that a queue came to 4 x `queued_bytes_high`.
  std::uint64_t strangers = 0;     ///< Links of processors that are not members any more.
  std::uint64_t accusations = 0;   ///< Peers reported as unreachable, each time anew.
  std::uint64_t false_alarms = 0;  ///< Of these, peers that answered afterwards.
  std::uint64_t standstills = 0;   ///< Times that this processor noticed that it had not run.
  std::uint64_t given_bytes = 0;   ///< To all links, what was sent again included.
  std::uint64_t taken_bytes = 0;   ///< From all links.
  std::uint64_t to_gone = 0;       ///< Envelopes for processors that are not members any more.
};

}  // namespace phx::runtime
