#include "runtime/heard_size.h"

#include <variant>

#include "overlay/base/overloaded.h"
#include "runtime/messages/weight.h"

namespace phx::runtime {

std::uint64_t heard_size(const Envelope& envelope) {
  if (const auto* vnodes = std::get_if<VnodeMessage>(&envelope)) {
    const auto* piece = std::get_if<PointToPoint>(&vnodes->delivery);
    if (piece == nullptr || piece->payload.size() + piece->rest < kLongMessage) return 0;
    return piece->payload.size();
  }
  const auto* message = std::get_if<CollectiveMessage>(&envelope);
  if (message == nullptr) return 0;
  const SizeClass size = std::visit(
      Overloaded{[](const collectives::ReductionToken& m) { return size_of_learned(m.way); },
                 [](const collectives::FallbackCopy&) { return SizeClass{}; },
                 [](const collectives::TreeCopy& m) { return m.piece.size; }},
      message->message);
  return size == 0 ? 0 : weight_of(envelope).payload;
}

}  // namespace phx::runtime
