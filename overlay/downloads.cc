#include "overlay/downloads.h"

#include <algorithm>

#include "overlay/base/overloaded.h"

namespace phx::overlay {

void Downloads::on_members(Instant now, const ProcessorSet& live, Outbox& out) {
  live_ = live;
  left_ = options_.candidates;
  rates_.keep_only(live);
  std::erase_if(queue_, [&](const Wanted& one) { return !live.contains(one.peer); });
  std::erase_if(waiting_, [&](const auto& one) { return !live.contains(one.first); });
  if (turn_ && !live.contains(*turn_)) next_turn(now, out);
  RateGauge::Outbox effects;
  gauge_.on_members(now, live, effects);
  pump(now, effects, out);
}

void Downloads::request(Instant now, ProcessorId peer, Duration round_trip, bool is_parent,
                        Outbox& out) {
  const auto is_same = [&](const Wanted& one) { return one.peer == peer; };
  const bool is_queued = flight_ == peer || std::any_of(queue_.begin(), queue_.end(), is_same);
  if (is_queued || queue_.size() >= options_.queue_max || !live_.contains(peer)) return;
  if (rates_.is_fresh(peer, now, options_.fresh) || (!is_parent && left_ == 0)) return;
  if (!is_parent) --left_;
  const Wanted wanted{peer, round_trip < options_.far ? Duration{} : round_trip, now};
  is_parent ? queue_.push_front(wanted) : queue_.push_back(wanted);
  launch(now, out);
}

void Downloads::launch(Instant now, Outbox& out) {
  if (flight_ || queue_.empty()) return;
  const Wanted next = queue_.front();
  const Instant due = std::min(bulk_at_ + options_.quiet, next.since + options_.quiet_most);
  if (now < due) {
    out.arm(Timer::kQuiet, due);
    return;
  }
  queue_.pop_front();
  flight_ = next.peer;
  RateGauge::Outbox effects;
  gauge_.on_task(now, {{next.peer, 0, next.round_trip}}, effects);
  pump(now, effects, out);
}

/// Nothing more is wanted: it is the next one's turn there. What passed beside the download counts
/// as well: it came through the same interfaces.
void Downloads::finish(Instant now, const RateGauge::Done& done, Outbox& out) {
  if (!flight_) return;
  const ProcessorId peer = *flight_;
  flight_.reset();
  if (live_.contains(peer)) {
    out.send(peer, Fetch{0, 0});
    for (const SurveyReport::Rate& rate : done.rates) {
      const std::uint64_t beside = std::min(rate.taken, rate.sent);
      const std::uint64_t least = std::max(rate.at_least, beside);
      rates_.set(peer, least, std::max(rate.at_most, least), now);
      out.report(Measured{peer});
    }
  }
  launch(now, out);
}

void Downloads::on_message(Instant now, ProcessorId from, const Fetch& m, Outbox& out) {
  if (!live_.contains(from)) return;
  if (turn_ && turn_ != from) {
    std::erase_if(waiting_, [&](const auto& one) { return one.first == from; });
    if (m.bytes > 0 && waiting_.size() < options_.waiting_max) waiting_.push_back({from, m});
  } else if (m.bytes > 0) {
    serve(now, from, m, out);
  } else if (turn_) {
    next_turn(now, out);
  }
}

void Downloads::serve(Instant now, ProcessorId asker, const Fetch& m, Outbox& out) {
  turn_ = asker;
  out.arm(Timer::kTurn, now + options_.turn);
  RateGauge::Outbox effects;
  gauge_.on_fetch(now, asker, m, effects);
  pump(now, effects, out);
}

void Downloads::next_turn(Instant now, Outbox& out) {
  turn_.reset();
  out.disarm(Timer::kTurn);
  if (waiting_.empty()) return;
  const auto [asker, fetch] = waiting_.front();
  waiting_.pop_front();
  serve(now, asker, fetch, out);
}

void Downloads::on_message(Instant now, ProcessorId from, const Load& m, Outbox& out) {
  RateGauge::Outbox effects;
  gauge_.on_load(now, from, m, effects);
  pump(now, effects, out);
}

void Downloads::on_timer(Instant now, Timer timer, Outbox& out) {
  if (timer == Timer::kQuiet) return launch(now, out);
  if (timer == Timer::kTurn) return next_turn(now, out);
  RateGauge::Outbox effects;
  gauge_.on_timer(now, RateGauge::Timer::kPatience, effects);
  pump(now, effects, out);
}

void Downloads::stop(Outbox& out) {
  for (const Timer timer : {Timer::kPatience, Timer::kTurn, Timer::kQuiet}) out.disarm(timer);
  RateGauge::Outbox effects;
  gauge_.stop(effects);
  queue_.clear();
  flight_.reset();
  turn_.reset();
  waiting_.clear();
  live_ = {};
}

void Downloads::pump(Instant now, RateGauge::Outbox& from, Outbox& out) {
  for (auto& item : from.take()) {
    std::visit(
        Overloaded{
            [&](RateGauge::Outbox::Send& send) { out.send(send.to, std::move(send.message)); },
            [&](const RateGauge::Outbox::Arm& arm) {
              arm.at ? out.arm(Timer::kPatience, *arm.at) : out.disarm(Timer::kPatience);
            },
            [&](const RateGauge::Done& done) { finish(now, done, out); }},
        item);
  }
}

}  // namespace phx::overlay
