#include "runtime/messages/contents.h"

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace phx::runtime {
namespace {

/// Calls `use` with every payload of a list of parts of reductions.
template <class Parts, class Use>
void each_of_parts(Parts& parts, Use use) {
  for (auto& part : parts) use(part.value);
}

template <class AnyDelivery, class Use>
void each_of_delivery(AnyDelivery& delivery, Use use) {
  std::visit(
      [&](auto& m) {
        using M = std::remove_cvref_t<decltype(m)>;
        if constexpr (std::is_same_v<M, PointToPoint>) use(m.payload);
        if constexpr (std::is_same_v<M, BroadcastDelivery>) use(m.piece.payload);
        if constexpr (std::is_same_v<M, collectives::ReductionToken>) each_of_parts(m.parts, use);
      },
      delivery);
}

/// The one place that knows where contents are.
template <class Bundle, class Use>
void each_content(Bundle& bundle, Use use) {
  if (bundle.state) use(*bundle.state);
  for (auto& message : bundle.mailbox) use(message.payload);
  for (auto* streams : {&bundle.from_vnodes, &bundle.from_roots}) {
    for (auto& [from, inbound] : streams->active()) {
      for (auto& piece : inbound.begun) use(piece);
      for (auto& [number, delivery] : inbound.early) each_of_delivery(delivery, use);
    }
  }
  for (auto& [to, flow] : bundle.to_vnodes.active()) {
    for (auto& piece : flow.kept) use(piece.payload);
  }
  for (auto& piece : bundle.casting.kept) use(piece.payload);
  for (auto& [target, given] : bundle.to_targets) {
    for (auto& one : given.kept) use(one.value);
  }
  for (auto& [number, pending] : bundle.as_target.pending) each_of_parts(pending.parts, use);
}

}  // namespace

std::vector<Payload> contents_of(const VnodeBundle& bundle) {
  std::vector<Payload> contents;
  each_content(bundle, [&](const Payload& content) { contents.push_back(content); });
  return contents;
}

void drop_contents(VnodeBundle& bundle) {
  each_content(bundle, [](Payload& content) { content = Payload(); });
}

bool put_contents(VnodeBundle& bundle, std::vector<Payload> contents) {
  std::size_t places = 0;
  each_content(bundle, [&](const Payload&) { ++places; });
  if (places != contents.size()) return false;
  std::size_t next = 0;
  each_content(bundle, [&](Payload& content) { content = std::move(contents[next++]); });
  return true;
}

}  // namespace phx::runtime
