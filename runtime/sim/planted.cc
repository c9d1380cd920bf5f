#include "runtime/sim/planted.h"

#include <algorithm>
#include <variant>

namespace phx::sim {

void Saboteur::on_received(LinkId link, runtime::Frame& frame) {
  if (fault_ != PlantedFault::kNoDuplicateFilter || !frame.envelope || frame.passage) return;
  Shift& shift = shifts_[link.peer];
  if (frame.seq <= shift.taken) {
    ++shift.twice;
  } else {
    shift.taken = frame.seq;
  }
  // To the daemon it is always the next one.
  frame.seq = shift.taken + shift.twice;
}

void Saboteur::on_sent(LinkId link, runtime::Frame& frame) {
  if (fault_ == PlantedFault::kNoDuplicateFilter && !frame.passage) {
    const Shift& shift = shifts_[link.peer];
    // The first frame of a link says how far the peer's envelopes have come: it is made to say that
    // none has, so that all unconfirmed ones come again.
    if (spoken_on_.insert(link).second) frame.received = 0;
    frame.received -= std::min(frame.received, shift.twice);
  }
  if (!frame.envelope) return;
  auto* output = std::get_if<runtime::Output>(&*frame.envelope);
  if (fault_ == PlantedFault::kUnnumberedOutput && output != nullptr) output->number = 0;
  if (fault_ != PlantedFault::kWrongChild) return;
  auto* message = std::get_if<runtime::CollectiveMessage>(&*frame.envelope);
  auto* copy = message == nullptr ? nullptr : std::get_if<collectives::TreeCopy>(&message->message);
  if (copy == nullptr) return;
  const Piece piece{copy->piece.root, copy->piece.number};
  if (last_piece_ == piece && last_child_ != link.peer) copy->vnodes = last_vnodes_;
  last_piece_ = piece;
  last_child_ = link.peer;
  last_vnodes_ = copy->vnodes;
}

void Saboteur::on_local(runtime::ToDaemon& message) const {
  if (fault_ != PlantedFault::kForgottenCounter) return;
  auto* released = std::get_if<runtime::AppReleased>(&message);
  if (released == nullptr) return;
  for (auto& [vnode, bundle] : released->vnodes) {
    if (!bundle.from_vnodes.empty()) bundle.from_vnodes.erase(bundle.from_vnodes.begin());
  }
}

}  // namespace phx::sim
