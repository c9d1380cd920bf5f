#include "apps/experiments/cast_stream.h"

#include <algorithm>
#include <utility>

namespace phx::app {

CastStream::CastStream(const CastStreamOptions& options)
    : interval_(options.interval),
      on_time_(options.on_time),
      trial_({.topology = options.topology,
              .seed = options.seed,
              .bytes = options.bytes,
              .piece_bytes = std::size_t{256} << 10U,
              .pause = 1ms,
              .outbox_bytes = options.kept_bytes,
              .patrol = 5s,
              .on_bytes = [this](Instant now, sim::MachineId at, std::size_t bytes) {
                on_bytes(now, at, bytes);
              }}) {}

Status CastStream::start(std::optional<Slow> slow) {
  constexpr Duration kLearn = 5s;
  if (!trial_.start()) return Error{ErrorCode::kAborted, "the simulated mesh does not form"};
  if (slow) trial_.cluster().model().set_interface(slow->machine, slow->bytes_per_second);
  trial_.cluster().run_for(kLearn);
  begin_ = trial_.cluster().now();
  trial_.stream(kRoot);
  return success();
}

void CastStream::run_until(Duration time) {
  constexpr Duration kAtOnce = 100ms;
  sim::Cluster& cluster = trial_.cluster();
  for (const Instant end = begin_ + time; cluster.now() < end;) {
    cluster.run_for(std::min(kAtOnce, end - cluster.now()));
    note_members();
    if (on_time_) on_time_(cluster.now() - begin_);
  }
}

void CastStream::note_members() {
  const std::size_t interval = interval_of(trial_.cluster().now() - begin_ - Duration{1});
  if (intervals_.size() <= interval) intervals_.resize(interval + 1);
  std::vector<sim::MachineId> members = trial_.cluster().staying();
  std::erase(members, root());
  members_.resize(interval, members);
  members_.push_back(std::move(members));
}

void CastStream::on_bytes(Instant now, sim::MachineId at, std::size_t bytes) {
  const Duration time = now - begin_;
  const std::size_t interval = interval_of(time);
  if (intervals_.size() <= interval) intervals_.resize(interval + 1);
  intervals_[interval][at] += bytes;
  const auto [seen, is_new] = seen_.try_emplace(at, Seen{time, {}});
  if (!is_new) seen->second.gap = std::max(seen->second.gap, time - seen->second.last);
  seen->second.last = time;
}

double CastStream::mean(std::size_t interval, std::optional<sim::MachineId> without) const {
  double bytes = 0;
  double processors = 0;
  // What comes at the very end belongs to an interval that nobody is noted for.
  if (interval >= intervals_.size() || interval >= members_.size()) return 0;
  const Takes& takes = intervals_[interval];
  for (const sim::MachineId machine : members_[interval]) {
    if (machine == without) continue;
    const auto got = takes.find(machine);
    if (got != takes.end()) bytes += static_cast<double>(got->second);
    ++processors;
  }
  const double seconds = static_cast<double>(interval_.count()) / 1e9;
  return processors == 0 ? 0 : bytes / processors / seconds;
}

double CastStream::rate(Duration from, Duration to, std::optional<sim::MachineId> without) const {
  double sum = 0;
  const std::size_t first = interval_of(from);
  const std::size_t end = interval_of(to);
  for (std::size_t i = first; i < end; ++i) sum += mean(i, without);
  return end <= first ? 0 : sum / static_cast<double>(end - first);
}

double CastStream::total_rate(Duration from, Duration to) const {
  double bytes = 0;
  const std::size_t end = std::min(interval_of(to), intervals_.size());
  for (std::size_t i = interval_of(from); i < end; ++i) {
    for (const auto& taken : intervals_[i]) bytes += static_cast<double>(taken.second);
  }
  return bytes / (static_cast<double>((to - from).count()) / 1e9);
}

std::optional<Duration> CastStream::reaches(double rate, Duration since, Duration during) const {
  const std::size_t wanted = std::max<std::size_t>(interval_of(during), 1);
  std::size_t good = 0;
  for (std::size_t i = interval_of(since); i < intervals_.size(); ++i) {
    good = mean(i, {}) >= rate ? good + 1 : 0;
    if (good == wanted) return interval_ * static_cast<Duration::rep>(i + 1 - wanted);
  }
  return std::nullopt;
}

Duration CastStream::longest_gap(sim::MachineId machine) {
  const auto found = seen_.find(machine);
  if (found == seen_.end()) return kForever;
  return std::max(found->second.gap, trial_.cluster().now() - begin_ - found->second.last);
}

}  // namespace phx::app
