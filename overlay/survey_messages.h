#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "overlay/base/ids.h"
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
/// From the surveyor: please measure the round trips to these.
struct SurveyTask {
  std::uint64_t round = 0;
  std::vector<ProcessorId> landmarks;
  /// Begin at some moment of this time, so that not everybody measures at once.
  Duration spread{};
  std::uint32_t pings = 1;      ///< To each.
  bool wants_overhead = false;  ///< Also say what a message costs at an end.
  friend bool operator==(const SurveyTask&, const SurveyTask&) = default;
};
/// To the surveyor. Who did not answer is missing. Of round 0: I can be asked from now on.
struct SurveyReport {
  struct RoundTrip {
    ProcessorId landmark;
    Duration time{};
    friend bool operator==(const RoundTrip&, const RoundTrip&) = default;
  };
  std::uint64_t round = 0;
  std::vector<RoundTrip> round_trips;
  std::optional<Duration> overhead;
  NetworkVersion version;  ///< Of the network that the sender knows; of round 0 only.
  friend bool operator==(const SurveyReport&, const SurveyReport&) = default;
};
/// From the surveyor to all: the network is this.
struct NetworkUpdate {
  NetworkVersion version;
  KnownNetwork network;
  friend bool operator==(const NetworkUpdate&, const NetworkUpdate&) = default;
};

}  // namespace phx::overlay
