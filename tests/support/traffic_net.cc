#include "tests/support/traffic_net.h"

#include <doctest/doctest.h>

#include <utility>

#include "overlay/base/overloaded.h"

namespace phx::support {

using namespace runtime;

TrafficNet::TrafficNet(std::uint32_t processors, std::uint64_t vnodes) {
  start_.job = JobId{1};
  start_.spec.vnodes = vnodes;
  start_.home = ProcessorId{1};
  for (; next_ <= processors; ++next_) start_.processors.insert(ProcessorId{next_});
  for (const ProcessorId id : start_.processors.ids()) {
    members_.insert(id);
    seats_[id].traffic = std::make_unique<JobTraffic>(id, start_, DaemonConfig{});
  }
  staying_ = members_;
  for (const ProcessorId id : start_.processors.ids()) attach(id);
  tell_standing();
  run();
}

Surroundings TrafficNet::around(ProcessorId id) const {
  return {now_, trees_, view_, members_, staying_, ProcessorId{1}, !staying_.contains(id)};
}

void TrafficNet::attach(ProcessorId id) {
  JobOutbox out;
  seats_.at(id).traffic->on_attached(around(id), ApplicationId{1}, out);
  absorb(id, out);
}

void TrafficNet::tell_standing() {
  for (const ProcessorId id : members_.ids()) {
    JobOutbox out;
    seats_.at(id).traffic->on_standing(around(id), members_, false, out);
    absorb(id, out);
  }
}

void TrafficNet::join() {
  const ProcessorId id{next_++};
  members_.insert(id);
  staying_.insert(id);
  seats_[id].traffic = std::make_unique<JobTraffic>(id, start_, DaemonConfig{});
  const VnodeMap& known = map(ProcessorId{1});
  mail_.push_back({ProcessorId{1}, id, Routes{start_.job, known.routes(known.all())}});
  attach(id);
  tell_standing();
  run();
}

void TrafficNet::leave(ProcessorId id) {
  staying_.erase(id);
  JobOutbox out;
  seats_.at(id).traffic->on_leaving(around(id), out);
  absorb(id, out);
  run();
  REQUIRE(seats_.at(id).traffic->is_empty());
  members_.erase(id);
  seats_.erase(id);
  tell_standing();
  run();
}

void TrafficNet::absorb(ProcessorId id, JobOutbox& out) {
  for (auto& item : out.take()) {
    if (auto* send = std::get_if<JobOutbox::Send>(&item)) {
      mail_.push_back({id, send->to, std::move(send->message)});
      ++messages_;
    } else if (const auto* arm = std::get_if<JobOutbox::Arm>(&item)) {
      auto& timers = seats_.at(id).timers;
      timers.erase(arm->timer);
      if (arm->at) timers[arm->timer] = *arm->at;
    } else if (const auto* event = std::get_if<std::variant<Effect, UseTree>>(&item)) {
      const auto* effect = std::get_if<Effect>(event);
      const auto* given = effect == nullptr ? nullptr : std::get_if<ToApp>(effect);
      const auto* release = given == nullptr ? nullptr : std::get_if<AppRelease>(&given->message);
      if (release == nullptr) continue;
      AppReleased released;
      for (const VnodeId vnode : release->vnodes.ids()) released.vnodes.push_back({vnode, {}});
      JobOutbox more;
      seats_.at(id).traffic->on_app(around(id), std::move(released), more);
      absorb(id, more);
    }
  }
}

void TrafficNet::deliver(const Mail& mail) {
  const auto seat = seats_.find(mail.to);
  if (seat == seats_.end()) return;
  JobOutbox out;
  const Surroundings here = around(mail.to);
  std::visit(Overloaded{[&](const Migrate& m) {
                          moves_ += m.parcels.size();
                          seat->second.traffic->on_message(here, mail.from, m, out);
                        },
                        [&](const auto& m) {
                          if constexpr (requires {
                                          seat->second.traffic->on_message(here, mail.from, m, out);
                                        }) {
                            seat->second.traffic->on_message(here, mail.from, m, out);
                          }
                        }},
             static_cast<const Envelope::Variant&>(mail.message));
  // As after every message of a daemon.
  seat->second.traffic->on_standing(here, staying_, false, out);
  absorb(mail.to, out);
}

bool TrafficNet::step() {
  if (!mail_.empty()) {
    const Mail mail = std::move(mail_.front());
    mail_.pop_front();
    deliver(mail);
    return true;
  }
  ProcessorId next;
  std::optional<std::pair<Instant, JobTimer>> first;
  for (const auto& [id, seat] : seats_) {
    for (const auto& [timer, at] : seat.timers) {
      if (first && first->first <= at) continue;
      first = {at, timer};
      next = id;
    }
  }
  if (!first) return false;
  now_ = first->first;
  Seat& seat = seats_.at(next);
  seat.timers.erase(first->second);
  JobOutbox out;
  seat.traffic->on_timer(around(next), first->second, out);
  absorb(next, out);
  return true;
}

void TrafficNet::run() {
  const Instant end = now_ + 120s;
  while (now_ < end && step()) continue;
  CHECK(now_ < end);
}

}  // namespace phx::support
