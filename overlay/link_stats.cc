#include "overlay/link_stats.h"

#include <algorithm>
#include <utility>

namespace phx::overlay {
namespace {

Duration minimum(const std::vector<Duration>& samples) {
  return *std::min_element(samples.begin(), samples.end());
}

}  // namespace

void LinkStats::add(ProcessorId peer, Duration sample) {
  std::vector<Duration>& samples = peers_[peer];
  if (samples.size() == kKept) samples.erase(samples.begin());
  samples.push_back(std::max(sample, Duration{1}));
}

void LinkStats::keep_only(const ProcessorSet& live) {
  for (auto at = peers_.begin(); at != peers_.end();) {
    at = live.contains(at->first) ? std::next(at) : peers_.erase(at);
  }
}

std::size_t LinkStats::samples(ProcessorId peer) const {
  const auto at = peers_.find(peer);
  return at == peers_.end() ? 0 : at->second.size();
}

std::optional<Duration> LinkStats::round_trip(ProcessorId peer) const {
  const auto at = peers_.find(peer);
  if (at == peers_.end() || at->second.size() < kEnough) return std::nullopt;
  return minimum(at->second);
}

std::optional<Duration> LinkStats::estimate(ProcessorId peer) const {
  const auto at = peers_.find(peer);
  if (at == peers_.end()) return std::nullopt;
  return minimum(at->second);
}

std::vector<ProcessorId> LinkStats::nearest(std::size_t count) const {
  std::vector<std::pair<Duration, ProcessorId>> measured;
  for (const auto& [peer, samples] : peers_) {
    if (samples.size() >= kEnough) measured.push_back({minimum(samples), peer});
  }
  std::sort(measured.begin(), measured.end());
  measured.resize(std::min(count, measured.size()));
  std::vector<ProcessorId> peers;
  peers.reserve(measured.size());
  for (const auto& [round_trip, peer] : measured) peers.push_back(peer);
  return peers;
}

bool LinkStats::is_near(ProcessorId peer) const {
  const std::vector<ProcessorId> all = nearest(peers_.size());
  const std::optional<Duration> far = round_trip(peer);
  return far && *far * 2 <= *round_trip(all.back());
}

bool LinkStats::knows_near() const {
  const std::vector<ProcessorId> first = nearest(1);
  return !first.empty() && is_near(first.front());
}

}  // namespace phx::overlay
