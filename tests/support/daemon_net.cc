#include "tests/support/daemon_net.h"

#include <algorithm>
#include <string>

#include "overlay/base/overloaded.h"

namespace phx::support {

DaemonNet::DaemonNet(std::uint32_t members, runtime::DaemonConfig config, std::uint32_t next_job) {
  runtime::View view;
  view.number = 1;
  view.next_job = next_job;
  view.next_processor = members + 1;
  for (std::uint32_t i = 1; i <= members; ++i) {
    const ProcessorId id{i};
    view.members.put(runtime::Member{id, 1000 + i, {to_string(id)}, {}, false});
  }
  for (const auto& [id, member] : view.members) {
    runtime::Birth birth;
    birth.self = birth.snapshot.id = id;
    birth.snapshot.view = view;
    ones_[id].daemon = std::make_unique<runtime::Daemon>(birth, config, id.value);
  }
  for (auto& [id, one] : ones_) daemon(id).start(now_);
  run_for(1s);
}

void DaemonNet::run_for(Duration duration) {
  const Instant end = now_ + duration;
  for (carry_all(); now_ < end; carry_all()) {
    Instant next = end;
    for (auto& [id, one] : ones_) {
      if (one.lives) next = std::min(next, one.daemon->next_deadline().value_or(end));
    }
    now_ = std::max(now_, next);
    for (auto& [id, one] : ones_) {
      const auto due = one.daemon->next_deadline();
      if (one.lives && due && *due <= now_) daemon(id).on_deadline(now_);
    }
  }
}

void DaemonNet::release(ProcessorId from, ProcessorId to, Duration then) {
  auto lane = held_.extract({from, to});
  for (auto& [incarnation, frame] : lane.mapped()) deliver(from, to, incarnation, frame);
  run_for(then);
}

void DaemonNet::slip_in(ProcessorId from, ProcessorId to, runtime::Envelope envelope) {
  const auto link = std::ranges::find_if(open_, [&](const auto& entry) {
    return entry.second == std::pair{from, to} || entry.second == std::pair{to, from};
  });
  runtime::Frame frame{delivered_[{from, to}] + 1, 0, std::move(envelope)};
  daemon(to).on_frame(now_, {from, link->first}, std::move(frame));
  run();
}

void DaemonNet::kill(ProcessorId id) {
  ones_.at(id).lives = false;
  std::erase_if(held_, [id](const auto& lane) { return lane.first.first == id; });
  for (auto at = open_.begin(); at != open_.end();) {
    const auto [incarnation, ends] = *at;
    const bool is_end = ends.first == id || ends.second == id;
    const ProcessorId other = ends.first == id ? ends.second : ends.first;
    at = is_end ? open_.erase(at) : std::next(at);
    if (is_end && ones_.at(other).lives) daemon(other).on_link_down(now_, {id, incarnation});
  }
}

ProcessorId DaemonNet::join(ProcessorId contact) {
  const std::size_t before = replies<runtime::JoinReply>().size();
  const std::string name = "newcomer " + std::to_string(before + 1);
  ask(contact, runtime::JoinRequest{{kNobody, before + 1, {name}, {}, false}});
  runtime::Birth birth;
  birth.snapshot = replies<runtime::JoinReply>().at(before);
  birth.self = birth.snapshot.id;
  One& one = ones_[birth.self];
  one.daemon = std::make_unique<runtime::Daemon>(birth, runtime::DaemonConfig{}, birth.self.value);
  daemon(birth.self).start(now_);
  run();
  return birth.self;
}

ClientId DaemonNet::ask(ProcessorId at, runtime::ClientRequest request) {
  const ClientId client{++clients_};
  daemon(at).on_client_message(now_, client, std::move(request));
  run();
  return client;
}

void DaemonNet::tools_read(bool read) {
  tools_read_ = read;
  run();
}

void DaemonNet::carry_all() {
  for (bool any = true; any;) {
    any = false;
    for (auto& [id, one] : ones_) {
      for (runtime::Effect& effect : one.daemon->take_effects()) {
        if (one.lives) carry(id, one, effect);
        any = true;
      }
      if (!tools_read_ || !one.lives) continue;
      for (const ClientId client : std::exchange(one.answered, {})) {
        daemon(id).on_client_took(now_, client);
        any = true;
      }
    }
  }
  for (const ProcessorId id : std::exchange(unchecked_, {})) {
    if (ones_.at(id).lives) ones_.at(id).daemon->check_invariants();
  }
}

void DaemonNet::carry(ProcessorId from, One& one, runtime::Effect& effect) {
  std::visit(
      Overloaded{[&](const runtime::Dial& m) { dial(from, m.peer); },
                 [&](runtime::Transmit& m) { transmit(from, m); },
                 [&](const runtime::Hangup& m) { hang_up(from, m.link); },
                 [&](runtime::ToApp& m) { one.to_application.push_back(std::move(m.message)); },
                 [&](runtime::Reply& m) {
                   replies_.push_back(std::move(m.reply));
                   one.answered.insert(m.client);
                 },
                 [&](const runtime::HoldOutput& m) { one.held[m.job] = m.hold; },
                 [&](const runtime::Spawn& m) { one.started.push_back(m.job); },
                 [&](const runtime::Stop& m) {
                   one.stop = m;
                   kill(from);
                 },
                 [](const auto&) {}},
      effect);
}

void DaemonNet::dial(ProcessorId from, ProcessorId to) {
  const auto callee = ones_.find(to);
  if (callee == ones_.end()) return daemon(from).on_dial_failed(now_, to, false, "not born yet");
  if (!callee->second.lives) {
    return daemon(from).on_dial_failed(now_, to, true, "connection refused");
  }
  open_[++links_] = {from, to};
  daemon(from).on_link_up(now_, {to, links_}, true);
  daemon(to).on_link_up(now_, {from, links_}, false);
}

void DaemonNet::transmit(ProcessorId from, runtime::Transmit& m) {
  const ProcessorId to = m.link.peer;
  if (step_ && m.frame.envelope) step_(from, to, *m.frame.envelope);
  if (m.frame.envelope && told_nothing_.contains(to)) m.frame.envelope = runtime::Heartbeat{};
  const auto lane = held_.find({from, to});
  if (lane == held_.end()) {
    deliver(from, to, m.link.incarnation, m.frame);
  } else {
    lane->second.emplace_back(m.link.incarnation, std::move(m.frame));
  }
  if (m.tell && ones_.at(from).lives) daemon(from).on_link_drained(now_, m.link);
}

void DaemonNet::deliver(ProcessorId from, ProcessorId to, std::uint64_t link,
                        runtime::Frame& frame) {
  if (open_.contains(link) && ones_.at(to).lives) {
    if (frame.envelope) delivered_[{from, to}] = frame.seq;
    daemon(to).on_frame(now_, {from, link}, std::move(frame));
  }
}

void DaemonNet::hang_up(ProcessorId from, LinkId link) {
  if (open_.erase(link.incarnation) == 0 || !ones_.at(link.peer).lives) return;
  daemon(link.peer).on_link_down(now_, {from, link.incarnation});
}

}  // namespace phx::support
