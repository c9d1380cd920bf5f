#include "overlay/survey/waits.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace phx::overlay {
namespace {

/// Nobody lives that waits longer.
constexpr Duration kMost = 60s;
/// Who waits so many times as long as its neighbours is worse than these.
constexpr int kWorse = 4;

/// Nobody says less.
constexpr Duration kLeast = 16ms;

Duration coarse(Duration wait) {
  if (wait < kLeast) return {};
  Duration step = kLeast;
  while (2 * step <= std::min(wait, kMost)) step *= 2;
  return step;
}

}  // namespace

void Waits::begin(const KnownNetwork& known) {
  for (const auto& [processor, ability] : known.odd) {
    if (ability.wait) waits_.try_emplace(processor, *ability.wait);
  }
}

void Waits::keep_only(const ProcessorSet& live) {
  std::erase_if(waits_, [&](const auto& one) { return !live.contains(one.first); });
}

bool Waits::set(ProcessorId who, Duration wait) {
  Duration& known = waits_[who];
  const Duration before = std::exchange(known, coarse(wait));
  return known != before;
}

/// The median; of two the better one, and whoever is alone is compared with nobody.
Duration Waits::usual(const KnownNetwork::Site& site) const {
  std::vector<Duration> all;
  for (const auto& [who, wait] : waits_) {
    if (wait > Duration{} && site.processors.contains(who)) all.push_back(wait);
  }
  const auto well = static_cast<std::size_t>(site.processors.size()) - all.size();
  const auto middle = static_cast<std::size_t>(site.processors.size() - 1) / 2;
  if (middle < well || site.processors.size() == 1) return {};
  std::sort(all.begin(), all.end());
  return all[middle - well];
}

void Waits::fill(KnownNetwork& network) const {
  std::map<std::size_t, Duration> usual_of;
  std::size_t named = 0;
  for (const auto& [who, wait] : waits_) {
    if (wait == Duration{} || named == kNamedMost) continue;
    const auto site = network.site_of(who);
    if (!site) continue;
    const auto [at, is_new] = usual_of.try_emplace(*site);
    if (is_new) at->second = usual(network.sites[*site]);
    if (wait < kWorse * at->second) continue;
    network.odd[who].wait = wait;
    ++named;
  }
}

KnownNetwork without_waits(KnownNetwork network) {
  for (auto& [processor, ability] : network.odd) ability.wait.reset();
  std::erase_if(network.odd,
                [](const auto& one) { return one.second == KnownNetwork::Ability{}; });
  return network;
}

}  // namespace phx::overlay
