#include "overlay/mst/lab.h"

#include <algorithm>

namespace phx::mst {

void Lab::set_members(const ProcessorSet& live) {
  for (const ProcessorId gone : live_.minus(live).ids()) {
    machines_.erase(gone);
    views_.erase(gone);
  }
  const ProcessorSet newcomers = live.minus(live_);
  live_ = live;
  for (const ProcessorId id : live.ids()) {
    if (newcomers.contains(id)) {
      machines_.emplace(id, SpanningTree(id, options_));
      tell_members(id, live);
    } else {
      post(kNobody, id, live);
    }
  }
}

void Lab::tell_members(ProcessorId to, const ProcessorSet& live) {
  views_[to] = live;
  SpanningTree::Outbox out;
  machines_.at(to).on_members(live, out);
  take(to, out);
}

void Lab::weigh_end(ProcessorId at, ProcessorId other, Duration weight) {
  const auto machine = machines_.find(at);
  if (machine != machines_.end() && live_.contains(other)) {
    machine->second.on_weight(other, weight);
  }
}

void Lab::weigh(ProcessorId a, ProcessorId b, Duration weight) {
  weigh_end(a, b, weight);
  weigh_end(b, a, weight);
}

void Lab::adapt() {
  for (auto& [id, machine] : machines_) {
    SpanningTree::Outbox out;
    machine.adapt(out);
    take(id, out);
  }
}

void Lab::post(ProcessorId from, ProcessorId to, std::variant<Message, ProcessorSet> what) {
  Instant& last = last_[{from, to}];
  last = std::max(last, now_ + delay_(from, to));
  mail_.emplace(last, Letter{from, to, std::move(what)});
}

void Lab::take(ProcessorId from, SpanningTree::Outbox& out) {
  for (auto& item : out.take()) {
    auto* send = std::get_if<SpanningTree::Outbox::Send>(&item);
    if (send == nullptr) continue;
    ++sent_[name_of(send->message)];
    post(from, send->to, std::move(send->message));
  }
}

bool Lab::step() {
  if (mail_.empty()) return false;
  now_ = mail_.begin()->first;
  const Letter letter = std::move(mail_.begin()->second);
  mail_.erase(mail_.begin());
  const auto machine = machines_.find(letter.to);
  if (machine == machines_.end()) return true;
  if (const auto* live = std::get_if<ProcessorSet>(&letter.what)) {
    tell_members(letter.to, *live);
    return true;
  }
  // The connection to one who is gone is closed; newcomers may be heard of late.
  const bool is_gone = !live_.contains(letter.from) && !views_[letter.to].contains(letter.from);
  if (is_gone) return true;
  SpanningTree::Outbox out;
  machine->second.on_message(letter.from, std::get<Message>(letter.what), out);
  take(letter.to, out);
  return true;
}

bool Lab::run(std::uint64_t steps_most) {
  for (std::uint64_t i = 0; i < steps_most; ++i) {
    if (!step()) return true;
  }
  return false;
}

std::uint64_t Lab::sent(std::string_view name) const {
  const auto count = sent_.find(name);
  return count == sent_.end() ? 0 : count->second;
}

std::uint64_t Lab::sent_in_all() const {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : sent_) sum += count;
  return sum;
}

}  // namespace phx::mst
