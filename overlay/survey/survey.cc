#include "overlay/survey/survey.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "overlay/base/overloaded.h"
#include "overlay/base/rng.h"

namespace phx::overlay {
namespace {

/// Nobody gets so far who adds one at a time. A surveyor goes on from what a member says, so it is
/// believed beyond that; when it has gone, such numbers have gone with it.
constexpr std::uint64_t kVersionHeard = std::uint64_t{1} << 32U;
constexpr std::uint64_t kVersionMost = std::uint64_t{1} << 33U;
/// No mesh has so many processors, gone ones included that a network may still name.
constexpr std::uint64_t kProcessorsMost = std::uint64_t{1} << 20U;

}  // namespace

Survey::Survey(ProcessorId self, const SurveyOptions& options, std::uint64_t seed)
    : self_(self),
      gauge_(self, options.gauge, Rng(seed).fork("gauge")),
      rate_gauge_(options.rates),
      standstills_(options.standstills, Rng(seed).fork("standstills")),
      surveyor_(self, options.surveyor, Rng(seed).fork("surveyor")),
      live_{self},
      options_(options),
      told_(kNobody) {}

void Survey::on_members(Instant now, const ProcessorSet& live, Outbox& out) {
  const ProcessorId surveyor = live.empty() ? kNobody : live.front();
  const bool forgets = surveyor != told_ && version_.number >= kVersionHeard;
  if (forgets) version_ = {};
  live_ = live;
  std::erase_if(heard_, [&](const auto& one) { return !live.contains(one.first); });
  std::erase_if(slow_, [&](const auto& one) { return !live.contains(one.first); });
  Gauge::Outbox measured;
  gauge_.on_members(now, live, measured);
  absorb(now, measured, out);
  RateGauge::Outbox downloaded;
  if (report_ && !live.contains(report_->asker)) {
    report_.reset();
    rate_gauge_.stop(downloaded);
  }
  rate_gauge_.on_members(now, live, downloaded);
  absorb(downloaded, out);
  Surveyor::Outbox directed;
  surveyor_.on_members(now, live, directed);
  const bool directs = surveyor == self_;
  if (directs && !surveyor_.is_active()) surveyor_.begin(now, network_, directed);
  if (directs && forgets) surveyor_.insist(now, directed);
  if (!directs && surveyor_.is_active()) surveyor_.stop(directed);
  absorb(now, directed, out);
  if (std::exchange(told_, surveyor) == surveyor || surveyor == kNobody) return;
  // The sender of the first message makes the connection: maybe the surveyor could not.
  tell_surveyor(now, {.round = 0, .version = version_, .wait = standstills_.wait()}, out);
}

void Survey::tell_surveyor(Instant now, const SurveyReport& report, Outbox& out) {
  told_ == self_ ? handle(now, self_, report, out) : out.send(told_, report);
}

bool is_of_survey(const Message& message) {
  return std::holds_alternative<Ping>(message) || std::holds_alternative<SurveyTask>(message) ||
         std::holds_alternative<SurveyReport>(message) ||
         std::holds_alternative<NetworkUpdate>(message) || std::holds_alternative<Fetch>(message) ||
         std::holds_alternative<Load>(message);
}

void Survey::on_message(Instant now, ProcessorId from, const Message& message, Outbox& out) {
  std::visit(Overloaded{[&](const Ping& m) { handle(now, from, m, out); },
                        [&](const SurveyTask& m) { handle(now, from, m, out); },
                        [&](const SurveyReport& m) { handle(now, from, m, out); },
                        [&](const NetworkUpdate& m) { handle(now, from, m, out); },
                        [&](const Fetch& m) { handle(now, from, m, out); },
                        [&](const Load& m) { handle(now, from, m, out); }, [](const auto&) {}},
             message);
}

void Survey::handle(Instant now, ProcessorId from, const Ping& m, Outbox& out) {
  Gauge::Outbox measured;
  gauge_.on_ping(now, from, m, measured);
  absorb(now, measured, out);
}

void Survey::handle(Instant now, ProcessorId from, const SurveyTask& m, Outbox& out) {
  if (!live_.contains(from) || is_leaving_) return;
  // It replaces the one under way, if there is one.
  RateGauge::Outbox stopped;
  rate_gauge_.stop(stopped);
  absorb(stopped, out);
  report_.reset();
  downloads_ = m.downloads;
  traffic_at_task_ = rate_gauge_.other_traffic();
  task_at_ = now;
  Gauge::Outbox measured;
  gauge_.on_task(now, from, m, measured);
  absorb(now, measured, out);
}

void Survey::handle(Instant now, ProcessorId from, const Fetch& m, Outbox& out) {
  RateGauge::Outbox served;
  rate_gauge_.on_fetch(now, from, m, served);
  absorb(served, out);
}

void Survey::handle(Instant now, ProcessorId from, const Load& m, Outbox& out) {
  RateGauge::Outbox downloaded;
  rate_gauge_.on_load(now, from, m, downloaded);
  absorb(downloaded, out);
}

void Survey::handle(Instant now, ProcessorId from, const SurveyReport& m, Outbox& out) {
  Surveyor::Outbox directed;
  if (m.round == 0) {
    surveyor_.on_ready(now, from, directed);
    for (const SurveyReport::Rate& rate : m.rates) {
      surveyor_.on_complaint(now, {rate.peer, from}, {rate.at_least, rate.at_most, 0, 0}, directed);
    }
    if (m.wait) surveyor_.on_wait(now, from, *m.wait, directed);
    if (m.version < version_) out.send(from, NetworkUpdate{version_, network_});
    if (version_ < m.version && m.version.number < kVersionHeard) {
      // The former surveyor said more than has come here. What this one says counts after that.
      version_.number = m.version.number;
      surveyor_.insist(now, directed);
    }
  } else {
    surveyor_.on_report(now, from, m, directed);
  }
  absorb(now, directed, out);
}

/// What a surveyor says: nothing that it does not measure, and no more than planners can bear.
bool Survey::is_believable(ProcessorId from, const NetworkUpdate& m) const {
  const KnownNetwork& network = m.network;
  const bool is_heard = m.version.number < kVersionHeard;
  // Who has not forgotten such a number yet may tell it once more.
  const bool is_own = m.version.number < kVersionMost && m.version.author == from;
  return from == told_ && (is_heard || is_own) &&
         network.sites.size() <= options_.surveyor.sites.sites_max && network.pairs.empty() &&
         network.check().ok() && network.processors().size() <= kProcessorsMost;
}

void Survey::handle(Instant now, ProcessorId from, const NetworkUpdate& m, Outbox& out) {
  if (m.version <= version_ || !is_believable(from, m)) return;
  version_ = m.version;
  network_ = m.network;
  on_network(now, out);
}

/// What was heard of ways that nobody had measured counts now.
void Survey::on_network(Instant now, Outbox& out) {
  if (!given_) out.report(NetworkChanged{});
  rate_gauge_.on_interface(network_.ability(self_).in_bytes_per_second.value_or(kUnlimited));
  for (const auto& [from, heard] : heard_) {
    if (!heard.is_warm && !is_leaving_) warm(now, from, out);
  }
}

void Survey::on_timer(Instant now, const Timer& timer, Outbox& out) {
  std::visit(Overloaded{[&](Gauge::Timer due) {
                          Gauge::Outbox measured;
                          gauge_.on_timer(now, due, measured);
                          absorb(now, measured, out);
                        },
                        [&](RateGauge::Timer due) {
                          RateGauge::Outbox downloaded;
                          rate_gauge_.on_timer(now, due, downloaded);
                          absorb(downloaded, out);
                        },
                        [&](Standstills::Timer) {
                          Standstills::Outbox looked;
                          standstills_.on_timer(now, looked);
                          absorb(now, looked, out);
                        },
                        [&](Surveyor::Timer due) {
                          Surveyor::Outbox directed;
                          surveyor_.on_timer(now, due, directed);
                          absorb(now, directed, out);
                        }},
             timer.of);
}

/// What has to be downloaded, so that a window grows to as much; 0: the way is short or narrow.
/// Nothing: nobody knows how narrow it is, and many may want that of one slow processor.
std::optional<std::uint64_t> Survey::warming(ProcessorId from, std::uint64_t bytes) const {
  const KnownNetwork::Way way = network_.way(from, self_);
  const Duration round_trip = 2 * way.latency.value_or(Duration{});
  if (round_trip < options_.warm_far) return 0;
  if (!way.bytes_per_second) return std::nullopt;
  std::uint64_t wanted = std::min(options_.warm_times * bytes, options_.warm_most);
  // More than twice what is under way when it is full makes no window wider.
  const double seconds = static_cast<double>(round_trip.count()) / 1e9;
  const double rate = static_cast<double>(RateFinder::expected({self_, from}, network_));
  const double full = 2 * seconds * rate;
  if (full < static_cast<double>(wanted)) wanted = static_cast<std::uint64_t>(full);
  return wanted < options_.warm_least ? 0 : wanted;
}

void Survey::on_heard(Instant now, ProcessorId from, std::uint64_t bytes, Outbox& out) {
  rate_gauge_.on_bulk(now);
  if (!heard_.contains(from) && !can_be_warmer(from)) return;
  Heard& heard = heard_[from];
  if (now - heard.begun_at > options_.warm_pause) {
    heard.begun_at = now;
    heard.burst = 0;
  }
  heard.burst += bytes;
  expect(now, from, heard.burst, out);
  if (heard.burst >= options_.warm_most) rate_gauge_.spare(from);
}

void Survey::expect(Instant now, ProcessorId from, std::uint64_t bytes, Outbox& out) {
  if (!can_be_warmer(from)) return;
  Heard& heard = heard_[from];
  const std::uint64_t rounded = std::bit_ceil(bytes);  // Few downloads for what grows little.
  if (rounded <= heard.bytes) return;
  heard.bytes = std::min(rounded, warmed_most());
  warm(now, from, out);
}

bool Survey::can_be_warmer(ProcessorId from) const {
  const auto found = heard_.find(from);
  if (found != heard_.end() && found->second.bytes >= warmed_most()) return false;
  return !is_leaving_ && live_.contains(from) && network_.site_of(self_) && network_.site_of(from);
}

void Survey::warm(Instant now, ProcessorId from, Outbox& out) {
  Heard& heard = heard_[from];
  const auto wanted = warming(from, heard.bytes);
  heard.is_warm = wanted.has_value();
  if (wanted.value_or(0) == 0) return;
  RateGauge::Outbox downloaded;
  rate_gauge_.warm(from, *wanted, now + options_.warm_pause, downloaded);
  absorb(downloaded, out);
}

/// A link may be slow because its narrow place carries other traffic as well. So the surveyor has
/// it measured. When all links fill the own interface there is no need to ask.
void Survey::on_paced(Instant now, ProcessorId peer, const Pace& pace, Outbox& out) {
  const auto known = static_cast<double>(RateFinder::expected({peer, self_}, network_));
  const auto own =
      static_cast<double>(network_.ability(self_).out_bytes_per_second.value_or(kUnlimited));
  if (known >= options_.slow_known_most) return;
  if (static_cast<double>(pace.one) >= options_.slow_part * known) return;
  if (static_cast<double>(pace.all) >= options_.full_part * own) return;
  if (is_leaving_ || !live_.contains(peer) || told_ == kNobody) return;
  const auto last = slow_.find(peer);
  if (last != slow_.end() && now < last->second + options_.slow_again) return;
  slow_[peer] = now;
  tell_surveyor(now, {.round = 0, .version = version_, .rates = {{peer, pace.one, pace.one, 0, 0}}},
                out);
}

void Survey::on_late(Instant now, Duration late, Outbox& out) {
  if (is_leaving_ || told_ == kNobody) return;
  Standstills::Outbox looked;
  standstills_.on_late(now, late, looked);
  absorb(now, looked, out);
}

void Survey::leave(Instant now, Outbox& out) {
  is_leaving_ = true;
  Standstills::Outbox looked;
  standstills_.stop(looked);
  absorb(now, looked, out);
  RateGauge::Outbox downloaded;
  rate_gauge_.leave(downloaded);
  absorb(downloaded, out);
  Gauge::Outbox measured;
  gauge_.stop(measured);
  absorb(now, measured, out);
  Surveyor::Outbox directed;
  surveyor_.stop(directed);
  absorb(now, directed, out);
}

template <class From, class OnEvent>
void Survey::absorb_items(From& from, Outbox& out, OnEvent on_event) {
  for (auto& item : from.take()) {
    std::visit(Overloaded{[&](typename From::Send& m) { out.send(m.to, std::move(m.message)); },
                          [&](typename From::Arm& arm) {
                            arm.at ? out.arm({arm.timer}, *arm.at) : out.disarm({arm.timer});
                          },
                          [&](auto& event) { on_event(event); }},
               item);
  }
}

void Survey::absorb(Instant now, Gauge::Outbox& from, Outbox& out) {
  absorb_items(from, out, [&](Gauge::Done& done) {
    report_ = std::move(done);
    if (!report_->report.round_trips.empty()) {
      const Traffic passed = rate_gauge_.other_traffic().since(traffic_at_task_);
      report_->report.traffic =
          rate_gauge_.rate_of(std::max(passed.taken, passed.sent), now - task_at_);
    }
    RateGauge::Outbox downloaded;
    rate_gauge_.on_task(now, std::exchange(downloads_, {}), downloaded);
    absorb(downloaded, out);
  });
}

void Survey::absorb(RateGauge::Outbox& from, Outbox& out) {
  absorb_items(from, out, [&](RateGauge::Done& done) {
    if (!report_) return;
    report_->report.rates = std::move(done.rates);
    out.send(report_->asker, std::move(report_->report));
    report_.reset();
  });
}

void Survey::absorb(Instant now, Surveyor::Outbox& from, Outbox& out) {
  absorb_items(from, out, [&](const Surveyor::Found&) { publish(now, out); });
}

void Survey::absorb(Instant now, Standstills::Outbox& from, Outbox& out) {
  absorb_items(from, out, [&](const Standstills::News&) {
    if (told_ == kNobody) return;
    tell_surveyor(now, {.round = 0, .version = version_, .wait = standstills_.wait()}, out);
  });
}

void Survey::publish(Instant now, Outbox& out) {
  version_ = {version_.number + 1, self_};
  network_ = surveyor_.network();
  for (const ProcessorId processor : live_.ids()) {
    if (processor != self_) out.send(processor, NetworkUpdate{version_, network_});
  }
  on_network(now, out);
}

void Survey::give(const KnownNetwork& network, Outbox& out) {
  given_ = network;
  out.report(NetworkChanged{});
}

}  // namespace phx::overlay
