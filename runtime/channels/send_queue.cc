#include "runtime/channels/send_queue.h"

#include <utility>

#include "overlay/base/check.h"

namespace phx::runtime {

void SendQueue::push(const Standpoint& standpoint, Item&& item) {
  PHX_CHECK(standpoint.kind != Standpoint::Kind::kFence);
  const bool is_end = standpoint.kind == Standpoint::Kind::kEnd;
  if (is_end) drop(standpoint.flow.job);
  ++size_;
  bytes_ += item.bytes;
  if (standpoint.kind == Standpoint::Kind::kFlow || (is_end && flows_.contains(standpoint.flow))) {
    push_to_flow(standpoint.flow, std::move(item));
  } else {
    control_.push_back(std::move(item));
  }
}

void SendQueue::drop(JobId job) {
  std::erase_if(flows_, [&](auto& entry) {
    auto& [key, flow] = entry;
    const bool stays = key.kind == FlowKey::Kind::kJob || key.kind == FlowKey::Kind::kMeasure;
    if (key.job != job || stays) return false;
    size_ -= flow.items.size();
    bytes_ -= flow.bytes;
    if (key.kind == FlowKey::Kind::kBroadcast) copy_bytes_ -= flow.bytes;
    (flow.is_bulk ? bulk_ : short_).erase(flow.turn);
    return true;
  });
}

void SendQueue::push_to_flow(const FlowKey& key, Item&& item) {
  const auto [at, is_new] = flows_.try_emplace(key);
  Flow& flow = at->second;
  if (is_new) flow.turn = short_.insert(short_.end(), key);
  if (key.kind == FlowKey::Kind::kBroadcast) copy_bytes_ += item.bytes;
  flow.bytes += item.bytes;
  const bool is_long = item.bytes > options_.short_envelope || flow.bytes > options_.short_flow;
  if (is_long && !flow.is_bulk) {
    flow.is_bulk = true;
    bulk_.splice(bulk_.end(), short_, flow.turn);
  }
  flow.items.push_back(std::move(item));
}

SendQueue::Item SendQueue::pop() {
  PHX_CHECK(!empty());
  Item item;
  if (!control_.empty()) {
    item = std::move(control_.front());
    control_.pop_front();
  } else {
    const bool had_enough = short_in_a_row_ >= options_.short_in_a_row;
    item = short_.empty() || (had_enough && !bulk_.empty()) ? pop_bulk() : pop_short();
  }
  --size_;
  bytes_ -= item.bytes;
  return item;
}

SendQueue::Item SendQueue::pop_short() {
  const auto at = flows_.find(short_.front());
  short_.splice(short_.end(), short_, short_.begin());
  Item item = take_from(at, short_);
  if (!bulk_.empty()) short_in_a_row_ += item.bytes;
  return item;
}

/// Deficit round robin: a flow sends as long as it has credit, and gets a quantum when it has none.
SendQueue::Item SendQueue::pop_bulk() {
  short_in_a_row_ = 0;
  auto at = flows_.find(bulk_.front());
  while (at->second.credit <= 0) {
    at->second.credit += static_cast<std::int64_t>(options_.quantum);
    bulk_.splice(bulk_.end(), bulk_, bulk_.begin());
    at = flows_.find(bulk_.front());
  }
  at->second.credit -= static_cast<std::int64_t>(at->second.items.front().bytes);
  return take_from(at, bulk_);
}

SendQueue::Item SendQueue::take_from(Flows::iterator at, Turns& turns) {
  Flow& flow = at->second;
  Item item = std::move(flow.items.front());
  flow.items.pop_front();
  flow.bytes -= item.bytes;
  if (at->first.kind == FlowKey::Kind::kBroadcast) copy_bytes_ -= item.bytes;
  if (flow.items.empty()) {
    turns.erase(flow.turn);
    flows_.erase(at);
  }
  return item;
}

void SendQueue::check_invariants() const {
  std::size_t size = control_.size();
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < control_.size(); ++i) bytes += control_[i].bytes;
  for (const auto& [key, flow] : flows_) {
    PHX_CHECK(!flow.items.empty() && *flow.turn == key);
    std::uint64_t of_flow = 0;
    for (const Item& item : flow.items) of_flow += item.bytes;
    PHX_CHECK(of_flow == flow.bytes);
    size += flow.items.size();
    bytes += of_flow;
  }
  PHX_CHECK(short_.size() + bulk_.size() == flows_.size());
  PHX_CHECK(size == size_ && bytes == bytes_);
}

}  // namespace phx::runtime
