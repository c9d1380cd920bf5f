#include "runtime/sim/trial.h"

#include <algorithm>
#include <utility>

#include "overlay/planners/planned_views.h"

namespace phx::sim {
namespace {

constexpr Duration kTrialBound = 600s;

ClusterOptions cluster_options(const TrialOptions& options) {
  ClusterOptions cluster;
  cluster.topology = options.topology;
  cluster.seed = options.seed;
  cluster.machine.spawn_delay = 1ms;
  cluster.machine.fault = options.planted;
  cluster.daemon.trees = options.trees;
  cluster.daemon.bandwidth_above = options.bandwidth_above;
  cluster.daemon.tree_style = options.tree_style;
  cluster.daemon.survey_patrol = options.patrol;
  return cluster;
}

}  // namespace

Trial::Trial(const TrialOptions& options) : options_(options), cluster_(cluster_options(options)) {}

bool Trial::start() {
  constexpr Duration kStart = 60s;
  cluster_.add_all();
  if (!cluster_.stabilize(kStart)) return false;
  cluster_.run_for(options_.learn);
  WorkloadOptions work;
  work.vnodes = options_.topology.processors();
  work.message_bytes = options_.bytes;
  work.has_equal_sizes = true;
  work.piece_bytes = options_.piece_bytes;
  work.state_bytes = 0;
  work.unasked_bytes = options_.unasked_bytes;
  work.outbox_bytes = options_.outbox_bytes;
  // As a program has it that waits for the message.
  work.inbox_bytes = std::max<std::uint64_t>(work.inbox_bytes, 4 * std::uint64_t{options_.bytes});
  work.send_chance = work.safe_point_chance = 1.0;
  work.pause_min = work.pause_max = options_.pause;
  work.on_arrival = [this](Instant now, MachineId at, const runtime::ToApplication& message) {
    on_arrival(now, at, message);
  };
  job_ = &cluster_.run_job(work);
  job_->hold_open(true);
  return cluster_.run_until([this] { return has_all(); }, kStart);
}

bool Trial::has_all() {
  std::set<MachineId> holders;
  for (std::uint64_t v = 0; v < job_->options().vnodes; ++v) {
    const auto holder = job_->ledger().holder(VnodeId{v});
    if (!holder || !holders.insert(*holder).second) return false;
  }
  return true;
}

overlay::Placing Trial::placing() {
  overlay::Placing placing(options_.topology.processors());
  for (std::uint32_t i = 0; i < placing.size(); ++i) {
    const MachineId machine{i};
    const ProcessorId id = cluster_.machine(machine).daemon()->self();
    placing[id.value - 1] = cluster_.model().site(machine);
  }
  return placing;
}

void Trial::plant(const planners::PlanTrees& trees, ProcessorId root) {
  const planners::Costs costs(known_network(options_.topology, placing()));
  for (const auto& [processor, views] : planners::planned_views(trees.trees, root, costs)) {
    if (const auto machine = cluster_.find(processor)) cluster_.machine(*machine).plant(views);
  }
}

std::optional<VnodeId> Trial::vnode_of(ProcessorId processor) {
  const auto machine = cluster_.find(processor);
  for (std::uint64_t v = 0; machine && v < job_->options().vnodes; ++v) {
    if (job_->ledger().holder(VnodeId{v}) == machine) return VnodeId{v};
  }
  return std::nullopt;
}

void Trial::on_arrival(Instant now, MachineId at, const runtime::ToApplication& message) {
  const auto* delivered = std::get_if<runtime::AppDeliver>(&message);
  if (delivered == nullptr) return;
  if (std::holds_alternative<collectives::ReductionToken>(delivered->delivery)) lasts_[at] = now;
  const auto* broadcast = std::get_if<runtime::BroadcastDelivery>(&delivered->delivery);
  if (broadcast == nullptr) return;
  if (broadcast->piece.purpose == collectives::Purpose::kAllreduce) lasts_[at] = now;
  if (broadcast->piece.purpose != collectives::Purpose::kApplication) return;
  firsts_.emplace(at, now);
  lasts_[at] = now;
  if (options_.on_bytes) options_.on_bytes(now, at, broadcast->piece.payload.size());
}

void Trial::stream(ProcessorId root) {
  constexpr std::uint32_t kEndless = 1'000'000;
  if (const auto vnode = vnode_of(root)) job_->order_broadcasts(*vnode, kEndless);
}

std::optional<Trial::Round> Trial::broadcast(ProcessorId root) {
  const auto vnode = vnode_of(root);
  if (!vnode) return std::nullopt;
  firsts_.clear();
  lasts_.clear();
  const Meter before = cluster_.network().meter();
  job_->order_broadcast(*vnode);
  cluster_.run_for(options_.pause);  // Then it has begun.
  const auto is_done = [this] { return job_->ledger().outstanding() == 0; };
  if (!cluster_.run_until(is_done, kTrialBound)) return std::nullopt;
  Round round;
  round.cost = cluster_.network().meter().since(before);
  const Instant begin = firsts_[*cluster_.find(root)];
  for (const auto& [machine, at] : lasts_) {
    const ProcessorId id = cluster_.machine(machine).daemon()->self();
    if (id == root) continue;
    round.arrivals[id] = at - begin;
    round.time = std::max(round.time, at - begin);
  }
  return round;
}

std::optional<Trial::Round> Trial::reduce(ProcessorId root, const Shape& shape) {
  const auto vnode = vnode_of(root);
  if (!vnode) return std::nullopt;
  lasts_.clear();
  const Meter before = cluster_.network().meter();
  const std::uint64_t results = job_->ledger().counters().results;
  const Instant begin = cluster_.now();
  using collectives::ReduceType;
  job_->order_round(*vnode,
                    {.type = shape.ordered ? ReduceType::kDouble : ReduceType::kInt64,
                     .to_all = shape.to_all,
                     .ordered = shape.ordered},
                    shape.elements);
  const std::uint64_t wanted = results + (shape.to_all ? job_->options().vnodes : 1);
  const auto is_done = [&] { return job_->ledger().counters().results >= wanted; };
  if (!cluster_.run_until(is_done, kTrialBound)) return std::nullopt;
  Round round;
  round.time = lasts_[*cluster_.find(root)] - begin;
  for (const auto& [machine, at] : lasts_) {
    if (shape.to_all) round.time = std::max(round.time, at - begin);
  }
  round.cost = cluster_.network().meter().since(before);
  return round;
}

}  // namespace phx::sim
