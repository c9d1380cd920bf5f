#include "overlay/survey/site_finder.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace phx::overlay {
namespace {

/// Distances within a site differ by so much.
constexpr int kAlike = 3;

/// The one exceeds the other by so much that it is worth a word.
bool is_much(Duration one, Duration other) {
  constexpr double kMuch = 1.25;
  return static_cast<double>(one.count()) > kMuch * static_cast<double>(other.count());
}

/// REQUIRES some. Half of the values are not above it.
Duration median(std::vector<Duration> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A round trip passes two ends twice.
Duration one_way(Duration round_trip, Duration overhead) {
  return std::max(Duration{1us}, round_trip / 2 - 2 * overhead);
}

/// The site of each processor, found once.
class Lookup {
 public:
  using Find = std::function<std::optional<std::size_t>(ProcessorId)>;
  explicit Lookup(Find find) : find_(std::move(find)) {}
  std::optional<std::size_t> operator()(ProcessorId processor) {
    const auto [at, is_new] = known_.try_emplace(processor);
    if (is_new) at->second = find_(processor);
    return at->second;
  }

 private:
  Find find_;
  std::map<ProcessorId, std::optional<std::size_t>> known_;
};

}  // namespace

void SiteFinder::begin(const KnownNetwork& network) {
  sites_.clear();
  between_.clear();
  longer_.clear();
  overhead_ = network.usual.overhead;
  const Duration overhead = overhead_.value_or(Duration{});
  const auto round_trip = [&](Duration latency) { return 2 * latency + 4 * overhead; };
  for (const KnownNetwork::Site& known : network.sites) {
    Site site{known.processors, std::nullopt};
    if (known.latency) site.round_trip = round_trip(*known.latency);
    sites_.push_back(std::move(site));
  }
  for (const auto& [ends, way] : network.between) {
    if (ends.first < ends.second && way.latency) between_[ends] = round_trip(*way.latency);
  }
}

void SiteFinder::keep_only(const ProcessorSet& live) {
  for (Site& site : sites_) site.processors = site.processors.common(live);
  forget_empty();
}

void SiteFinder::forget_empty() {
  std::vector<Site> kept;
  std::map<std::size_t, std::size_t> moved;
  const std::size_t count = sites_.size();
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    if (sites_[i].processors.empty()) continue;
    moved[i] = kept.size();
    kept.push_back(std::move(sites_[i]));
  }
  sites_ = std::move(kept);
  if (moved.size() == count) return;
  const auto renumbered = [&](const std::map<Sites, Duration>& ways) {
    std::map<Sites, Duration> result;
    for (const auto& [ends, distance] : ways) {
      const auto one = moved.find(ends.first);
      const auto other = moved.find(ends.second);
      if (one != moved.end() && other != moved.end()) {
        result[{one->second, other->second}] = distance;
      }
    }
    return result;
  };
  between_ = renumbered(between_);
  longer_ = renumbered(longer_);
}

void SiteFinder::on_machines(const std::vector<ProcessorSet>& machines) {
  speakers_.clear();
  for (const ProcessorSet& machine : machines) {
    for (const ProcessorId one : machine.ids()) speakers_[one] = machine.front();
  }
}

ProcessorId SiteFinder::speaker(ProcessorId processor) const {
  const auto found = speakers_.find(processor);
  return found == speakers_.end() ? processor : found->second;
}

/// Of a machine, by whomever of it is placed.
std::optional<std::size_t> SiteFinder::site_at(ProcessorId speaker) const {
  const auto found = machines_.find(speaker);
  return found == machines_.end() ? site_of(speaker) : found->second;
}

void SiteFinder::place(ProcessorId processor, std::size_t site) {
  sites_[site].processors.insert(processor);
  if (speakers_.contains(processor)) machines_.try_emplace(speaker(processor), site);
}

void SiteFinder::read(const std::vector<Sample>& samples) {
  round_trips_.clear();
  best_.clear();
  machines_.clear();
  for (const auto& [one, speaker] : speakers_) {
    if (const auto site = site_of(one)) machines_.try_emplace(speaker, *site);
  }
  for (const Sample& sample : samples) {
    const Pair ends{speaker(sample.from), speaker(sample.to)};
    for (const auto& [one, other] : {ends, Pair{ends.second, ends.first}}) {
      const auto [at, is_new] = round_trips_.try_emplace({one, other}, sample.round_trip);
      at->second = std::min(at->second, sample.round_trip);
      const auto [best, is_first] = best_.try_emplace(one, sample.round_trip);
      best->second = std::min(best->second, sample.round_trip);
    }
  }
}

Duration SiteFinder::near(ProcessorId one, ProcessorId other) const {
  Duration least = std::min(best_.at(speaker(one)), best_.at(speaker(other)));
  for (const ProcessorId end : {one, other}) {
    const auto site = site_of(end);
    if (site) least = std::min(least, sites_[*site].round_trip.value_or(least));
  }
  return std::clamp(kAlike * least, options_.near_least, options_.near_most);
}

std::optional<std::size_t> SiteFinder::nearest(ProcessorId processor, bool however_far) const {
  const ProcessorId self = speaker(processor);
  if (const auto beside = site_at(self)) return beside;
  std::optional<std::size_t> chosen;
  Duration least = kForever;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const ProcessorId landmark = sites_[i].processors.front();
    const auto found = round_trips_.find({self, speaker(landmark)});
    if (found == round_trips_.end() || found->second >= least) continue;
    if (!however_far && found->second > near(processor, landmark)) continue;
    least = found->second;
    chosen = i;
  }
  return chosen;
}

void SiteFinder::on_round(const std::vector<ProcessorId>& candidates, const ProcessorSet& measured,
                          const std::vector<Sample>& samples) {
  read(samples);
  ProcessorSet others = measured.minus(placed());
  for (const ProcessorId candidate : candidates) {
    if (!measured.contains(candidate) || site_of(candidate)) continue;
    others.erase(candidate);
    const bool is_full = sites_.size() >= options_.sites_max;
    if (const auto site = nearest(candidate, is_full)) {
      place(candidate, *site);
    } else if (knows_all_landmarks(candidate)) {
      sites_.push_back({{}, std::nullopt});
      place(candidate, sites_.size() - 1);
    }
  }
  // Landmarks must stay who they were while this round's samples are read.
  std::vector<std::pair<ProcessorId, std::size_t>> joining;
  for (const ProcessorId processor : others.ids()) {
    if (const auto site = nearest(processor, sites_.size() >= options_.sites_max)) {
      joining.emplace_back(processor, *site);
    }
  }
  for (const auto& [processor, site] : joining) place(processor, site);
  static_cast<void>(adopt());
}

/// Else it may be near the one that it has not measured.
bool SiteFinder::knows_all_landmarks(ProcessorId candidate) const {
  return std::ranges::all_of(sites_, [&](const Site& site) {
    return round_trips_.contains({speaker(candidate), speaker(site.processors.front())});
  });
}

void SiteFinder::on_look(const std::vector<Sample>& samples, const ProcessorSet& older) {
  read(samples);
  std::map<Sites, Look> looks = between_sites(samples);
  for (auto near = joinable(looks, older); near; near = joinable(looks, older)) {
    learn(near->pair, std::min(near->least, between(near->pair).value_or(near->least)));
    join(near->pair);
    looks = after_join(std::move(looks), near->pair);
  }
  round_trips_.clear();
  best_.clear();
}

/// A quarter of some round trips are 1.5 times the shortest.
bool SiteFinder::Look::has_rows() const {
  constexpr std::size_t kSome = 4;
  return round_trips.size() >= kSome &&
         2 * round_trips[round_trips.size() * 3 / 4] >= 3 * round_trips.front();
}

std::map<SiteFinder::Sites, SiteFinder::Look> SiteFinder::between_sites(
    const std::vector<Sample>& samples) const {
  std::map<Sites, Look> looks;
  Lookup site([this](ProcessorId processor) { return site_of(processor); });
  for (const Sample& sample : samples) {
    const auto one = site(sample.from);
    const auto other = site(sample.to);
    if (!one || !other || one == other) continue;
    Look& look = looks[{std::min(*one, *other), std::max(*one, *other)}];
    look.round_trips.push_back(sample.round_trip);
    const bool may_be_near = !look.is_near && sample.round_trip <= options_.near_most;
    if (may_be_near) look.is_near = sample.round_trip <= near(sample.from, sample.to);
  }
  for (auto& [pair, look] : looks) std::ranges::sort(look.round_trips);
  return looks;
}

/// Positions behind the one that has joined another move up.
std::map<SiteFinder::Sites, SiteFinder::Look> SiteFinder::after_join(std::map<Sites, Look> looks,
                                                                     const Sites& pair) {
  const auto [kept, joined] = pair;
  const auto position = [&, kept = kept, joined = joined](std::size_t before) {
    return before == joined ? kept : before - (before > joined ? 1 : 0);
  };
  std::map<Sites, Look> result;
  for (auto& [ends, look] : looks) {
    const auto [one, other] = std::minmax({position(ends.first), position(ends.second)});
    if (one == other) continue;
    Look& whole = result[{one, other}];
    std::vector<Duration> both;
    std::ranges::merge(whole.round_trips, look.round_trips, std::back_inserter(both));
    whole = {std::move(both), whole.is_near || look.is_near};
  }
  return result;
}

/// The least counts: what stands in front of an interface makes a round trip longer only. Two older
/// sites stay two, also if somebody is near both.
std::optional<SiteFinder::Joinable> SiteFinder::joinable(const std::map<Sites, Look>& measured,
                                                         const ProcessorSet& older) const {
  const auto is_older = [&](std::size_t site) {
    return !sites_[site].processors.common(older).empty();
  };
  // Of another older site it would be as far as that one is.
  const auto most_beside_rows = [&](std::size_t site) {
    Duration most = options_.near_busy;
    for (const auto& [ends, distance] : between_) {
      const bool is_of_it = ends.first == site || ends.second == site;
      if (is_of_it && is_older(ends.first) && is_older(ends.second)) {
        most = std::min(most, distance * 3 / 4);
      }
    }
    return most;
  };
  std::optional<Joinable> nearest;
  for (const auto& [pair, look] : measured) {
    const Duration least = look.round_trips.front();
    const bool may_be = look.is_near || (look.has_rows() && least <= options_.near_busy);
    if (!may_be || (is_older(pair.first) && is_older(pair.second))) continue;
    if (nearest &&
        std::pair(!nearest->is_near, nearest->least) <= std::pair(!look.is_near, least)) {
      continue;
    }
    const bool is_one =
        look.is_near || (is_older(pair.first) && least <= most_beside_rows(pair.first));
    if (is_one) nearest = {pair, least, look.is_near};
  }
  return nearest;
}

bool SiteFinder::on_again(const std::vector<Sample>& samples) {
  read(samples);
  const bool is_changed = adopt();
  const auto near = [this] {
    return std::ranges::find_if(between_, [&](const auto& way) { return are_near(way.first); });
  };
  bool is_joined = false;
  for (auto found = near(); found != between_.end(); found = near()) {
    join(found->first);
    is_joined = true;
  }
  return is_changed || is_joined;
}

/// Whoever measured badly when it came is a site of its own, until somebody measures better.
bool SiteFinder::are_near(const Sites& pair) const {
  Duration least = between_.at(pair);
  for (const std::size_t site : {pair.first, pair.second}) {
    least = std::min(least, sites_[site].round_trip.value_or(least));
    for (const auto& [ends, distance] : between_) {
      if (ends.first == site || ends.second == site) least = std::min(least, distance);
    }
  }
  return between_.at(pair) <= std::clamp(kAlike * least, options_.near_least, options_.near_most);
}

/// It stays as far from others as the older one was, so a row of sites does not become one.
void SiteFinder::join(const Sites& pair) {
  const auto [kept, joined] = pair;
  for (std::size_t other = 0; other < sites_.size(); ++other) {
    if (other == kept || other == joined) continue;
    const auto distance = between({std::min(joined, other), std::max(joined, other)});
    if (distance) between_.try_emplace({std::min(kept, other), std::max(kept, other)}, *distance);
  }
  std::optional<Duration>& round_trip = sites_[kept].round_trip;
  if (!round_trip) round_trip = sites_[joined].round_trip;
  if (!round_trip) round_trip = between(pair);
  sites_[kept].processors = sites_[kept].processors.united(sites_[joined].processors);
  sites_[joined].processors = {};
  forget_empty();
}

bool SiteFinder::adopt() {
  bool is_changed = false;
  for (const auto& [pair, distance] : distances()) {
    const auto before = longer_.extract(pair);
    const auto known = pair.first == pair.second ? sites_[pair.first].round_trip : between(pair);
    if (!known || is_much(*known, distance)) {
      learn(pair, distance);
      is_changed = true;
    } else if (is_much(distance, *known)) {
      if (before.empty()) {
        longer_[pair] = distance;
      } else {
        learn(pair, std::min(distance, before.mapped()));
        is_changed = true;
      }
    }
  }
  round_trips_.clear();
  best_.clear();
  return is_changed;
}

std::optional<Duration> SiteFinder::between(const Sites& pair) const {
  const auto found = between_.find(pair);
  if (found == between_.end()) return std::nullopt;
  return found->second;
}

void SiteFinder::learn(const Sites& pair, Duration distance) {
  if (pair.first == pair.second) {
    sites_[pair.first].round_trip = distance;
  } else {
    between_[pair] = distance;
  }
}

std::map<SiteFinder::Sites, Duration> SiteFinder::distances() const {
  std::map<Sites, std::vector<Duration>> found;
  Lookup site([this](ProcessorId processor) { return site_at(processor); });
  for (const auto& [ends, round_trip] : round_trips_) {
    const auto one = site(ends.first);
    const auto other = site(ends.second);
    if (!one || !other) continue;
    std::vector<Duration>& kept = found[{std::min(*one, *other), std::max(*one, *other)}];
    if (kept.size() < options_.samples_max) kept.push_back(round_trip);
  }
  std::map<Sites, Duration> result;
  for (auto& [pair, round_trips] : found) result[pair] = median(std::move(round_trips));
  return result;
}

void SiteFinder::on_overheads(std::vector<Duration> overheads) {
  if (overheads.empty()) return;
  const Duration found = median(std::move(overheads));
  if (!overhead_ || is_much(found, *overhead_) || is_much(*overhead_, found)) overhead_ = found;
}

std::optional<std::size_t> SiteFinder::site_of(ProcessorId processor) const {
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    if (sites_[i].processors.contains(processor)) return i;
  }
  return std::nullopt;
}

std::vector<ProcessorId> SiteFinder::landmarks() const {
  std::vector<ProcessorId> result;
  for (const Site& site : sites_) result.push_back(site.processors.front());
  return result;
}

ProcessorSet SiteFinder::placed() const {
  ProcessorSet result;
  for (const Site& site : sites_) result = result.united(site.processors);
  return result;
}

KnownNetwork SiteFinder::network() const {
  const Duration overhead = overhead_.value_or(Duration{});
  KnownNetwork result;
  for (const Site& site : sites_) {
    KnownNetwork::Site known{"", site.processors, std::nullopt};
    if (site.round_trip) known.latency = one_way(*site.round_trip, overhead);
    result.sites.push_back(std::move(known));
  }
  for (const auto& [ends, distance] : between_) {
    const KnownNetwork::Way way{one_way(distance, overhead), std::nullopt};
    result.between[ends] = way;
    result.between[{ends.second, ends.first}] = way;
  }
  result.usual.overhead = overhead_;
  return result;
}

}  // namespace phx::overlay
