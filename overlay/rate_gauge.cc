#include "overlay/rate_gauge.h"

#include <algorithm>
#include <utility>

namespace phx::overlay {
namespace {

/// So many messages at least, or halves of them could not be told apart.
constexpr std::uint64_t kParts = 8;
/// Of one message.
constexpr std::size_t kPartMost = std::size_t{64} << 10U;

/// A request for so many bytes is answered in parts of this size.
std::uint64_t part_of(std::uint64_t bytes) {
  return std::clamp<std::uint64_t>((bytes + kParts - 1) / kParts, 1, kPartMost);
}

/// Bytes that say nothing, shared by all messages of them.
Payload nothing(std::uint64_t size) {
  static const Payload bytes{Bytes(kPartMost)};
  return bytes.slice(0, static_cast<std::size_t>(size));
}

}  // namespace

bool fills_beside(std::uint64_t all, std::uint64_t rate, std::uint64_t width) {
  constexpr double kMore = 1.5;
  constexpr double kPart = 0.5;
  const auto traffic = static_cast<double>(all);
  return traffic > kMore * static_cast<double>(rate) &&
         traffic > kPart * static_cast<double>(width);
}

void RateGauge::on_task(Instant now, const std::vector<SurveyTask::Download>& downloads,
                        Outbox& out) {
  stop(out);
  is_busy_ = true;
  for (const SurveyTask::Download& one : downloads) {
    if (queue_.size() < options_.downloads_max) queue_.push_back(one);
  }
  launch(now, out);
}

void RateGauge::launch(Instant now, Outbox& out) {
  while (!queue_.empty()) {
    const SurveyTask::Download next = queue_.front();
    queue_.pop_front();
    if (!live_.contains(next.from)) continue;
    const std::uint64_t bytes = next.bytes == 0 ? options_.first : next.bytes;
    Flight flight;
    flight.from = flight.rate.peer = next.from;
    flight.grows = next.bytes == 0;
    flight.round_trip = next.round_trip;
    flight.bytes = std::min(bytes, options_.most);
    return begin(now, flight, out);
  }
  finish(now, out);
}

/// What it may take longer because of its way. A glance is one request, over a way that was used.
Duration RateGauge::longer(const Flight& flight) {
  return flight.grows ? far_delay(flight.round_trip) : flight.round_trip;
}

void RateGauge::begin(Instant now, const Flight& flight, Outbox& out) {
  flight_ = flight;
  out.arm(Timer::kPatience, now + options_.patience + longer(flight));
  request(now, out);
}

void RateGauge::warm(ProcessorId from, std::uint64_t bytes, Instant due, Outbox& out) {
  const auto found =
      std::find_if(cold_.begin(), cold_.end(), [&](const Cold& one) { return one.from == from; });
  if (found != cold_.end()) {
    found->bytes = std::max(found->bytes, bytes);
  } else {
    cold_.push_back({from, bytes, due});
  }
  if (!is_busy_ && !flight_) out.arm(Timer::kWarm, cold_.front().due);
}

void RateGauge::spare(ProcessorId from) {
  std::erase_if(cold_, [&](const Cold& one) { return one.from == from; });
}

/// Tasks go before.
void RateGauge::launch_cold(Instant now, Outbox& out) {
  if (is_busy_ || flight_) return;
  while (!cold_.empty() && !live_.contains(cold_.front().from)) cold_.pop_front();
  if (cold_.empty()) return;
  const Cold next = cold_.front();
  if (next.due > now) return out.arm(Timer::kWarm, next.due);
  if (const auto until = waits_for_stream(now)) return out.arm(Timer::kWarm, *until);
  cold_.pop_front();
  Flight flight;
  flight.from = next.from;
  flight.is_warming = true;
  flight.bytes = std::min(next.bytes, options_.most);
  begin(now, flight, out);
}

/// Until when, while long messages come. All that is cold waits together.
std::optional<Instant> RateGauge::waits_for_stream(Instant now) {
  const Instant quiet = bulk_at_ + options_.quiet;
  if (quiet <= now) {
    stream_since_.reset();
    return std::nullopt;
  }
  // What is older tells of another stream.
  const Duration waited = stream_since_ ? now - *stream_since_ : Duration::max();
  const bool has_waited = options_.quiet_most <= waited && waited <= 2 * options_.quiet_most;
  if (has_waited && !is_full(waited)) return std::nullopt;
  if (options_.quiet_most <= waited) {
    stream_since_ = now;
    before_stream_ = other_traffic();
  }
  return std::min(quiet, *stream_since_ + options_.quiet_most);
}

/// A stream that fills the interface is not faster for a wider window, but slower for a download.
bool RateGauge::is_full(Duration waited) const {
  const double seconds = static_cast<double>(waited.count()) / 1e9;
  const auto taken = static_cast<double>(other_traffic().since(before_stream_).taken);
  return taken >= options_.full_part * static_cast<double>(interface_) * seconds;
}

void RateGauge::request(Instant now, Outbox& out) {
  Flight& flight = *flight_;
  flight.asked = now;
  flight.number = next_++;
  flight.got = flight.half_got = 0;
  flight.half_taken = traffic_.taken;
  flight.gap = {};
  flight.least_gap = Duration::max();
  flight.half_at.reset();
  out.send(flight.from, Fetch{flight.number, flight.bytes});
}

void RateGauge::on_load(Instant now, ProcessorId from, const Load& load, Outbox& out) {
  if (!flight_ || flight_->from != from || flight_->number < load.number) return;
  Flight& flight = *flight_;
  if (load.number < flight.number) {
    flight.late += load.bytes.size();
    return;
  }
  flight.got += load.bytes.size();
  loads_.taken += load.bytes.size();
  flight.rate.sent = std::max(flight.rate.sent, load.sent);
  if (flight.half_at) {
    const Duration gap = now - std::exchange(flight.last_at, now);
    flight.gap = std::max(flight.gap, gap);
    flight.least_gap = std::min(flight.least_gap, gap);
  }
  if (flight.got >= flight.bytes) return on_complete(now, out);
  if (flight.half_at) {
    const bool is_far = flight.round_trip > Duration{};
    if (flight.grows && !is_far && is_slow(flight, now - *flight.half_at)) on_complete(now, out);
    return;
  }
  if (2 * flight.got < flight.bytes) return;
  flight.half_at = flight.last_at = now;
  flight.half_got = flight.got;
  flight.half_taken = traffic_.taken;
}

/// What the second half may have waited for TCP's window: a round trip at most. If it took two, so
/// that the way is narrow in any case, no more than its longest pause exceeds its shortest.
Duration RateGauge::waited(const Flight& flight, Duration elapsed) {
  if (elapsed < 2 * flight.round_trip) return flight.round_trip;
  return std::min(flight.round_trip, flight.gap - std::min(flight.gap, flight.least_gap));
}

/// It took so long that no more is needed to know; and not because nothing came most of the time.
bool RateGauge::is_slow(const Flight& flight, Duration counted) const {
  return counted >= options_.timed_most && 2 * flight.gap <= counted;
}

std::uint64_t RateGauge::rate_of(std::uint64_t bytes, Duration time) const {
  if (time < options_.instant) return options_.fastest;
  const double seconds = static_cast<double>(time.count()) / 1e9;
  const double rate = static_cast<double>(bytes) / seconds;
  return rate < static_cast<double>(options_.fastest) ? static_cast<std::uint64_t>(rate)
                                                      : options_.fastest;
}

/// Less than two round trips of a long way may have been spent on waiting for TCP's window. Whether
/// more bytes would tell, and are worth it: the way may be much narrower than the interfaces.
bool RateGauge::is_worth_more(const Flight& flight, Duration elapsed) const {
  const Duration enough = 2 * flight.round_trip;
  const auto growth =
      static_cast<Duration::rep>(std::min(options_.far_limit, options_.most) / flight.bytes);
  const std::uint64_t width = interface_ == kUnlimited ? kGigabit : interface_;
  const double wide = options_.far_wide * static_cast<double>(flight.rate.at_least);
  return flight.bytes >= options_.far_most && elapsed < enough && growth > 1 &&
         growth * elapsed >= enough && wide < static_cast<double>(width);
}

/// `before`: the rate of the request before. `counted`: without a round trip.
bool RateGauge::is_sure(const Flight& flight, std::uint64_t before, Duration counted) const {
  const bool is_near = flight.round_trip == Duration{};
  if (is_near ? is_slow(flight, counted) : counted >= options_.timed_most) return true;
  const bool is_timed = counted >= options_.timed_least;
  if (!is_near) {
    return flight.bytes >= options_.far_most || (is_timed && counted >= flight.round_trip);
  }
  const auto [less, more] =
      std::minmax({static_cast<double>(before), static_cast<double>(flight.rate.at_most)});
  return less > 0 && more <= options_.agree * less && (is_timed || counted < options_.instant);
}

void RateGauge::on_complete(Instant now, Outbox& out) {
  Flight& flight = *flight_;
  if (flight.is_warming) return close(now, out);
  const Duration elapsed = flight.half_at ? now - *flight.half_at : Duration{};
  const Duration counted = std::max(elapsed - flight.round_trip, Duration{});
  const std::uint64_t bytes = flight.got - flight.half_got;
  const std::uint64_t before = flight.rate.at_most;
  flight.rate.at_least = rate_of(bytes, elapsed);
  flight.rate.at_most = rate_of(bytes, std::max(elapsed - waited(flight, elapsed), Duration{}));
  flight.rate.taken = flight.half_at ? rate_of(traffic_.taken - flight.half_taken, elapsed) : 0;
  bool is_burst = false;
  const std::uint64_t whole = rate_of(flight.got, now - flight.asked);
  if (flight.round_trip == Duration{} && flight.rate.at_least > options_.burst * whole) {
    flight.rate.at_least = flight.rate.at_most = whole;
    is_burst = true;
  }
  // Where others' traffic fills this interface more bytes tell no more, and cost that traffic time.
  // Of a burst only the time of all bytes counts, and that of others' traffic is not known.
  const bool is_crowded =
      !is_burst && fills_beside(flight.rate.taken, flight.rate.at_least, interface_);
  const bool is_enough =
      is_crowded || flight.bytes >= (is_burst ? options_.burst_most : options_.most);
  const bool is_over = is_enough || (!is_burst && is_sure(flight, before, counted) &&
                                     !is_worth_more(flight, elapsed));
  if (!flight.grows || is_over) return close(now, out);
  const bool is_far = flight.round_trip > Duration{} && flight.bytes < options_.far_most;
  const std::uint64_t growth = is_far ? options_.far_growth : 2;
  flight.bytes = std::min(growth * flight.bytes, options_.most);
  request(now, out);
}

/// What was measured last counts; the next one begins. After a glance that took very long further
/// ones would wait for each other, and what follows them for all.
void RateGauge::close(Instant now, Outbox& out) {
  const bool was_warming = flight_->is_warming;
  const Duration taken = now - flight_->asked - longer(*flight_);
  if (!flight_->grows && flight_->got > 0 && 2 * taken > options_.patience) queue_.clear();
  if (flight_->rate.at_most > 0) rates_.push_back(flight_->rate);
  flight_.reset();
  if (!was_warming) return launch(now, out);
  out.disarm(Timer::kPatience);
  launch_cold(now, out);
}

/// Its time is over. Unless it was measured before, it is no faster than what came, and one more
/// part, of which all but the end may have come; in what is left of the time after round trips.
void RateGauge::close_late(Instant now, Outbox& out) {
  Flight& flight = *flight_;
  const Duration elapsed = now - flight.asked;
  const Duration counted = elapsed - longer(flight);
  const std::uint64_t came = flight.got + flight.late;
  if (came > 0 && counted > Duration{} && flight.rate.at_most == 0 && !flight.is_warming) {
    flight.rate.at_least = rate_of(came, elapsed);
    flight.rate.at_most = rate_of(came + part_of(flight.bytes), counted);
    const Instant since = flight.half_at.value_or(flight.asked);
    flight.rate.taken = rate_of(traffic_.taken - flight.half_taken, now - since);
  }
  close(now, out);
}

void RateGauge::on_fetch(Instant now, ProcessorId from, const Fetch& request, Outbox& out) {
  if (now - served_since_ >= options_.served_in) {
    served_since_ = now;
    served_ = 0;
  }
  std::uint64_t left = std::min(request.bytes, options_.most);
  if (!live_.contains(from) || served_ + left > options_.served_max) return;
  served_ += left;
  loads_.sent += left;
  // What left since the last request, that one among it, leaves beside this one, too.
  std::uint64_t sent = 0;
  const auto last = last_served_.find(from);
  if (last != last_served_.end() && now - last->second.at < options_.patience) {
    sent = rate_of(traffic_.sent - last->second.sent, now - last->second.at);
  }
  last_served_[from] = {now, traffic_.sent};
  const std::uint64_t part = part_of(left);
  while (left > 0) {
    const std::uint64_t size = std::min(part, left);
    out.send(from, Load{request.number, nothing(size), std::exchange(sent, 0)});
    left -= size;
  }
}

void RateGauge::on_timer(Instant now, Timer timer, Outbox& out) {
  if (timer == Timer::kWarm) return launch_cold(now, out);
  if (flight_) close_late(now, out);
}

void RateGauge::on_members(Instant now, const ProcessorSet& live, Outbox& out) {
  live_ = live;
  std::erase_if(last_served_, [&](const auto& one) { return !live.contains(one.first); });
  if (flight_ && !live.contains(flight_->from)) close(now, out);
}

void RateGauge::finish(Instant now, Outbox& out) {
  is_busy_ = false;
  out.disarm(Timer::kPatience);
  out.report(Done{std::exchange(rates_, {})});
  launch_cold(now, out);
}

void RateGauge::stop(Outbox& out) {
  if (flight_) out.disarm(Timer::kPatience);
  if (flight_ && flight_->is_warming) cold_.push_front({flight_->from, flight_->bytes, {}});
  if (!cold_.empty()) out.arm(Timer::kWarm, cold_.front().due);
  is_busy_ = false;
  queue_.clear();
  flight_.reset();
  rates_.clear();
}

void RateGauge::leave(Outbox& out) {
  stop(out);
  cold_.clear();
  out.disarm(Timer::kWarm);
}

}  // namespace phx::overlay
