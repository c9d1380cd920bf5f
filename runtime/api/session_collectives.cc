#include "runtime/api/session_collectives.h"

#include "collectives/reduce_op.h"
#include "runtime/api/collectives.h"
#include "runtime/api/redistribute.h"
#include "runtime/api/session_core.h"

namespace phx {

SessionCollectives::SessionCollectives(const Options& options)
    : core_(std::make_unique<SessionCore>(options)) {}

SessionCollectives::~SessionCollectives() = default;

std::uint64_t SessionCollectives::vnodes() const {
  return core_->vnodes();
}

std::vector<Vnode> SessionCollectives::held() const {
  return core_->held();
}

bool SessionCollectives::holds(Vnode vnode) const {
  return core_->holds(vnode);
}

Payload SessionCollectives::broadcast_bytes(Vnode root, const std::function<Payload()>& make) {
  return Collectives(*core_).broadcast(root, make, "broadcast");
}

Payload SessionCollectives::allreduce_bytes(const Reduction& reduction, const VnodeValues& values) {
  return Collectives(*core_).allreduce(reduction, values, "allreduce");
}

std::optional<Payload> SessionCollectives::reduce_bytes(Vnode target, const Reduction& reduction,
                                                        const VnodeValues& values) {
  return Collectives(*core_).reduce(target, reduction, values, "reduce");
}

std::optional<std::vector<Payload>> SessionCollectives::gather_bytes(Vnode target,
                                                                     const VnodeValues& values) {
  return Collectives(*core_).gather(target, values, "gather");
}

std::vector<Payload> SessionCollectives::allgather_bytes(const VnodeValues& values) {
  return Collectives(*core_).allgather(values);
}

VnodeValues SessionCollectives::scatter_bytes(Vnode root,
                                              const std::function<std::vector<Payload>()>& make) {
  return Collectives(*core_).scatter(root, make, "scatter");
}

std::map<Vnode, std::vector<Payload>> SessionCollectives::alltoall_bytes(
    const std::map<Vnode, std::vector<Payload>>& rows) {
  return Collectives(*core_).alltoall(rows);
}

Parcels SessionCollectives::redistribute_bytes(const Parcels& sent, const Redistribution& how) {
  return phx::redistribute(*core_, sent, how);
}

VnodeValues SessionCollectives::scan_bytes(const Reduction& reduction, const VnodeValues& values,
                                           const std::optional<Payload>& first) {
  return Collectives(*core_).scan(reduction, values, first);
}

Ticket SessionCollectives::contribute_bytes(Vnode vnode, Vnode target, const Reduction& reduction,
                                            const Payload& value) {
  return Collectives(*core_).contribute(target, reduction, {{vnode, value}}, "reduce").front();
}

void SessionCollectives::barrier() {
  const VnodeValues values = values_of(held(), std::uint8_t{1});
  const Reduction all{.kind = collectives::kBarrier, .element_bytes = 1, .fold = {}};
  static_cast<void>(Collectives(*core_).allreduce(all, values, "barrier"));
}

}  // namespace phx
