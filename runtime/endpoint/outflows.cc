#include "runtime/endpoint/outflows.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/endpoint/endpoint_parts.h"

namespace phx::runtime {
namespace {

std::uint64_t weight_of(const VnodeBundle::Outbound& flow) {
  std::uint64_t bytes = 0;
  for (const PointToPoint& piece : flow.kept) bytes += flow_weight(piece);
  return bytes;
}

/// Sends the pieces from number `again` on once more, as far as they left already.
void go_back(VnodeBundle::Outbound& flow, std::uint64_t again) {
  while (flow.emitted > std::max(again, flow.received)) {
    --flow.emitted;
    flow.offset -= flow_weight(flow.kept[static_cast<std::size_t>(flow.emitted - flow.received)]);
  }
}

}  // namespace

void Outflows::emit(VnodeId from, VnodeId to, Flow& flow, Pieces& out) {
  const std::uint64_t limit = std::max(flow.limit, unasked_bytes_);
  while (flow.emitted < flow.next && flow.offset < limit) {
    const PointToPoint& piece = flow.kept[static_cast<std::size_t>(flow.emitted - flow.received)];
    flow.offset += flow_weight(piece);
    ++flow.emitted;
    out.push_back(piece);
  }
  const bool is_held_up = flow.emitted == flow.received && flow.emitted < flow.next;
  if (is_held_up && !std::exchange(flow.is_asking, true)) questions_.push_back({from, to, false});
}

void Outflows::forget_received(Flow& flow, std::uint64_t received) {
  // More than was ever sent is said by nobody honest; what has not left here cannot have arrived.
  received = std::min(received, flow.emitted);
  if (received <= flow.received) return;
  const auto count = static_cast<std::size_t>(received - flow.received);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += flow_weight(flow.kept[i]);
  flow.bytes -= bytes;
  kept_bytes_ -= bytes;
  flow.kept.drop_front(count);
  flow.received = received;
}

Outflows::Flow& Outflows::flow(VnodeId from, VnodeId to) {
  StreamTable<Flow>& flows = sources_[from];
  if (flows.is_crowded()) flows.rest();
  return flows[to];
}

void Outflows::push(PointToPoint piece, Pieces& out) {
  Flow& flow = this->flow(piece.from, piece.to);
  if (flow.received == kFlowClosed) return;
  const auto [from, to] = std::pair(piece.from, piece.to);
  piece.seq = flow.next++;
  flow.bytes += flow_weight(piece);
  kept_bytes_ += flow_weight(piece);
  flow.kept.push_back(std::move(piece));
  emit(from, to, flow, out);
}

std::uint64_t Outflows::pass(const PointToPoint& piece) {
  Flow& flow = this->flow(piece.from, piece.to);
  PHX_CHECK(flow.kept.empty());
  if (flow.received == kFlowClosed) return kFlowClosed;
  flow.offset += flow_weight(piece);
  // When the receiver moves away the source goes on as at the beginning.
  flow.limit = std::max(flow.limit, flow.offset + unasked_bytes_);
  flow.received = flow.emitted = ++flow.next;
  return flow.next - 1;
}

void Outflows::on_credit(const FlowCredit& credit, Pieces& out) {
  const auto source = sources_.find(credit.from);
  if (source == sources_.end()) return;
  if (source->second.is_crowded()) source->second.rest();
  Flow* known = source->second.find(credit.to);
  if (known == nullptr || known->received == kFlowClosed) return;
  Flow& flow = *known;
  if (credit.received == kFlowClosed) {
    kept_bytes_ -= flow.bytes;
    flow = {};
    flow.received = kFlowClosed;
    return;
  }
  forget_received(flow, credit.received);
  if (credit.limit > flow.limit) flow.is_asking = false;
  flow.limit = std::max(flow.limit, credit.limit);
  if (credit.again) go_back(flow, *credit.again);
  emit(credit.from, credit.to, flow, out);
}

void Outflows::add(VnodeId from, Flows flows) {
  StreamTable<Flow>::Active active;
  for (auto& [to, flow] : flows.active()) {
    const std::uint64_t bytes = weight_of(flow);
    kept_bytes_ += bytes;
    active[to] = {std::move(flow), bytes};
  }
  sources_[from] = {std::move(active), flows.resting()};
}

Outflows::Flows Outflows::remove(VnodeId from) {
  const auto found = sources_.extract(from);
  if (found.empty()) return {};
  StreamTable<Flow>& flows = found.mapped();
  flows.rest();
  Flows::Active active;
  for (auto& [to, flow] : flows.active()) {
    kept_bytes_ -= flow.bytes;
    active.emplace_hint(active.end(), to, std::move(flow));
  }
  return {std::move(active), flows.resting()};
}

void Outflows::ask(const VnodeSet& from, const Asking& how, std::vector<FlowQuestion>& out) {
  for (auto& [source, flows] : sources_) {
    if (!from.contains(source)) continue;
    for (auto& [to, flow] : flows.active()) {
      if (flow.kept.empty() || flow.bytes <= how.least.flow_bytes) continue;
      if (how.once && !is_worth_asking(flow.received, flow.asked, flow.next)) continue;
      flow.asked = flow.next;
      out.push_back({source, to, how.is_lost, flow.next});
    }
  }
}

std::optional<FlowQuestion> Outflows::ask(VnodeId from, VnodeId to) {
  if (is_all_received(from, to)) return std::nullopt;
  Flow& flow = this->flow(from, to);
  flow.asked = flow.next;
  return FlowQuestion{from, to, false, flow.next};
}

bool Outflows::is_all_received(VnodeId from, VnodeId to) const {
  return kept_bytes(from, to) == 0;  // An empty piece has weight, too.
}

std::string Outflows::slowest() const {
  std::uint64_t most = 0;
  VnodeId from;
  VnodeId to;
  for (const auto& [source, flows] : sources_) {
    for (const auto& [target, flow] : flows.active()) {
      if (flow.bytes <= most) continue;
      most = flow.bytes;
      from = source;
      to = target;
    }
  }
  if (most == 0) return {};
  return to_string(to) + " has not taken " + spell_bytes(most) + " from " + to_string(from);
}

std::uint64_t Outflows::kept_bytes(VnodeId from) const {
  const auto source = sources_.find(from);
  if (source == sources_.end()) return 0;
  std::uint64_t bytes = 0;
  for (const auto& [to, flow] : source->second.active()) bytes += flow.bytes;
  return bytes;
}

std::uint64_t Outflows::kept_bytes(VnodeId from, VnodeId to) const {
  const auto source = sources_.find(from);
  if (source == sources_.end()) return 0;
  const auto& active = source->second.active();
  const auto at = active.find(to);
  return at == active.end() ? 0 : at->second.bytes;
}

void Outflows::check_invariants() const {
  std::uint64_t bytes = 0;
  for (const auto& [source, flows] : sources_) {
    flows.check_invariants();
    for (const auto& [to, flow] : flows.active()) {
      PHX_CHECK(flow.bytes == weight_of(flow));
      bytes += flow.bytes;
      if (flow.received == kFlowClosed) continue;
      PHX_CHECK(flow.received <= flow.emitted && flow.emitted <= flow.next);
      PHX_CHECK(flow.kept.size() == flow.next - flow.received);
      for (std::size_t i = 0; i < flow.kept.size(); ++i) {
        PHX_CHECK(flow.kept[i].from == source && flow.kept[i].to == to);
        PHX_CHECK(flow.kept[i].seq == flow.received + i);
      }
    }
  }
  PHX_CHECK(bytes == kept_bytes_);
}

}  // namespace phx::runtime
