#include "tests/support/survey_net.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace phx::overlay::support {

void SurveyNet::members(const ProcessorSet& ids) {
  live = ids;
  for (const ProcessorId id : ids.ids()) {
    if (!surveys.contains(id)) surveys.emplace(id, Survey(id, {}, id.value));
    Survey::Outbox out;
    surveys.at(id).on_members(now, live, out);
    take(id, out);
  }
}

void SurveyNet::take(ProcessorId from, Survey::Outbox& out) {
  for (auto& item : out.take()) {
    if (auto* send = std::get_if<Survey::Outbox::Send>(&item)) {
      ++sent;
      if (std::holds_alternative<SurveyTask>(send->message)) ++tasks;
      if (mute.contains(from)) continue;
      if (uninformed.contains(send->to) && std::holds_alternative<NetworkUpdate>(send->message)) {
        continue;
      }
      if (const auto* load = std::get_if<Load>(&send->message)) {
        ++loads;
        loaded += load->bytes.size();
        carried[from].sent += load->bytes.size();
        loaded_over[{from, send->to}] += load->bytes.size();
      }
      Instant at = passes(from, send->to, send->message) + way(from, send->to);
      if (const auto found = queued.find(send->to); found != queued.end()) at += found->second;
      const auto slowly = handling.find(send->to);
      if (slowly != handling.end() && std::holds_alternative<Ping>(send->message)) {
        at = handled_at[send->to] = std::max(at, handled_at[send->to] + slowly->second);
      }
      mail.emplace(at, Letter{from, send->to, std::move(send->message)});
    } else if (const auto* arm = std::get_if<Survey::Outbox::Arm>(&item)) {
      timers[{from, arm->timer}] = arm->at;
    }
  }
}

Instant SurveyNet::passes(ProcessorId from, ProcessorId to, const Message& message) {
  const auto* load = std::get_if<Load>(&message);
  if (load == nullptr) return now;
  const auto rate_of = [](const auto& rates, const auto& key) {
    const auto found = rates.find(key);
    return found == rates.end() ? kGigabit : found->second;
  };
  const std::pair ends{site(from), site(to)};
  Instant at = std::max(now, out_free[from]);
  Window& window = windows[{from, to}];
  const std::uint64_t size = load->bytes.size();
  while (!window.confirmed.empty() &&
         (window.confirmed.front().first <= at || window.under_way + size > window.bytes)) {
    at = std::max(at, window.confirmed.front().first);
    window.under_way -= window.confirmed.front().second;
    window.bytes += window.confirmed.front().second;
    window.confirmed.pop_front();
  }
  const auto pass = [&](Instant& free, std::uint64_t rate) {
    const double seconds = static_cast<double>(load->bytes.size()) / static_cast<double>(rate);
    at = free = std::max(at, free) + Duration(static_cast<Duration::rep>(seconds * 1e9));
  };
  pass(out_free[from], rate_of(slow, from));
  if (ends.first != ends.second) pass(way_free[ends], rate_of(narrow, ends));
  const auto streamed = stream.find(to);
  pass(in_free[to], rate_of(slow, to) - (streamed == stream.end() ? 0 : streamed->second));
  window.under_way += size;
  window.confirmed.emplace_back(at + 2 * way(from, to), size);
  return at;
}

void SurveyNet::run_for(Duration time) {
  const Instant end = now + time;
  while (step(end)) {
  }
  now = end;
}

Traffic SurveyNet::traffic_of(ProcessorId id) {
  const auto us = static_cast<std::uint64_t>(now.time_since_epoch() / 1us);
  const auto [taken, sent_to_others] = carried[id];
  const auto besides = [&](const std::map<ProcessorId, std::uint64_t>& rates) {
    const auto busy = rates.find(id);
    return busy == rates.end() ? 0 : busy->second * us / 1'000'000;
  };
  return {taken + besides(stream), sent_to_others + besides(traffic)};
}

bool SurveyNet::step(Instant end) {
  auto due = timers.end();
  for (auto at = timers.begin(); at != timers.end(); ++at) {
    if (at->second && (due == timers.end() || *at->second < *due->second)) due = at;
  }
  const bool has_mail = !mail.empty() && mail.begin()->first <= end;
  const bool has_timer = due != timers.end() && *due->second <= end;
  Survey::Outbox out;
  if (has_mail && (!has_timer || mail.begin()->first <= *due->second)) {
    now = mail.begin()->first;
    const Letter letter = std::move(mail.begin()->second);
    mail.erase(mail.begin());
    if (!live.contains(letter.to)) return true;
    Survey& survey = surveys.at(letter.to);
    if (const auto* load = std::get_if<Load>(&letter.message)) {
      carried[letter.to].taken += load->bytes.size();
    }
    survey.on_traffic(traffic_of(letter.to));
    survey.on_message(now, letter.from, letter.message, out);
    take(letter.to, out);
    return true;
  }
  if (!has_timer) return false;
  now = *due->second;
  due->second.reset();
  const auto [who, timer] = due->first;
  if (!live.contains(who)) return true;
  surveys.at(who).on_traffic(traffic_of(who));
  surveys.at(who).on_timer(now, timer, out);
  take(who, out);
  return true;
}

KnownNetwork SurveyNet::common() {
  const KnownNetwork& first = surveys.at(live.front()).network();
  for (const ProcessorId id : live.ids()) {
    CAPTURE(to_string(id));
    CHECK(surveys.at(id).network() == first);
  }
  return first;
}

void SurveyNet::check_sites(std::size_t count) {
  const KnownNetwork network = common();
  CHECK(network.sites.size() == count);
  ProcessorSet placed;
  for (const auto& known : network.sites) {
    for (const ProcessorId id : known.processors.ids()) {
      CHECK(site(id) == site(known.processors.front()));
    }
    placed = placed.united(known.processors);
  }
  CHECK(placed.contains_all(live));
}

}  // namespace phx::overlay::support
