#include "runtime/sim/cluster.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "overlay/base/check.h"
#include "overlay/base/overloaded.h"

namespace phx::sim {
namespace {

constexpr Duration kAskAgain = 200ms;
constexpr std::string_view kEndpointPrefix = "sim-";

std::string endpoint_of(MachineId machine, std::uint32_t daemons_each) {
  return std::string(kEndpointPrefix) + std::to_string(machine.value / daemons_each) + ":" +
         std::to_string(1 + machine.value % daemons_each);
}

std::optional<MachineId> machine_at(const std::vector<std::string>& endpoints,
                                    std::uint32_t daemons_each) {
  if (endpoints.empty() || !endpoints[0].starts_with(kEndpointPrefix)) return std::nullopt;
  const std::string_view digits = std::string_view(endpoints[0]).substr(kEndpointPrefix.size());
  MachineId machine;
  std::uint32_t port = 1;
  const char* end = digits.data() + digits.size();
  const auto address = std::from_chars(digits.data(), end, machine.value);
  std::from_chars(address.ptr + 1, end, port);
  machine.value = machine.value * daemons_each + port - 1;
  return machine;
}

}  // namespace

Cluster::Cluster(ClusterOptions options)
    : options_(std::move(options)),
      rng_(Rng(options_.seed).fork("cluster")),
      model_(options_.topology, options_.jitter, rng_.fork("model")),
      network_(agenda_, model_, rng_.fork("network")),
      outside_(make_outside()),
      transcript_(options_.keeps_lines),
      checkers_(options_.checks, machines_, network_, violations_),
      tools_(around_tools(), violations_) {
  network_.set_inputs({
      [this](MachineId at, LinkId link, bool dialled) {
        machines_[at.value].on_link_up(link, dialled);
      },
      [this](MachineId at, LinkId link) { machines_[at.value].on_link_down(link); },
      [this](MachineId at, ProcessorId peer, bool refused) {
        machines_[at.value].on_dial_failed(peer, refused);
      },
      [this](MachineId at, LinkId link, runtime::Frame frame) {
        transcript_.mix(agenda_.steps() ^ (std::uint64_t{at.value} << 40U));
        machines_[at.value].on_frame(link, std::move(frame));
      },
      [this](MachineId at, LinkId link) { machines_[at.value].on_link_drained(link); },
  });
}

SimDriver::Outside Cluster::make_outside() {
  SimDriver::Outside outside;
  outside.on_note = [this](MachineId at, const runtime::Note& n) {
    constexpr std::string_view kReason = "reason=";
    if (const auto reason = n.detail.find(kReason);
        n.event == "job-ended" && reason != std::string::npos) {
      const std::size_t first = reason + kReason.size();
      blamed_.insert(n.detail.substr(first, n.detail.find(' ', first) - first));
    }
    if (n.event == "processor-gone" && n.level == runtime::Note::Level::kWarn) {
      const std::string name = n.detail.substr(0, n.detail.find(' '));
      if (!left_.contains(name)) put_out_.insert(name);
    }
    if (n.level == runtime::Note::Level::kDebug && !options_.has_debug_notes) return;
    note(at, n.event, n.detail);
  };
  outside.on_reply = [this](MachineId at, ClientId client, runtime::ClientReply reply) {
    if (!tools_.takes({at, client}, reply)) return false;
    agenda_.schedule_in(kClientDelay, [this, at, client, reply = std::move(reply)]() mutable {
      on_reply(at, client, std::move(reply));
    });
    return true;
  };
  outside.on_client_dropped = [this](MachineId at, ClientId client) {
    agenda_.schedule_in(kClientDelay, [this, at, client] { on_client_dropped(at, client); });
  };
  outside.on_stopped = [this](MachineId at, const runtime::Stop& stop) { on_stopped(at, stop); };
  outside.on_damage = [this](MachineId at, const std::string& what) {
    violations_.add("the wire at " + name_of(at) + ": " + what);
  };
  outside.on_step = [this](MachineId at) { checkers_.on_step(at); };
  outside.resolve = [this](const std::vector<std::string>& endpoints) -> std::optional<MachineId> {
    return machine_at(endpoints, options_.daemons_each);
  };
  outside.on_inquire = [this](MachineId from, MachineId asked) {
    // A connection, a handshake, a question.
    const Duration trips = 6 * model_.latency(from, asked);
    agenda_.schedule_in(trips, [this, from, asked] {
      if (!machines_[asked.value].is_running() || !machines_[from.value].is_running()) return;
      if (network_.is_cut(from, asked)) return;
      machines_[from.value].on_inquired(machines_[asked.value].daemon()->view());
    });
  };
  outside.workload = [this](const runtime::JobSpec& spec) -> Workload* {
    std::size_t index = 0;
    std::from_chars(spec.name.data(), spec.name.data() + spec.name.size(), index);
    return tools_.workload(index);
  };
  return outside;
}

JobTools::Around Cluster::around_tools() {
  return {agenda_,
          machines_,
          checkers_,
          [this] { return pick_member(); },
          outside_.resolve,
          [this](MachineId at, ClientId client, runtime::ClientRequest asks) {
            request(at, client, std::move(asks));
          },
          [this](std::string_view event, const std::string& detail) { note({}, event, detail); }};
}

// --- Machines ----------------------------------------------------------------------------------

MachineId Cluster::add_machine(std::size_t site) {
  const MachineId machine = network_.add_machine(site);
  machines_.emplace_back(machine, agenda_, network_, outside_, options_.machine,
                         rng_.fork(to_string(machine)));
  if (machine.value == 0) {
    runtime::Member first;
    first.incarnation = rng_.next();
    first.endpoints = {endpoint_of(machine, options_.daemons_each)};
    runtime::Birth birth = runtime::Birth::first_of_mesh(first);
    birth.plans = plans_;
    machines_.back().start(std::move(birth), options_.daemon);
  } else {
    joining_.insert(machine);
    ask_for_entry(machine);
  }
  return machine;
}

void Cluster::add_all() {
  for (std::size_t site = 0; site < options_.topology.sites.size(); ++site) {
    for (std::uint32_t i = 0; i < options_.topology.sites[site].processors; ++i) add_machine(site);
  }
}

/// One that `asker` can reach.
std::optional<MachineId> Cluster::pick_member(std::optional<MachineId> asker) {
  std::vector<MachineId> members = staying();
  if (asker) std::erase_if(members, [&](MachineId id) { return network_.is_cut(*asker, id); });
  if (members.empty()) return std::nullopt;
  return members[static_cast<std::size_t>(rng_.below(members.size()))];
}

void Cluster::ask_for_entry(MachineId newcomer) {
  const auto member = pick_member(newcomer);
  if (!member) {
    agenda_.schedule_in(kAskAgain, [this, newcomer] { ask_for_entry(newcomer); });
    return;
  }
  const ClientId client = machines_[member->value].connect_client();
  newcomers_[{*member, client}] = newcomer;
  runtime::Member self;
  self.incarnation = rng_.next();
  self.endpoints = {endpoint_of(newcomer, options_.daemons_each)};
  request(*member, client, runtime::JoinRequest{std::move(self)});
}

void Cluster::on_join_reply(MachineId newcomer, runtime::JoinReply reply) {
  if (!reply.refusal.empty()) {
    note(newcomer, "refused", reply.refusal);
    agenda_.schedule_in(kAskAgain, [this, newcomer] { ask_for_entry(newcomer); });
    return;
  }
  joining_.erase(newcomer);
  const ViewNumber view = reply.view.number;
  machines_[newcomer.value].start({reply.id, std::move(reply), plans_}, options_.daemon);
  note(newcomer, "started", "view=" + std::to_string(view));
}

void Cluster::drain(MachineId machine) {
  if (!machines_[machine.value].is_running()) return;
  leaving_.insert(machine);
  note(machine, "asked-to-leave", {});
  machines_[machine.value].drain();
}

void Cluster::order_drain(MachineId at, MachineId machine) {
  if (!machines_[machine.value].is_running()) return;
  const ProcessorId processor = machines_[machine.value].daemon()->self();
  note(at, "drain-ordered", to_string(processor));
  leaving_.insert(machine);
  const ClientId client = machines_[at.value].connect_client();
  orders_[{at, client}] = machine;
  request(at, client, runtime::DrainRequest{{processor}});
}

void Cluster::order_down(MachineId at) {
  is_going_down_ = true;
  request(at, machines_[at.value].connect_client(), runtime::DownRequest{});
}

void Cluster::kill(MachineId machine, bool lost) {
  note(machine, lost ? "machine-lost" : "killed", {});
  dead_.insert(name_of(machine));
  machines_[machine.value].kill();
  network_.kill(machine, lost);
  drop_clients(machine);
}

void Cluster::freeze(MachineId machine, Duration duration) {
  note(machine, "frozen",
       "for=" + std::to_string(static_cast<std::int64_t>(to_ms(duration))) + "ms");
  machines_[machine.value].freeze_until(agenda_.now() + duration);
}

void Cluster::cut_off(std::set<MachineId> side) {
  note({}, "cut-off", std::to_string(side.size()) + " machines");
  network_.cut_off(std::move(side));
}

void Cluster::heal() {
  network_.heal();
}

void Cluster::on_stopped(MachineId at, const runtime::Stop& stop) {
  note(at, "stopped",
       "code=" + std::to_string(stop.code) + (stop.reason.empty() ? "" : " why=" + stop.reason));
  if (stop.code == 0) {
    left_.insert(name_of(at));
    if (!is_going_down_ && !leaving_.contains(at)) {
      violations_.add(name_of(at) + " left, and nobody had told it to");
    }
  } else {
    gave_up_.emplace(name_of(at), stop.reason);
  }
  agenda_.schedule_in(kClientDelay * 2, [this, at] { drop_clients(at); });
}

// --- Tools and newcomers -----------------------------------------------------------------------

void Cluster::request(MachineId at, ClientId client, runtime::ClientRequest request) {
  agenda_.schedule_in(kClientDelay, [this, at, client, request = std::move(request)] {
    if (machines_[at.value].is_running()) {
      machines_[at.value].on_client_message(client, request);
    } else {
      on_client_dropped(at, client);
    }
  });
}

void Cluster::on_reply(MachineId at, ClientId client, runtime::ClientReply reply) {
  const Client from{at, client};
  if (const auto newcomer = newcomers_.find(from); newcomer != newcomers_.end()) {
    auto* joined = std::get_if<runtime::JoinReply>(&reply);
    if (joined == nullptr) return;
    const MachineId machine = newcomer->second;
    newcomers_.erase(newcomer);
    on_join_reply(machine, std::move(*joined));
    return;
  }
  if (const auto order = orders_.find(from); order != orders_.end()) {
    const auto* refused = std::get_if<runtime::Done>(&reply);
    if (refused == nullptr) return;
    note(at, "drain-refused", refused->error);
    leaving_.erase(order->second);
    return;
  }
  tools_.on_reply(from, std::move(reply));
}

void Cluster::on_client_dropped(MachineId at, ClientId client) {
  const Client from{at, client};
  if (const auto newcomer = newcomers_.extract(from); !newcomer.empty()) {
    ask_for_entry(newcomer.mapped());
  }
  tools_.on_dropped(from);
}

void Cluster::stop_tools(Duration duration) {
  note({}, "tools-stopped",
       "for=" + std::to_string(static_cast<std::int64_t>(to_ms(duration))) + "ms");
  tools_.stop(duration);
}

void Cluster::drop_clients(MachineId at) {
  std::vector<Client> gone;
  for (const auto& [client, newcomer] : newcomers_) {
    if (client.first == at) gone.push_back(client);
  }
  for (const Client& client : tools_.clients_at(at)) gone.push_back(client);
  for (const Client& client : gone) on_client_dropped(client.first, client.second);
}

Workload& Cluster::run_job(const WorkloadOptions& options) {
  return tools_.run(options, rng_.fork("job").next());
}

// --- Time --------------------------------------------------------------------------------------

void Cluster::run_for(Duration duration) {
  const Instant end = agenda_.now() + duration;
  while (!agenda_.empty() && agenda_.next_at() <= end) agenda_.step();
  agenda_.advance_to(end);
}

bool Cluster::run_until(const std::function<bool()>& is_done, Duration bound) {
  constexpr std::uint64_t kStepsMax = 100'000'000;
  constexpr Duration kBetween = 1ms;
  const Instant end = agenda_.now() + bound;
  const std::uint64_t last_step = agenda_.steps() + kStepsMax;
  while (agenda_.now() < end && agenda_.steps() < last_step && violations_.empty()) {
    if (is_done()) return true;
    run_for(kBetween);
  }
  return is_done();
}

bool Cluster::stabilize(Duration bound) {
  return run_until([this] { return joining_.empty() && checkers_.do_views_agree(); }, bound);
}

// --- Queries -----------------------------------------------------------------------------------

std::vector<MachineId> Cluster::running() const {
  std::vector<MachineId> result;
  for (std::uint32_t i = 0; i < machines_.size(); ++i) {
    if (machines_[i].is_running()) result.push_back({i});
  }
  return result;
}

std::vector<MachineId> Cluster::staying() const {
  std::vector<MachineId> result = running();
  std::erase_if(result, [&](MachineId machine) { return leaving_.contains(machine); });
  return result;
}

std::optional<MachineId> Cluster::find(ProcessorId processor) const {
  for (std::uint32_t i = 0; i < machines_.size(); ++i) {
    if (machines_[i].self() == processor) return MachineId{i};
  }
  return std::nullopt;
}

std::string Cluster::name_of(MachineId machine) const {
  if (machine.value >= machines_.size()) return {};
  const ProcessorId self = machines_[machine.value].self();
  return self == kNobody ? to_string(machine) : to_string(self);
}

void Cluster::note(MachineId machine, std::string_view event, const std::string& detail) {
  transcript_.add(agenda_.now(), name_of(machine), event, detail);
}

std::string Cluster::describe() const {
  std::string text = "at " + in_milliseconds(agenda_.now()) + ":\n";
  for (const SimDriver& driver : machines_) {
    if (!driver.is_running()) continue;
    const runtime::ProcessorStatus status = driver.daemon()->status();
    text += "  " + to_string(status.id) + " view=" + std::to_string(status.view) +
            (driver.daemon()->congested() ? " congested" : "");
    for (const runtime::JobStatus& job : status.jobs) {
      text += ' ' + to_string(job.job) + " stage=" + std::to_string(static_cast<int>(job.stage)) +
              " home=" + to_string(job.home) + " held=" + to_string(job.held) +
              " parked=" + std::to_string(job.parked) +
              (job.waiting.empty() ? "" : " waits for " + job.waiting) +
              (job.process_waits.empty() ? "" : " process waits for " + job.process_waits);
    }
    text += '\n';
  }
  return text + tools_.missing();
}

}  // namespace phx::sim
