#include "overlay/survey/gauge.h"

#include <algorithm>
#include <utility>

namespace phx::overlay {

Gauge::Gauge(ProcessorId self, const GaugeOptions& options, Rng rng)
    : self_(self), options_(options), rng_(rng), live_{self} {}

void Gauge::on_task(Instant now, ProcessorId from, const SurveyTask& task, Outbox& out) {
  flights_.clear();
  task_ = Task{from, {}, std::clamp(task.pings, 1U, options_.pings_max), {}, false, std::nullopt};
  task_->report.round = task.round;
  task_->wants_overhead = task.wants_overhead;
  for (const ProcessorId landmark : task.landmarks) {
    const bool is_full = task_->queue.size() >= options_.landmarks_max;
    if (!is_full && landmark != self_) task_->queue.push_back(landmark);
  }
  std::reverse(task_->queue.begin(), task_->queue.end());
  const Duration spread = std::clamp(task.spread, Duration{}, options_.patience);
  const auto after = rng_.below(static_cast<std::uint64_t>(spread.count()) + 1);
  const Instant begin = now + Duration{static_cast<Duration::rep>(after)};
  out.arm(Timer::kBegin, begin);
  out.arm(Timer::kPatience, begin + options_.patience);
}

void Gauge::on_timer(Instant now, Timer timer, Outbox& out) {
  if (!task_) return;
  if (timer == Timer::kBegin) return launch(now, out);
  finish(out);
}

void Gauge::launch(Instant now, Outbox& out) {
  while (!task_->queue.empty() && flights_.size() < options_.abreast) {
    const ProcessorId landmark = task_->queue.back();
    task_->queue.pop_back();
    if (!live_.contains(landmark)) continue;
    const auto [flight, is_new] = flights_.try_emplace(landmark);
    if (!is_new) continue;  // named twice
    flight->second.left = task_->pings;
    ping(now, landmark, flight->second, out);
  }
  if (!flights_.empty()) return;
  const auto peer = nearest();
  if (!task_->wants_overhead || !peer || options_.burst < 2) return finish(out);
  task_->burst = Burst{next_, 0, {}};
  for (std::uint32_t i = 0; i < options_.burst; ++i) out.send(*peer, Ping{next_++, false});
}

void Gauge::ping(Instant now, ProcessorId peer, Flight& flight, Outbox& out) {
  flight.number = next_++;
  flight.sent = now;
  out.send(peer, Ping{flight.number, false});
}

void Gauge::on_ping(Instant now, ProcessorId from, const Ping& message, Outbox& out) {
  if (!message.is_answer) return out.send(from, Ping{message.number, true});
  if (!task_) return;
  if (task_->burst && message.number >= task_->burst->first &&
      message.number < task_->burst->first + options_.burst) {
    return on_burst(now, out);
  }
  const auto found = flights_.find(from);
  if (found == flights_.end() || found->second.number != message.number) return;
  Flight& flight = found->second;
  flight.least = std::min(flight.least, now - flight.sent);
  if (--flight.left > 0) return ping(now, from, flight, out);
  task_->report.round_trips.push_back({from, flight.least});
  flights_.erase(found);
  launch(now, out);
}

void Gauge::on_burst(Instant now, Outbox& out) {
  Burst& burst = *task_->burst;
  if (burst.answers++ == 0) burst.first_answer = now;
  if (burst.answers < options_.burst) return;
  // Whoever is slower of the two took one message and sent one between two answers.
  task_->report.overhead = (now - burst.first_answer) / (2 * (options_.burst - 1));
  finish(out);
}

std::optional<ProcessorId> Gauge::nearest() const {
  const auto& measured = task_->report.round_trips;
  const auto least = std::min_element(measured.begin(), measured.end(),
                                      [](const auto& a, const auto& b) { return a.time < b.time; });
  if (least == measured.end()) return std::nullopt;
  return least->landmark;
}

void Gauge::finish(Outbox& out) {
  out.disarm(Timer::kBegin);
  out.disarm(Timer::kPatience);
  flights_.clear();
  out.report(Done{task_->asker, std::move(task_->report)});
  task_.reset();
}

void Gauge::on_members(Instant now, const ProcessorSet& live, Outbox& out) {
  live_ = live;
  if (!task_) return;
  if (!live.contains(task_->asker)) return stop(out);
  const auto lost = [&](const auto& flight) { return !live.contains(flight.first); };
  if (std::erase_if(flights_, lost) > 0) launch(now, out);
}

void Gauge::stop(Outbox& out) {
  if (!task_) return;
  out.disarm(Timer::kBegin);
  out.disarm(Timer::kPatience);
  flights_.clear();
  task_.reset();
}

}  // namespace phx::overlay
