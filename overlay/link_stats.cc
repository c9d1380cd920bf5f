#include "overlay/link_stats.h"

#include <algorithm>
#include <utility>

namespace phx::overlay {

void LinkStats::add(ProcessorId id, Duration sample) {
  Peer& peer = peers_[id];
  forget_place(id, peer);
  if (peer.samples.size() == kKept) peer.samples.erase(peer.samples.begin());
  peer.samples.push_back(std::max(sample, Duration{1}));
  peer.least = *std::ranges::min_element(peer.samples);
  if (peer.samples.size() >= kEnough) measured_.emplace(peer.least, id);
}

void LinkStats::keep_only(const ProcessorSet& live) {
  for (auto at = peers_.begin(); at != peers_.end();) {
    if (live.contains(at->first)) {
      ++at;
      continue;
    }
    forget_place(at->first, at->second);
    at = peers_.erase(at);
  }
}

std::size_t LinkStats::samples(ProcessorId peer) const {
  const auto at = peers_.find(peer);
  return at == peers_.end() ? 0 : at->second.samples.size();
}

std::optional<Duration> LinkStats::round_trip(ProcessorId peer) const {
  return samples(peer) < kEnough ? std::nullopt : estimate(peer);
}

std::optional<Duration> LinkStats::estimate(ProcessorId peer) const {
  const auto at = peers_.find(peer);
  if (at == peers_.end()) return std::nullopt;
  return at->second.least;
}

std::vector<ProcessorId> LinkStats::nearest(std::size_t count) const {
  std::vector<ProcessorId> peers;
  peers.reserve(std::min(count, measured_.size()));
  for (auto at = measured_.begin(); at != measured_.end() && peers.size() < count; ++at) {
    peers.push_back(at->second);
  }
  return peers;
}

bool LinkStats::is_near(ProcessorId peer) const {
  const std::optional<Duration> far = round_trip(peer);
  return far && *far * 2 <= measured_.rbegin()->first;
}

bool LinkStats::is_beside(ProcessorId peer) const {
  const std::optional<Duration> far = round_trip(peer);
  return far && *far <= std::clamp<Duration>(measured_.begin()->first * 3, 200us, 1ms);
}

bool LinkStats::knows_near() const {
  return !measured_.empty() && is_near(measured_.begin()->second);
}

}  // namespace phx::overlay
