#include "overlay/survey/surveyor.h"

#include <algorithm>
#include <map>
#include <utility>

namespace phx::overlay {
namespace {

/// Nobody is so far that a round trip takes longer; who says so is wrong.
constexpr Duration kRoundTripMost = 60s;
/// A message costs no more than this; else something else held the answers up.
constexpr Duration kOverheadMost = 1ms;
constexpr std::size_t kOverheadsKept = 64;
/// Nothing is slower, or faster, and can be measured.
constexpr std::uint64_t kRateLeast = 1'000;
constexpr std::uint64_t kRateMost = 1'000'000'000'000;
/// Whoever sends, or takes, this part of what an interface carries may have a row in front of it.
constexpr double kMuchTraffic = 0.125;

}  // namespace

Surveyor::Surveyor(ProcessorId self, const SurveyorOptions& options, Rng rng)
    : self_(self),
      options_(options),
      rng_(rng),
      finder_(options.sites),
      complaints_(options.complaints) {}

void Surveyor::begin(Instant now, const KnownNetwork& known, Outbox& out) {
  is_active_ = true;
  found_ = known;
  finder_.begin(known);
  finder_.keep_only(live_);
  overheads_.clear();  // What is known counts as much as what a round tells.
  if (const auto usual = known.usual.overhead) overheads_.assign(options_.overheads, *usual);
  rates_.begin(known);
  rates_.keep_only(live_);
  waits_.begin(known);
  waits_.keep_only(live_);
  gather(now, out);
}

void Surveyor::stop(Outbox& out) {
  is_active_ = insists_ = false;
  stage_ = Stage::kQuiet;
  changed_.reset();
  again_at_.reset();
  silent_ = {};
  forget_run();
  disarm_all(out);
  tell_at_.reset();
  out.disarm(Timer::kTell);
}

void Surveyor::disarm_all(Outbox& out) {
  for (const Timer timer : {Timer::kGather, Timer::kRound, Timer::kPatrol, Timer::kRates}) {
    out.disarm(timer);
  }
}

void Surveyor::on_members(Instant now, const ProcessorSet& live, Outbox& out) {
  ready_ = ready_.minus(live_.minus(live));
  live_ = live;
  waits_.keep_only(live);
  if (!is_active_) return;
  finder_.keep_only(live);
  rates_.keep_only(live);
  awaited_ = awaited_.common(live);
  measured_ = measured_.common(live);
  silent_ = silent_.common(live);
  complaints_.keep_only(live);
  if (!is_placing() && !unplaced().minus(silent_).empty()) return gather(now, out);
  const bool is_asking = stage_ != Stage::kQuiet && stage_ != Stage::kGathering;
  if (is_asking && awaited_.empty()) end_round(now, out);
}

void Surveyor::on_ready(Instant now, ProcessorId who, Outbox& out) {
  ready_.insert(who);
  const bool is_asked_later = is_placing() || silent_.contains(who);
  if (is_active_ && !is_asked_later && live_.contains(who) && !finder_.site_of(who)) {
    gather(now, out);
  }
}

bool Surveyor::is_placing() const {
  return stage_ == Stage::kRound || stage_ == Stage::kLook;
}

ProcessorSet Surveyor::unplaced() const {
  return live_.common(ready_).minus(finder_.placed());
}

void Surveyor::insist(Instant now, Outbox& out) {
  insists_ = true;
  if (is_active_ && !is_placing()) gather(now, out);
}

void Surveyor::gather(Instant now, Outbox& out) {
  stage_ = Stage::kGathering;
  forget_run();
  disarm_all(out);
  if (!changed_) changed_ = now;
  patrol_at_ = {};
  out.arm(Timer::kGather, std::min(now + options_.gather, *changed_ + options_.gather_most));
}

void Surveyor::on_timer(Instant now, Timer timer, Outbox& out) {
  if (!is_active_) return;
  switch (timer) {
    case Timer::kGather:
      changed_.reset();
      disarm_all(out);  // Those who are silent are asked again beside patrols.
      sites_before_ = finder_.sites();
      begin_run(now);
      return begin_round(now, out);
    case Timer::kRound:
      if (stage_ != Stage::kLook) silent_ = silent_.united(awaited_);
      return end_round(now, out);
    case Timer::kPatrol:
      return begin_patrol(now, out);
    case Timer::kRates:
      if (stage_ != Stage::kPatrol) begin_rates(now, out);  // Else the end of it leads there.
      return;
    case Timer::kTell:
      return tell_waits(now, out);
  }
}

/// What is still reported of a run that is over counts no more.
void Surveyor::forget_run() {
  ++round_;
  awaited_ = measured_ = busy_ = {};
  downloads_.clear();
  asked_.clear();
  samples_ = {};
}

void Surveyor::begin_run(Instant now) {
  forget_run();
  placed_before_ = finder_.placed();
  if (again_at_ && now < *again_at_) return;
  again_at_.reset();
  silent_ = {};
}

std::vector<ProcessorId> Surveyor::draw_candidates(const ProcessorSet& from) {
  if (finder_.sites() == 0) return {from.contains(self_) ? self_ : from.front()};
  std::vector<ProcessorId> all = from.ids();
  const std::size_t count = std::min(all.size(), std::max(options_.candidates, finder_.sites()));
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(all[i], all[i + static_cast<std::size_t>(rng_.below(all.size() - i))]);
  }
  all.resize(count);
  return all;
}

void Surveyor::begin_round(Instant now, Outbox& out) {
  const ProcessorSet asked = unplaced().minus(silent_);
  if (asked.empty()) return begin_look(now, out);
  stage_ = Stage::kRound;
  candidates_ = draw_candidates(asked);
  std::vector<ProcessorId> known = finder_.landmarks();
  const std::size_t landmarks = known.size();
  known.insert(known.end(), candidates_.begin(), candidates_.end());
  std::vector<SurveyTask> tasks;
  const std::vector<ProcessorId> askers = asked.ids();
  for (const ProcessorId asker : askers) {
    // Of two candidates the later one measures the earlier one.
    const auto end =
        std::find(known.begin() + static_cast<std::ptrdiff_t>(landmarks), known.end(), asker);
    SurveyTask task;
    task.pings = options_.pings;
    for (auto landmark = known.begin(); landmark != end; ++landmark) {
      if (asked_.emplace(asker, *landmark).second) task.landmarks.push_back(*landmark);
    }
    tasks.push_back(std::move(task));
  }
  ask(now, tasks, askers, out);
}

/// Landmarks may be busy, and what stands in front of them passes for distance. Of several others
/// one is not, at some moment.
void Surveyor::begin_look(Instant now, Outbox& out) {
  std::vector<std::vector<ProcessorId>> older;
  std::vector<std::vector<ProcessorId>> fresh;
  for (const KnownNetwork::Site& site : finder_.network().sites) {
    const bool is_fresh = site.processors.common(placed_before_).empty();
    (is_fresh ? fresh : older).push_back(site.processors.ids());
  }
  std::vector<SurveyTask> tasks;
  std::vector<ProcessorId> askers;
  for (const std::vector<ProcessorId>& site : fresh) {
    for (std::size_t i = 0; i < std::min(site.size(), options_.look_askers); ++i) {
      tasks.push_back(look_task(older));
      askers.push_back(site[i]);
    }
  }
  // In a network that was not known before all sites are new.
  if (tasks.empty() || older.empty()) return end_run(now, out);
  stage_ = Stage::kLook;
  ask(now, tasks, askers, out);
}

/// Of each site some in a row, from anywhere.
SurveyTask Surveyor::look_task(const std::vector<std::vector<ProcessorId>>& sites) {
  SurveyTask task;
  const std::size_t first = sites.size() > options_.look_sites ? rng_.below(sites.size()) : 0;
  for (std::size_t i = 0; i < std::min(sites.size(), options_.look_sites); ++i) {
    const std::vector<ProcessorId>& members = sites[(first + i) % sites.size()];
    const std::size_t from = rng_.below(members.size());
    for (std::size_t j = 0; j < std::min(members.size(), options_.look_witnesses); ++j) {
      task.landmarks.push_back(members[(from + j) % members.size()]);
    }
  }
  return task;
}

void Surveyor::ask(Instant now, const std::vector<SurveyTask>& tasks,
                   const std::vector<ProcessorId>& askers, Outbox& out) {
  ++round_;
  awaited_ = measured_ = {};
  const Duration spread = options_.per_asker * static_cast<Duration::rep>(askers.size());
  Duration rates_patience = options_.rates_patience;  // the most of a task
  for (std::size_t i = 0; i < askers.size(); ++i) {
    SurveyTask task = tasks[i];
    Duration all{};
    for (const auto& one : task.downloads) {
      all += options_.rates_patience + far_delay(one.round_trip);
    }
    rates_patience = std::max(rates_patience, all);
    task.round = round_;
    task.spread = spread;
    task.wants_overhead = stage_ == Stage::kRound && i < options_.overheads;
    awaited_.insert(askers[i]);
    for (const auto& one : task.downloads) downloads_.insert({askers[i], one.from});
    out.send(askers[i], std::move(task));
  }
  Duration patience = options_.patience;
  if (stage_ == Stage::kLook) patience = options_.look_patience;
  if (stage_ == Stage::kRates) patience = rates_patience;
  out.arm(Timer::kRound, now + spread + patience);
}

void Surveyor::begin_patrol(Instant now, Outbox& out) {
  stage_ = Stage::kPatrol;
  rates_.on_patrol();
  at_ask_ = current();
  std::vector<SurveyTask> tasks;
  std::vector<ProcessorId> askers;  // one of each site, each time another one
  for (const KnownNetwork::Site& site : at_ask_.sites) {
    const std::vector<ProcessorId> members = site.processors.ids();
    tasks.push_back({0, askers, {}, options_.patrol_pings, false, {}});
    askers.push_back(members[patrols_ % members.size()]);
  }
  add_glances(askers, tasks);
  ++patrols_;
  for (std::size_t i = tasks.size(); i-- > 0;) {
    if (!tasks[i].landmarks.empty() || !tasks[i].downloads.empty()) continue;
    tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(i));
    askers.erase(askers.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (tasks.empty()) return end_run(now, out);
  forget_run();
  ask(now, tasks, askers, out);
}

/// Short: what passes in a moment; between sites in a round trip.
SurveyTask::Download Surveyor::glance(ProcessorId to, ProcessorId from) const {
  const std::uint64_t rate = RateFinder::expected({to, from}, at_ask_);
  const Duration round_trip = far(to, from);
  const Duration time = std::max(options_.glance, round_trip);
  const auto passes = static_cast<std::uint64_t>(static_cast<double>(rate) / 1e9 *
                                                 static_cast<double>(time.count()));
  const bool is_far = round_trip > options_.glance;
  const std::uint64_t most = is_far ? options_.far_glance_most : options_.glance_most;
  return {from, std::clamp(passes, options_.glance_least, most), round_trip};
}

/// From the next of the own site, and from some of the other sites in turn.
void Surveyor::add_glances(const std::vector<ProcessorId>& askers, std::vector<SurveyTask>& tasks) {
  const std::size_t sites = askers.size();
  std::size_t least = std::min(options_.glances, sites - 1);
  for (std::size_t to = 0; to < sites; ++to) {
    auto& downloads = tasks[to].downloads;
    const std::vector<ProcessorId> members = at_ask_.sites[to].processors.ids();
    if (members.size() > 1) {
      downloads.push_back(glance(askers[to], members[(patrols_ + 1) % members.size()]));
    }
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < std::min(options_.glances, sites - 1); ++i) {
      const std::size_t shift = 1 + (glanced_ + i) % (sites - 1);
      const SurveyTask::Download next = glance(askers[to], askers[(to + shift) % sites]);
      bytes += next.bytes;
      if (i > 0 && bytes > options_.glances_most) {
        least = std::min(least, i);
        break;
      }
      downloads.push_back(next);
    }
  }
  glanced_ += least;
}

/// The round trip between two sites; none inside of one.
Duration Surveyor::far(ProcessorId to, ProcessorId from) const {
  if (at_ask_.site_of(to) == at_ask_.site_of(from)) return {};
  const auto there = at_ask_.way(from, to).latency;
  const auto back = at_ask_.way(to, from).latency;
  return there.value_or(Duration{}) + back.value_or(Duration{});
}

void Surveyor::begin_rates(Instant now, Outbox& out) {
  at_ask_ = current();
  const std::vector<RateFinder::Download> wanted = rates_.wanted(at_ask_);
  if (wanted.empty()) return end_run(now, out);
  stage_ = Stage::kRates;
  is_doubtful_ = rates_.doubts() > 0;
  forget_run();
  std::map<ProcessorId, SurveyTask> tasks;
  for (const RateFinder::Download& one : wanted) {
    tasks[one.to].downloads.push_back({one.from, 0, far(one.to, one.from)});
  }
  std::vector<SurveyTask> all;
  std::vector<ProcessorId> askers;
  for (auto& [asker, task] : tasks) {
    askers.push_back(asker);
    all.push_back(std::move(task));
  }
  ask(now, all, askers, out);
}

/// What stands in front of a busy interface is no part of a way: such a round trip may tell that
/// the way is shorter, and not that it is longer.
void Surveyor::drop_queues() {
  std::erase_if(samples_, [this](const SiteFinder::Sample& sample) {
    const bool is_busy = busy_.contains(sample.from) || busy_.contains(sample.to);
    return is_busy && sample.round_trip > far(sample.to, sample.from);
  });
}

KnownNetwork Surveyor::current() const {
  KnownNetwork network = finder_.network();
  rates_.fill(network, without_waits(found_.restricted_to(live_)));
  waits_.fill(network);
  return network;
}

void Surveyor::on_report(Instant now, ProcessorId from, const SurveyReport& report, Outbox& out) {
  if (!is_active_ || report.round != round_ || !awaited_.contains(from)) return;
  awaited_.erase(from);
  measured_.insert(from);
  const auto usual = static_cast<double>(at_ask_.usual.in_bytes_per_second.value_or(kRateMost));
  if (static_cast<double>(report.traffic) > kMuchTraffic * usual) busy_.insert(from);
  for (const auto& [landmark, time] : report.round_trips) {
    const bool is_sane = time > Duration{} && time < kRoundTripMost;
    if (is_sane && landmark != from && live_.contains(landmark)) {
      samples_.push_back({from, landmark, time});
    }
  }
  const bool is_clear = read_rates(from, report);
  if (report.overhead && *report.overhead > Duration{} && *report.overhead < kOverheadMost) {
    if (overheads_.size() >= kOverheadsKept) overheads_.erase(overheads_.begin());
    overheads_.push_back(*report.overhead);
  }
  if (awaited_.empty()) return end_round(now, out);
  // Nobody has to wait for the others' measurements, which may take long where something is slow.
  if (is_clear && std::exchange(is_doubtful_, false)) tell(out);
}

/// What was asked for; what is not in the report could not be measured.
bool Surveyor::read_rates(ProcessorId from, const SurveyReport& report) {
  bool is_clear = false;
  const auto read = [&](const RateFinder::Download& download, const RateFinder::Rate& rate) {
    if (!live_.contains(download.from)) return;
    if (stage_ == Stage::kPatrol) {
      rates_.on_glance(download, rate, at_ask_);
    } else {
      is_clear = rates_.on_measured(download, rate, at_ask_) || is_clear;
    }
  };
  for (const auto& [server, least, most, taken, sent] : report.rates) {
    const bool is_sane = least >= kRateLeast && least <= most && most <= kRateMost &&
                         taken <= kRateMost && sent <= kRateMost;
    if (is_sane && downloads_.erase({from, server}) > 0) {
      read({from, server}, {least, most, taken, sent});
    }
  }
  const auto begin = downloads_.lower_bound({from, ProcessorId{0}});
  const auto end =
      std::find_if(begin, downloads_.end(), [&](const auto& one) { return one.to != from; });
  const std::vector<RateFinder::Download> failed(begin, end);
  downloads_.erase(begin, end);
  for (const RateFinder::Download& one : failed) read(one, {});
  return is_clear;
}

void Surveyor::on_complaint(Instant now, const RateFinder::Download& download,
                            const RateFinder::Rate& rate, Outbox& out) {
  const auto& [to, from] = download;
  if (!is_active_ || to == from || !live_.contains(to) || !live_.contains(from)) return;
  if (!RateFinder::is_slow(download, rate, found_)) return;
  rates_.on_witness(download);
  const std::size_t doubts = rates_.doubts();
  if (doubts >= options_.doubts_most || !complaints_.take(now, from, to)) return;
  rates_.on_complaint(download, current());
  if (stage_ == Stage::kQuiet && doubts == 0) out.arm(Timer::kRates, now + options_.gather);
}

/// All are told soon, but not more often than complaints are measured. Whoever is the next surveyor
/// may hear of it before it knows that.
void Surveyor::on_wait(Instant now, ProcessorId who, Duration wait, Outbox& out) {
  const bool is_news = waits_.set(who, wait);
  if (!is_active_ || !is_news || tell_at_) return;
  tell_at_ = std::max(now + options_.gather, told_waits_at_ + options_.waits_pause);
  out.arm(Timer::kTell, *tell_at_);
}

/// Of what is measured at present nothing: it may blame the wrong one until the end of the run.
void Surveyor::tell_waits(Instant now, Outbox& out) {
  tell_at_.reset();
  const KnownNetwork before = found_.restricted_to(live_);
  KnownNetwork network = without_waits(before);
  waits_.fill(network);
  if (network == before) return;
  told_waits_at_ = now;
  found_ = std::move(network);
  out.report(Found{});
}

void Surveyor::end_round(Instant now, Outbox& out) {
  out.disarm(Timer::kRound);
  if (stage_ == Stage::kRates) {
    for (const ProcessorId silent : awaited_.ids()) read_rates(silent, {});
    // A change that somebody suffers from is told before all is known of it.
    if (std::exchange(is_doubtful_, false)) tell(out);
    return begin_rates(now, out);
  }
  awaited_ = {};
  if (stage_ == Stage::kPatrol) {
    drop_queues();
    finder_.on_again(samples_);
    return end_run(now, out);
  }
  if (stage_ == Stage::kLook) {
    finder_.on_look(samples_, placed_before_);
    // Nobody looks twice; whoever has come meanwhile has a round and a look of its own.
    samples_ = {};
    placed_before_ = finder_.placed();
    return begin_round(now, out);
  }
  const std::uint64_t before = unplaced().size();
  finder_.on_round(candidates_, measured_, samples_);
  // Where that did not help, asking once more at once does not help either.
  if (unplaced().size() == before) silent_ = silent_.united(unplaced());
  begin_round(now, out);
}

/// If there is news.
void Surveyor::tell(Outbox& out) {
  KnownNetwork network = current();
  if (!std::exchange(insists_, false) && network == found_.restricted_to(live_)) return;
  found_ = std::move(network);
  out.report(Found{});
}

void Surveyor::end_run(Instant now, Outbox& out) {
  stage_ = Stage::kQuiet;
  forget_run();
  finder_.on_overheads(overheads_);
  tell(out);
  if (!silent_.empty()) {
    if (!again_at_) again_at_ = now + options_.again;
    out.arm(Timer::kGather, *again_at_);
  }
  const std::size_t before = std::exchange(sites_before_, finder_.sites());
  if (before > 0 && before < finder_.sites()) soon_ = options_.patrols_soon;
  if (soon_ > 0) {
    --soon_;
    return out.arm(Timer::kPatrol, now + options_.patrol_soon);
  }
  const bool is_doubtful = rates_.doubts() > 0;
  const bool is_wanted = !rates_.wanted(found_.restricted_to(live_)).empty();
  if (is_wanted) {
    out.arm(Timer::kRates, now + (is_doubtful ? options_.gather : options_.rates_after));
  }
  // Doubts, of which there may always be new ones, put no patrol off.
  if ((is_doubtful || !is_wanted) && finder_.placed().size() > 1) {
    if (patrol_at_ <= now) patrol_at_ = now + options_.patrol;
    out.arm(Timer::kPatrol, patrol_at_);
  }
}

}  // namespace phx::overlay
