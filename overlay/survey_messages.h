#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/payload.h"
#include "overlay/base/time.h"
#include "overlay/network/known_network.h"

namespace phx::overlay {

/// Which of several networks is newer. Two surveyors may use a number both: the later one wins.
struct NetworkVersion {
  std::uint64_t number = 0;  ///< 0: nothing is known.
  ProcessorId author;
  friend constexpr auto operator<=>(const NetworkVersion&, const NetworkVersion&) = default;
};
/// A measurement's message, and its answer.
struct Ping {
  std::uint64_t number = 0;
  bool is_answer = false;
  friend bool operator==(const Ping&, const Ping&) = default;
};
/// Please send me so many bytes in a row, which I measure. `number`: of this request.
struct Fetch {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const Fetch&, const Fetch&) = default;
};
/// A part of them; the last one completes the bytes asked for. What is in it has no meaning.
struct Load {
  std::uint64_t number = 0;
  Payload bytes;
  /// Bytes per second that its sender has sent to all since the request before; 0: not known.
  std::uint64_t sent = 0;
  friend bool operator==(const Load&, const Load&) = default;
};
/// What a download may take longer than one in a site: some round trips, since TCP begins slowly.
[[nodiscard]] constexpr Duration far_delay(Duration round_trip) {
  constexpr int kRoundTrips = 16;
  constexpr Duration kMost = 500ms;
  return kRoundTrips * std::clamp(round_trip, Duration{}, kMost);
}
/// From the surveyor: please measure the round trips to these, then how fast you receive from
/// those.
struct SurveyTask {
  struct Download {
    ProcessorId from;
    std::uint64_t bytes = 0;  ///< 0: as many as it takes to be sure.
    Duration round_trip{};    ///< Of a way between sites: TCP may lose so much by waiting.
    friend bool operator==(const Download&, const Download&) = default;
  };
  std::uint64_t round = 0;
  std::vector<ProcessorId> landmarks;
  /// Begin at some moment of this time, so that not everybody measures at once.
  Duration spread{};
  std::uint32_t pings = 1;               ///< To each.
  bool wants_overhead = false;           ///< Also say what a message costs at an end.
  std::vector<Download> downloads = {};  ///< One after the other.
  friend bool operator==(const SurveyTask&, const SurveyTask&) = default;
};
/// To the surveyor. Who did not answer is missing. Of round 0: I can be asked from now on;
/// `rates` are of uploads, which are much slower than known; `wait` is how long messages wait
/// there.
struct SurveyReport {
  struct RoundTrip {
    ProcessorId landmark;
    Duration time{};
    friend bool operator==(const RoundTrip&, const RoundTrip&) = default;
  };
  /// Bytes per second.
  struct Rate {
    ProcessorId peer;            ///< Downloaded from there.
    std::uint64_t at_least = 0;  ///< So fast it was.
    std::uint64_t at_most = 0;   ///< If it has lost a round trip by waiting. The same if near.
    std::uint64_t taken = 0;     ///< From all, in the same time.
    std::uint64_t sent = 0;      ///< By that peer to all; 0: not known.
    friend bool operator==(const Rate&, const Rate&) = default;
  };
  std::uint64_t round = 0;
  std::vector<RoundTrip> round_trips = {};
  std::optional<Duration> overhead = {};
  NetworkVersion version = {};  ///< Of the network that the sender knows; of round 0 only.
  std::vector<Rate> rates = {};
  /// What it sent to all, or took if that was more, while it measured round trips.
  std::uint64_t traffic = 0;
  /// A message waits so long there, because the sender stands still now and then; 0: no more.
  std::optional<Duration> wait = {};
  friend bool operator==(const SurveyReport&, const SurveyReport&) = default;
};
/// From the surveyor to all: the network is this.
struct NetworkUpdate {
  NetworkVersion version;
  KnownNetwork network;
  friend bool operator==(const NetworkUpdate&, const NetworkUpdate&) = default;
};

}  // namespace phx::overlay
