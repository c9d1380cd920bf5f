#include "runtime/cast_cut.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/membership/failure_detector.h"
#include "runtime/messages/flow_messages.h"

namespace phx::runtime {

namespace {

using overlay::coarse_rate;
using overlay::kGigabit;

constexpr std::uint32_t kLong = std::uint32_t{64} << 10U;
constexpr std::uint64_t kFast = 500'000'000;  // bytes per second
// Bytes, at 1 Gbit/s, by measurement; at higher rates the daemons set the pace, and not the wire.
constexpr std::uint64_t kCost = 256;
constexpr std::uint64_t kCostLeast = 16;

/// One way, of those that are known.
std::optional<Duration> longest_way(const overlay::KnownNetwork& network) {
  std::optional<Duration> longest;
  const auto see = [&](std::optional<Duration> latency) {
    if (latency && (!longest || *latency > *longest)) longest = latency;
  };
  for (const auto& site : network.sites) see(site.latency);
  for (const auto& [ends, way] : network.between) see(way.latency);
  return longest;
}

/// So long that the levels of a tree take a tenth of the longest way to be filled.
std::uint32_t filling_piece(std::size_t members, const overlay::KnownNetwork& network) {
  const auto longest = longest_way(network);
  const auto& usual = network.usual;
  if (!longest || !usual.out_bytes_per_second || !usual.in_bytes_per_second) return kShortPiece;
  const auto rate = std::min(*usual.out_bytes_per_second, *usual.in_bytes_per_second);
  const double held = static_cast<double>(rate) * std::chrono::duration<double>(*longest).count();
  const double piece = held / 10 / static_cast<double>(std::bit_width(members));
  return std::bit_floor(
      static_cast<std::uint32_t>(std::clamp<double>(piece, kShortestPiece, kShortPiece)));
}

std::uint32_t least_piece(const View& view, const overlay::KnownNetwork& network) {
  const auto& members = view.members;
  const bool is_one_machine = std::all_of(members.begin(), members.end(), [&](const auto& one) {
    return share_machine(members.begin()->second, one.second);
  });
  if (is_one_machine) return kLocalPiece;
  const bool is_fast = network.usual.out_bytes_per_second.value_or(0) >= kFast &&
                       network.usual.in_bytes_per_second.value_or(0) >= kFast;
  return is_fast ? kLong : filling_piece(members.size(), network);
}

/// As a step: pieces are powers of two, and a wire of 1 Gbit/s lets through a little less.
std::uint32_t piece_cost(const overlay::KnownNetwork& network) {
  const auto rate = std::min({network.usual.out_bytes_per_second.value_or(kGigabit),
                              network.usual.in_bytes_per_second.value_or(kGigabit), kGigabit});
  return static_cast<std::uint32_t>(std::max(coarse_rate(rate) * kCost / kGigabit, kCostLeast));
}

}  // namespace

CastCut cast_cut(const View& view, const overlay::KnownNetwork& network) {
  return {least_piece(view, network), piece_cost(network)};
}

}  // namespace phx::runtime
