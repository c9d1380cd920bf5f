#include "overlay/mst/spanning_tree.h"

#include <algorithm>

#include "overlay/base/check.h"
#include "overlay/base/overloaded.h"

namespace phx::mst {
namespace {

constexpr Duration kWeightMost = 1h;
constexpr std::uint32_t kThetaMost = 1000;
constexpr Duration::rep kPercent = 100;
constexpr std::size_t kEarlyPerMember = 4;

}  // namespace

SpanningTree::SpanningTree(ProcessorId self, const SpanningTreeOptions& options)
    : self_(self), options_(options), conductor_(self) {
  PHX_CHECK(options.theta <= kThetaMost);
}

Duration SpanningTree::reference(ProcessorId other) const {
  const auto channel = channels_.find(other);
  return channel == channels_.end() ? kForever : channel->second.reference;
}

void SpanningTree::on_weight(ProcessorId other, Duration weight) {
  PHX_CHECK(other != self_ && weight >= Duration::zero());
  PHX_CHECK(weight == kForever || weight < kWeightMost);
  channels_[other].mine = weight;
}

void SpanningTree::on_members(const ProcessorSet& live, Outbox& out) {
  PHX_CHECK(live.contains(self_));
  for (const ProcessorId gone : live_.minus(live).ids()) channels_.erase(gone);
  live_ = live;
  if (!is_conductor()) {
    conductor_.stop();
  } else if (conductor_.is_busy()) {
    begin_round(out);
  }
}

void SpanningTree::adapt(Outbox& out) {
  if (!is_conductor()) return;
  if (conductor_.is_busy()) {
    again_ = true;
  } else {
    begin_round(out);
  }
}

void SpanningTree::begin_round(Outbox& out) {
  again_ = false;
  Conductor::Outbox box;
  conductor_.begin(live_, version_, round_.stamp.round, box);
  pass(box, out);
  drain_own(out);
}

void SpanningTree::on_message(ProcessorId from, const Message& message, Outbox& out) {
  deliver(from, message, out);
  drain_own(out);
}

void SpanningTree::deliver(ProcessorId from, const Message& message, Outbox& out) {
  const auto to_conductor = [&](const auto&) {
    Conductor::Outbox box;
    conductor_.on_message(from, message, box);
    pass(box, out);
  };
  std::visit(Overloaded{[&](const Ready& m) { to_conductor(m); },
                        [&](const Outdated& m) { to_conductor(m); },
                        [&](const Classified& m) { to_conductor(m); },
                        [&](const Halted& m) { to_conductor(m); },
                        [&](const Recovered& m) { to_conductor(m); },
                        [&](const Exchanged& m) { to_conductor(m); },
                        [&](const auto& m) { handle(from, m, out); }},
             message);
}

void SpanningTree::send(ProcessorId to, Message message, Outbox& out) {
  if (to != self_) return out.send(to, std::move(message));
  own_.push_back(std::move(message));
}

/// What the conductor and the member in one processor say to each other, in order. Each step of a
/// round needs an answer of all members, so it ends.
void SpanningTree::drain_own(Outbox& out) {
  while (!own_.empty()) {
    const Message message = std::move(own_.front());
    own_.pop_front();
    deliver(self_, message, out);
  }
  if (again_ && is_conductor() && !conductor_.is_busy()) begin_round(out);
}

void SpanningTree::pass(Conductor::Outbox& from, Outbox& out) {
  for (auto& item : from.take()) {
    auto* sent = std::get_if<Conductor::Outbox::Send>(&item);
    if (sent != nullptr) send(sent->to, std::move(sent->message), out);
  }
}

void SpanningTree::pass(FragmentSearch::Outbox& from, Outbox& out) {
  for (auto& item : from.take()) {
    if (auto* sent = std::get_if<FragmentSearch::Outbox::Send>(&item)) {
      send(sent->to, Searching{round_.stamp, sent->message}, out);
    } else if (const auto* last = std::get_if<FragmentSearch::Final>(&item)) {
      send(round_.stamp.round.conductor, Halted{round_.stamp, last->processors}, out);
    }
  }
}

void SpanningTree::pass(CycleSearch::Outbox& from, Outbox& out) {
  for (auto& item : from.take()) {
    if (auto* sent = std::get_if<CycleSearch::Outbox::Send>(&item)) {
      send(sent->to, std::move(sent->message), out);
    } else if (const auto* answer = std::get_if<CycleSearch::Answer>(&item)) {
      send(round_.stamp.round.conductor, Recovered{round_.stamp, false, answer->heaviest}, out);
    }
  }
}

// A round begins: weights are agreed on.

/// A number that nobody reaches is believed of the lowest id alone, which may have been told so.
void SpanningTree::handle(ProcessorId from, const Begin& m, Outbox& out) {
  const bool is_lowest = !live_.empty() && from == live_.front();
  const std::uint64_t most = is_lowest ? kRoundMost : kRoundHeard;
  if (from != m.round.conductor || m.round.number >= most) return;
  if (m.round <= round_.stamp.round) return send(from, Outdated{round_.stamp.round}, out);
  round_ = {.stamp = {m.round, 0}, .members = m.members};
  for (auto& [other, channel] : channels_) {
    if (!m.members.contains(other)) continue;
    if (channel.mine != channel.offered) {
      channel.offered = channel.mine;
      ++channel.open;
      send(other, Offer{channel.mine}, out);
    }
    round_.offers_open += channel.open;
    // A round that was given up may have left offers that nobody classified.
    const Duration agreed = std::max(channel.offered, channel.theirs);
    const bool differs = change_of(channel.reference, agreed) != Change::kNone;
    if (channel.open > 0 || differs) ++round_.changes;
  }
  if (round_.offers_open == 0) say_ready(out);
}

void SpanningTree::say_ready(Outbox& out) {
  const RoundId round = round_.stamp.round;
  send(round.conductor, Ready{round, version_.round, round_.changes}, out);
}

/// Of whatever round: the last one that came counts, and it came over a channel that keeps order.
void SpanningTree::handle(ProcessorId from, const Offer& m, Outbox& out) {
  channels_[from].theirs = m.weight;
  send(from, OfferTaken{}, out);
}

void SpanningTree::handle(ProcessorId from, const OfferTaken& /*m*/, Outbox& out) {
  const auto channel = channels_.find(from);
  if (channel == channels_.end() || channel->second.open == 0) return;
  --channel->second.open;
  if (!round_.members.contains(from) || round_.offers_open == 0) return;
  if (--round_.offers_open == 0) say_ready(out);
}

// Its steps.

void SpanningTree::settle() {
  if (round_.search) round_.branches = round_.search->branches();
  round_.search.reset();
  round_.cycle.reset();
}

bool SpanningTree::enter(const Stamp& stamp) {
  if (stamp.round != round_.stamp.round || stamp.step < round_.stamp.step) return false;
  if (stamp.step > round_.stamp.step) {
    settle();
    round_.stamp = stamp;
  }
  return true;
}

void SpanningTree::handle(ProcessorId from, const Step& m, Outbox& out) {
  if (from != round_.stamp.round.conductor) return;
  if (m.stamp <= round_.stamp || !enter(m.stamp)) return;
  switch (m.kind) {
    case StepKind::kClassify:
      return classify_all(false, out);
    case StepKind::kForget:
      return classify_all(true, out);
    case StepKind::kRejoin:
    case StepKind::kTogether:
      return search(m.kind, out);
  }
}

SpanningTree::Change SpanningTree::change_of(Duration reference, Duration agreed) const {
  if (reference == agreed) return Change::kNone;
  if (agreed == kForever) return Change::kFailure;
  if (reference == kForever) return Change::kRecovery;
  const Duration difference = agreed > reference ? agreed - reference : reference - agreed;
  if (difference * kPercent < reference * static_cast<Duration::rep>(options_.theta)) {
    return Change::kNone;
  }
  return agreed > reference ? Change::kFailure : Change::kRecovery;
}

void SpanningTree::classify(ProcessorId other, Duration reference, Duration agreed,
                            Classified& result) {
  const Change change = change_of(reference, agreed);
  round_.references[other] = change == Change::kNone ? reference : agreed;
  const Duration weight = change == Change::kFailure ? agreed : reference;
  if (weight != kForever) round_.weights[other] = weight;
  // Only a conductor that lies puts what is no channel into a tree.
  if (weight == kForever && change != Change::kFailure) result.cut += round_.branches.erase(other);
  if (change == Change::kNone) return;
  ++result.changed;
  if (change == Change::kFailure) {
    result.cut += round_.branches.erase(other);
    return;
  }
  round_.recovered.insert(other);
  if (self_ < other) result.recoveries.push_back(edge_key(agreed, self_, other));
}

void SpanningTree::classify_all(bool forgets, Outbox& out) {
  Classified result{.stamp = round_.stamp, .recoveries = {}};
  round_.branches = forgets ? std::set<ProcessorId>{} : tree_;
  for (const ProcessorId other : tree_) {
    const bool is_gone = !round_.members.contains(other) || !channels_.contains(other);
    if (is_gone) result.cut += round_.branches.erase(other);
  }
  for (const auto& [other, channel] : channels_) {
    if (!round_.members.contains(other)) continue;
    classify(other, forgets ? kForever : channel.reference,
             std::max(channel.offered, channel.theirs), result);
  }
  result.degree = round_.branches.size();
  send(round_.stamp.round.conductor, std::move(result), out);
}

void SpanningTree::search(StepKind kind, Outbox& out) {
  if (kind == StepKind::kTogether) {
    std::map<ProcessorId, Duration> weights;
    for (const ProcessorId other : round_.branches) weights[other] = round_.weights.at(other);
    for (const ProcessorId other : round_.recovered) weights[other] = round_.references.at(other);
    round_.weights = std::move(weights);
    round_.branches.clear();
  }
  FragmentSearch::Outbox box;
  round_.search.emplace(self_, round_.weights, round_.branches);
  round_.search->start(box);
  pass(box, out);
  std::vector<std::pair<ProcessorId, Searching>> early;
  early.swap(round_.early);
  for (const auto& [from, message] : early) handle(from, message, out);
}

void SpanningTree::handle(ProcessorId from, const Searching& m, Outbox& out) {
  if (m.stamp.round != round_.stamp.round || m.stamp < round_.stamp) return;
  if (m.stamp > round_.stamp) {
    const bool has_room = round_.early.size() < kEarlyPerMember * round_.members.size();
    if (has_room) round_.early.emplace_back(from, m);
    return;
  }
  if (!round_.search) return;
  FragmentSearch::Outbox box;
  round_.search->on_message(from, m.what, box);
  pass(box, out);
}

// Recoveries, one by one.

void SpanningTree::handle(ProcessorId from, const Recover& m, Outbox& out) {
  if (from != round_.stamp.round.conductor || !enter(m.stamp) || m.edge.low != self_) return;
  if (round_.branches.contains(m.edge.high)) {
    return send(from, Recovered{m.stamp, true, std::nullopt}, out);
  }
  CycleSearch::Outbox box;
  round_.cycle.emplace(self_, m.stamp, round_.branches);
  round_.cycle->start(m.edge.high, box);
  pass(box, out);
}

void SpanningTree::handle(ProcessorId from, const Seek& m, Outbox& out) {
  if (!enter(m.stamp) || !round_.branches.contains(from)) return;
  CycleSearch::Outbox box;
  round_.cycle.emplace(self_, m.stamp, round_.branches);
  round_.cycle->on_seek(from, m, round_.weights.at(from), box);
  pass(box, out);
}

void SpanningTree::handle(ProcessorId from, const SeekReply& m, Outbox& out) {
  if (m.stamp != round_.stamp || !round_.cycle || !round_.branches.contains(from)) return;
  CycleSearch::Outbox box;
  round_.cycle->on_reply(m, box);
  pass(box, out);
}

void SpanningTree::handle(ProcessorId from, const Exchange& m, Outbox& out) {
  if (from != round_.stamp.round.conductor || !enter(m.stamp)) return;
  if (m.in.ends_at(self_)) {
    round_.weights[m.in.other(self_)] = m.in.weight;
    round_.branches.insert(m.in.other(self_));
  }
  if (m.out && m.out->ends_at(self_)) round_.branches.erase(m.out->other(self_));
  send(from, Exchanged{m.stamp}, out);
}

void SpanningTree::handle(ProcessorId from, const Done& m, Outbox& out) {
  if (from != round_.stamp.round.conductor || m.round != round_.stamp.round) return;
  settle();
  tree_ = round_.branches;
  version_ = {m.round, round_.members};
  for (auto& [other, channel] : channels_) {
    const auto known = round_.references.find(other);
    channel.reference = known == round_.references.end() ? kForever : known->second;
  }
  out.report(Adapted{m.round});
  if (options_.makes_views) begin_views(out);
}

// Who is behind whom.

void SpanningTree::begin_views(Outbox& out) {
  std::map<ProcessorId, Duration> neighbours;
  for (const ProcessorId other : tree_) neighbours[other] = reference(other);
  side_search_.emplace(self_, version_.round, neighbours);
  SideSearch::Outbox box;
  side_search_->start(box);
  pass(box, out);
  const auto early = std::exchange(round_.behind, {});
  for (const auto& [from, message] : early) handle(from, message, out);
}

void SpanningTree::handle(ProcessorId from, const Behind& m, Outbox& out) {
  if (side_search_ && m.round == version_.round) {
    SideSearch::Outbox box;
    side_search_->on_behind(from, m, box);
    pass(box, out);
  } else if (m.round == round_.stamp.round && round_.members.contains(from)) {
    round_.behind.insert_or_assign(from, m);
  }
}

void SpanningTree::pass(SideSearch::Outbox& from, Outbox& out) {
  for (auto& item : from.take()) {
    if (auto* sent = std::get_if<SideSearch::Outbox::Send>(&item)) {
      send(sent->to, std::move(sent->message), out);
    } else {
      sides_ = side_search_->sides();
      sides_round_ = version_.round;
      out.report(Adapted{version_.round, true});
    }
  }
}

std::optional<TreeView> SpanningTree::view(ProcessorId root) const {
  if (sides_round_ == RoundId{}) return std::nullopt;
  return view_of(sides_, self_, {root, TreeKind::kPlanned}, sides_round_.number);
}

}  // namespace phx::mst
