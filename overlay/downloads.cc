#include "overlay/downloads.h"

#include <algorithm>

#include "overlay/base/overloaded.h"

namespace phx::overlay {

void Downloads::on_members(Instant now, const ProcessorSet& live, Outbox& out) {
  live_ = live;
  left_ = options_.candidates;
  rates_.keep_only(live);
  failures_.clear();
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
  const auto failed = failures_.find(peer);
  const bool has_failed = failed != failures_.end();
  if (has_failed && failed->second.count >= options_.failures_max) return;
  if (!is_parent) --left_;
  const Instant since = has_failed ? std::max(now, failed->second.until) : now;
  const Wanted wanted{peer, round_trip < options_.far ? Duration{} : round_trip, since};
  is_parent ? queue_.push_front(wanted) : queue_.push_back(wanted);
  launch(now, out);
}

void Downloads::launch(Instant now, Outbox& out) {
  if (flight_ || queue_.empty()) return;
  // Those that have failed are passed by while they pause.
  auto first = std::find_if(queue_.begin(), queue_.end(),
                            [&](const Wanted& one) { return one.since <= now; });
  if (first == queue_.end()) {
    first = std::min_element(queue_.begin(), queue_.end(),
                             [](const Wanted& a, const Wanted& b) { return a.since < b.since; });
  }
  const Wanted next = *first;
  const Instant quiet = std::min(bulk_at_ + options_.quiet, next.since + options_.quiet_most);
  const Instant due = std::max(next.since, quiet);
  if (now < due) {
    out.arm(Timer::kQuiet, due);
    return;
  }
  queue_.erase(first);
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
    if (done.rates.empty()) {
      Failures& failures = failures_[peer];
      failures.until = now + options_.pause * (1U << failures.count++);
      out.report(Failed{peer});
    } else {
      failures_.erase(peer);
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
  if (turn_ != asker) turn_end_ = now + options_.turn_most;
  turn_ = asker;
  out.arm(Timer::kTurn, std::min(now + options_.turn, turn_end_));
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
  failures_.clear();
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
