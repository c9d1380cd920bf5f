#include "runtime/messages/messages.h"

#include "overlay/base/one_of_members.h"

namespace phx {

using namespace runtime;

template class OneOf<ViewChange, Admit, Admitted, Leave, Suspect, ViewQuery, ViewReport,
                     ViewInstall, Fenced, Heartbeat, LeaveRefused, Flush, Routes, Pull, Offer,
                     OfferReply, OfferCancel, Migrate, VnodeMessage, CollectiveMessage,
                     overlay::Message, JobRequest, JobStart, JobRefused, JobStage, JobEnd, Output,
                     OutputTaken, JobHome, JobSignal, StatusQuestion, StatusAnswer, DrainOrder,
                     DownOrder, StatePiece, StateTaken, SpanningMessage>;

namespace runtime {

const collectives::BroadcastPiece* copied_piece(const CollectiveMessage& message) {
  const collectives::BroadcastPiece* piece = nullptr;
  if (const auto* tree = std::get_if<collectives::TreeCopy>(&message.message)) piece = &tree->piece;
  const auto* fallback = std::get_if<collectives::FallbackCopy>(&message.message);
  if (fallback != nullptr) piece = &fallback->piece;
  return piece == nullptr || collectives::is_question(piece->purpose) ? nullptr : piece;
}

VnodeSet vnodes_of(const CollectiveMessage& copy) {
  if (const auto* tree = std::get_if<collectives::TreeCopy>(&copy.message)) return tree->vnodes;
  VnodeSet vnodes;
  const auto* fallback = std::get_if<collectives::FallbackCopy>(&copy.message);
  if (fallback == nullptr) return vnodes;
  for (const collectives::Tokens& tokens : fallback->mine) vnodes = vnodes.united(tokens.vnodes);
  for (const collectives::FallbackCopy::Onward& share : fallback->onward) {
    for (const collectives::Tokens& tokens : share.tokens) vnodes = vnodes.united(tokens.vnodes);
  }
  return vnodes;
}

}  // namespace runtime
}  // namespace phx
