#include "runtime/vnodes/app_port.h"

#include <utility>
#include <variant>

#include "overlay/base/overloaded.h"
#include "runtime/messages/weight.h"

namespace phx::runtime {

AppDeliver AppPort::deliver(Delivery&& delivery) {
  bytes_ += weight_of(delivery).total();
  kept_.push_back({next_++, std::move(delivery)});
  return kept_.back();
}

void AppPort::acknowledge(std::uint64_t received) {
  while (!kept_.empty() && kept_.front().seq <= received) {
    bytes_ -= weight_of(kept_.front().delivery).total();
    kept_.pop_front();
  }
}

std::map<VnodeId, std::vector<Delivery>> AppPort::delivered_after(std::uint64_t received,
                                                                  const VnodeSet& vnodes) const {
  std::map<VnodeId, std::vector<Delivery>> result;
  for (const AppDeliver& kept : kept_) {
    if (kept.seq <= received) continue;
    std::visit(Overloaded{
                   [&](const PointToPoint& m) {
                     if (vnodes.contains(m.to)) result[m.to].push_back(m);
                   },
                   [&](const BroadcastDelivery& m) {
                     for (const VnodeId vnode : m.to.common(vnodes).ids()) {
                       result[vnode].push_back(BroadcastDelivery{VnodeSet{vnode}, m.piece});
                     }
                   },
                   [&](const collectives::ReductionToken& m) {
                     if (vnodes.contains(m.id.target)) result[m.id.target].push_back(m);
                   },
                   [&](const FlowCredit& m) {
                     if (vnodes.contains(m.from)) result[m.from].push_back(m);
                   },
                   [&](const FlowQuestion& m) {
                     if (vnodes.contains(m.to)) result[m.to].push_back(m);
                   },
                   [&](const CastCredit& m) {
                     if (vnodes.contains(m.root)) result[m.root].push_back(m);
                   },
               },
               kept.delivery);
  }
  return result;
}

}  // namespace phx::runtime
