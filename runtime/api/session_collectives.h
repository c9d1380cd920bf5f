#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "runtime/api/message.h"
#include "runtime/api/options.h"
#include "runtime/api/redistribution.h"
#include "runtime/api/reduce.h"
#include "runtime/api/values.h"
#include "runtime/api/vnode_values.h"

namespace phx {

class SessionCore;

/// The part of a Session [session.h] that all vnodes use together. Calls throw Failure. Rules and
/// costs: runtime/api/README.md, "Collectives". Thread rule: as of Session.
class SessionCollectives {
 public:
  // --- Who is where ---
  /// Of the whole job.
  [[nodiscard]] std::uint64_t vnodes() const;
  /// By this process, ascending. Empty before the first safe point.
  [[nodiscard]] std::vector<Vnode> held() const;
  [[nodiscard]] bool holds(Vnode vnode) const;
  // --- Collectives: every vnode takes part, in the same order everywhere. `of(v)` is the value of
  // vnode v (or `of` itself for each, if it is no function); `op`: see reduce.h. ---
  /// Calls `make()` where `root` is held; everybody gets the value.
  template <class Make>
  auto broadcast(Vnode root, Make make) -> std::remove_cvref_t<decltype(make())> {
    using T = std::remove_cvref_t<decltype(make())>;
    return decode_of<T>("broadcast from", root,
                        broadcast_bytes(root, [&] { return encode(make()); }));
  }
  /// Combines the values of all vnodes. Everybody gets the result.
  template <class Op, class Of>
  auto allreduce(Op op, const Of& of) {
    using T = ValueOf<Of>;
    return decode<T>(allreduce_bytes(reduction<T>(op, true), values_of(held(), of)));
  }
  /// The same with the result at the process that holds `target` only; others do not wait.
  template <class Op, class Of>
  auto reduce(Vnode target, Op op, const Of& of) -> std::optional<ValueOf<Of>> {
    using T = ValueOf<Of>;
    const auto result = reduce_bytes(target, reduction<T>(op, false), values_of(held(), of));
    return result ? std::optional<T>(decode<T>(*result)) : std::nullopt;
  }
  /// The value of every vnode, by vnode, at the process that holds `target`; others do not wait.
  /// Sizes may differ.
  template <class Of>
  auto gather(Vnode target, const Of& of) -> std::optional<std::vector<ValueOf<Of>>> {
    const auto values = gather_bytes(target, values_of(held(), of));
    return values ? std::optional(decode_all<ValueOf<Of>>("gather: the value of", *values))
                  : std::nullopt;
  }
  /// The value of every vnode, by vnode, for everybody.
  template <class Of>
  auto allgather(const Of& of) -> std::vector<ValueOf<Of>> {
    return decode_all<ValueOf<Of>>("allgather: the value of",
                                   allgather_bytes(values_of(held(), of)));
  }
  /// Calls `make()` where `root` is held: a range of vnodes() values, by vnode. The values of the
  /// vnodes held here.
  template <class Make>
  auto scatter(Vnode root, Make make) -> std::map<Vnode, ItemOf<decltype(make())>> {
    using T = ItemOf<decltype(make())>;
    return decode_by_vnode<T>("scatter: the value for",
                              scatter_bytes(root, [&] { return encode_all(make()); }));
  }
  /// What all vnodes have for those held here: `of(from, to)`, as [to][from]. Sizes may differ.
  template <class Of>
  auto alltoall(const Of& of) -> std::map<Vnode, std::vector<PairValueOf<Of>>> {
    std::map<Vnode, std::vector<Payload>> rows;
    for (const Vnode from : held()) {
      for (Vnode to = 0; to < vnodes(); ++to) rows[from].push_back(encode(of(from, to)));
    }
    std::map<Vnode, std::vector<PairValueOf<Of>>> columns;
    for (const auto& [to, values] : alltoall_bytes(rows)) {
      columns[to] = decode_all<PairValueOf<Of>>("alltoall: the value of", values);
    }
    return columns;
  }
  /// What vnodes have for some others: `of(from)` is a map by receiver. The values of each vnode
  /// held by sender. In steps, if wanted; what does not fit is refused everywhere.
  template <class Of>
  auto redistribute(const Of& of, const Redistribution& how = {}) {
    return decode_parcels<ParcelOf<Of>>(redistribute_bytes(parcels_of(held(), of), how));
  }
  /// For each vnode held the values of all vnodes up to it, combined in their order.
  template <class Op, class Of>
  auto scan(Op op, const Of& of) -> std::map<Vnode, ValueOf<Of>> {
    using T = ValueOf<Of>;
    return decode_by_vnode<T>("scan: the value of",
                              scan_bytes(reduction<T>(op, false), values_of(held(), of)));
  }
  /// For each vnode held `first` and the values of all vnodes before it.
  template <class Op, class Of>
  auto exscan(Op op, const Of& of, const ValueOf<Of>& first) -> std::map<Vnode, ValueOf<Of>> {
    using T = ValueOf<Of>;
    const Payload begin = encode(first);
    return decode_by_vnode<T>("exscan: the value of",
                              scan_bytes(reduction<T>(op, false), values_of(held(), of), begin));
  }
  /// Returns when every vnode has called it.
  void barrier();

  // --- The same on bytes: values of the vnodes held here, in any order. ---
  Payload broadcast_bytes(Vnode root, const std::function<Payload()>& make);
  Payload allreduce_bytes(const Reduction& reduction, const VnodeValues& values);
  std::optional<Payload> reduce_bytes(Vnode target, const Reduction& reduction,
                                      const VnodeValues& values);
  std::optional<std::vector<Payload>> gather_bytes(Vnode target, const VnodeValues& values);
  std::vector<Payload> allgather_bytes(const VnodeValues& values);
  VnodeValues scatter_bytes(Vnode root, const std::function<std::vector<Payload>()>& make);
  std::map<Vnode, std::vector<Payload>> alltoall_bytes(
      const std::map<Vnode, std::vector<Payload>>& rows);
  Parcels redistribute_bytes(const Parcels& sent, const Redistribution& how = {});
  /// With `first`: exscan().
  VnodeValues scan_bytes(const Reduction& reduction, const VnodeValues& values,
                         const std::optional<Payload>& first = {});

  // --- Contributions, for programs that are not in step. ---
  /// One vnode's part of a reduction: the result arrives as a message of kind kReduced at
  /// `target`, or of kAllreduced at every vnode if `to_all`. For the built-in operators.
  template <class T, BuiltIn Op>
  Ticket contribute(Vnode vnode, Vnode target, Op op, const T& value, bool to_all) {
    return contribute_bytes(vnode, target, reduction<T>(op, to_all), encode(value));
  }

 protected:
  explicit SessionCollectives(const Options& options);
  ~SessionCollectives();
  SessionCollectives(const SessionCollectives&) = delete;
  SessionCollectives& operator=(const SessionCollectives&) = delete;

  std::unique_ptr<SessionCore> core_;

 private:
  Ticket contribute_bytes(Vnode vnode, Vnode target, const Reduction& reduction,
                          const Payload& value);
};

}  // namespace phx
