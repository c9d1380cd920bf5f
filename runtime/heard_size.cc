#include "runtime/heard_size.h"

#include <variant>

#include "overlay/base/overloaded.h"

namespace phx::runtime {

std::uint64_t heard_size(const Envelope& envelope) {
  if (const auto* vnodes = std::get_if<VnodeMessage>(&envelope)) {
    const auto* piece = std::get_if<PointToPoint>(&vnodes->delivery);
    return piece == nullptr ? 0 : piece->payload.size() + piece->rest;
  }
  const auto* message = std::get_if<CollectiveMessage>(&envelope);
  if (message == nullptr) return 0;
  const SizeClass size = std::visit(
      Overloaded{[](const collectives::ReductionToken& m) { return size_of_learned(m.way); },
                 [](const collectives::FallbackCopy&) { return SizeClass{}; },
                 [](const collectives::TreeCopy& m) { return m.piece.size; }},
      message->message);
  return size == 0 ? 0 : usual_bytes(size);
}

}  // namespace phx::runtime
