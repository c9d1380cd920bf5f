#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/result.h"
#include "overlay/base/time.h"

namespace phx::overlay {

/// A bandwidth that is never the narrow place of a way.
inline constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
/// Nothing is measured beyond; else it is unlimited.
inline constexpr std::uint64_t kFastestMeasured = std::uint64_t{1} << 50U;
/// What is not known yet is like a usual network.
inline constexpr std::uint64_t kGigabit = 125'000'000;
/// 1 Gbit/s, twice, four times ... as much, or a half, a quarter ...: from 0.7 to 1.4 times the
/// rate, in bytes per second. Measurements are no more exact. Beyond kFastestMeasured: as it is.
[[nodiscard]] std::uint64_t coarse_rate(std::uint64_t rate);

/// The network as far as it is known: sites, ways between them, abilities of processors. A value
/// that measurements and topology files produce, and planners and reports consume. An empty field
/// is not known; nobody fills it with a guess [overlay/network/README.md]. Thread rule: a value.
struct KnownNetwork {
  /// From somebody to somebody, in this direction.
  struct Way {
    std::optional<Duration> latency;                ///< One way, of a message without bytes.
    std::optional<std::uint64_t> bytes_per_second;  ///< Of all flows on it together.
    friend bool operator==(const Way&, const Way&) = default;
  };
  /// Processors that are near each other and alike for everybody else.
  struct Site {
    std::string name;  ///< For people; may be empty.
    ProcessorSet processors;
    std::optional<Duration> latency;  ///< One way, between two of them.
    friend bool operator==(const Site&, const Site&) = default;
  };
  /// What a processor can do.
  struct Ability {
    std::optional<Duration> overhead;  ///< Its time for a message, at each end.
    std::optional<std::uint64_t> out_bytes_per_second;
    std::optional<std::uint64_t> in_bytes_per_second;
    /// It stands still now and then: what comes waits so long, on average, before it is taken.
    std::optional<Duration> wait = {};
    friend bool operator==(const Ability&, const Ability&) = default;
  };

  std::vector<Site> sites;  ///< Disjoint. A processor far from all others is a site of its own.
  /// From the first site to the second, as positions in `sites`; shared by all their processors.
  std::map<std::pair<std::size_t, std::size_t>, Way> between;
  Ability usual;                       ///< Of every processor, but where `odd` knows better.
  std::map<ProcessorId, Ability> odd;  ///< Those that differ.
  /// Measured for a pair itself: known fields win over those of the sites.
  std::map<std::pair<ProcessorId, ProcessorId>, Way> pairs;

  /// Empty: it is in no site, so nothing is known but what `pairs` and `odd` say of it.
  [[nodiscard]] std::optional<std::size_t> site_of(ProcessorId processor) const;
  /// Everybody of whom something is known.
  [[nodiscard]] ProcessorSet processors() const;
  /// Inside a site the bandwidth is unlimited: only the interfaces of the two limit it.
  [[nodiscard]] Way way(ProcessorId from, ProcessorId to) const;
  [[nodiscard]] Ability ability(ProcessorId processor) const;
  /// What it says of these: sites without processors are not in it.
  [[nodiscard]] KnownNetwork restricted_to(const ProcessorSet& live) const;
  /// kBadInput: a processor in two sites, a way of a site that does not exist, a time that is
  /// negative or longer than an hour, a bandwidth of 0.
  [[nodiscard]] Status check() const;

  friend bool operator==(const KnownNetwork&, const KnownNetwork&) = default;
};

}  // namespace phx::overlay
