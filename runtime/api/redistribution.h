#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives/redistribution/pacer.h"
#include "runtime/api/message.h"
#include "runtime/api/values.h"

namespace phx {

/// When a step of a redistribution begins at a process: kNoBarrier, kBarrierSend or
/// kBarrierSendReceive.
using redistribution::Pace;

/// Bytes by the vnode at the other end. Signed, because programs subtract: less than 0 is refused.
using Sizes = std::map<Vnode, std::int64_t>;

/// How a redistribution goes on; the same at all processes. Rules and costs:
/// runtime/api/README.md, "Redistribution".
struct Redistribution {
  /// Who sends to whom in which step: "rotation", "ranks", a scheduler, as in "drc-exact", or
  /// "predicted": what is predicted to be the fastest over the network as the mesh knows it.
  std::string schedule = "rotation";
  Pace pace = Pace::kNoBarrier;
  /// What the beginning of a step costs, as bytes that could be sent meanwhile: for schedulers.
  std::uint64_t setup_bytes = 20'000;
  /// What vnodes held here expect of whom. Those in it are compared with what is sent.
  std::map<Vnode, Sizes> expected = {};
};

/// [from][to] of what is given, [to][from] of what is got.
using Parcels = std::map<Vnode, std::map<Vnode, Payload>>;

/// `of(v)` is a map of what vnode v sends, by receiver.
template <class Of>
using ParcelOf = typename std::remove_cvref_t<std::invoke_result_t<const Of&, Vnode>>::mapped_type;
template <class Of>
[[nodiscard]] Parcels parcels_of(const std::vector<Vnode>& vnodes, const Of& of) {
  Parcels parcels;
  for (const Vnode from : vnodes) {
    for (const auto& [to, value] : of(from)) parcels[from][to] = encode(value);
  }
  return parcels;
}
template <class T>
[[nodiscard]] std::map<Vnode, std::map<Vnode, T>> decode_parcels(const Parcels& parcels) {
  std::map<Vnode, std::map<Vnode, T>> values;
  for (const auto& [to, column] : parcels) {
    values[to];
    for (const auto& [from, payload] : column) values[to].emplace(from, decode<T>(payload));
  }
  return values;
}

}  // namespace phx
