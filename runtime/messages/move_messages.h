#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"
#include "runtime/messages/delivery.h"

// Who owns vnodes, and how they move: daemon to daemon.
namespace phx::runtime {

/// "`owner` owns (or is about to own) these at that epoch": always true when it was sent. Nobody:
/// their process has finished and its processor has left, so nothing for them is needed any more.
struct Route {
  VnodeSet vnodes;
  ProcessorId owner;
  Epoch epoch = 0;
  friend bool operator==(const Route&, const Route&) = default;
};
/// Routes for everybody; also the whole map for a newcomer.
struct Routes {
  JobId job;
  std::vector<Route> routes;
  bool pass_on = false;  ///< From an owner to the home of the job, which tells everybody.
  friend bool operator==(const Routes&, const Routes&) = default;
};
/// Give me up to `count` of your vnodes, or exactly `exactly` if not empty (assume).
struct Pull {
  JobId job;
  std::uint64_t count = 0;
  VnodeSet exactly;
  friend bool operator==(const Pull&, const Pull&) = default;
};
/// I want to give you these. Nothing moves before you accept.
struct Offer {
  JobId job;
  std::uint64_t offer = 0;                  ///< The giver's number of this offer.
  std::vector<collectives::Tokens> vnodes;  ///< With the epochs at which the receiver would own.
  friend bool operator==(const Offer&, const Offer&) = default;
};
struct OfferReply {
  JobId job;
  std::uint64_t offer = 0;
  bool accepted = false;
  std::string why;  ///< Of a refusal.
  friend bool operator==(const OfferReply&, const OfferReply&) = default;
};
/// The giver withdraws an accepted offer (the vnodes were not released, e.g. the job ends). Empty:
/// it has nothing to give to whoever pulls.
struct OfferCancel {
  JobId job;
  std::vector<collectives::Tokens> vnodes;
  friend bool operator==(const OfferCancel&, const OfferCancel&) = default;
};
struct Migrate {
  JobId job;
  std::vector<VnodeParcel> parcels;
  /// Not 0: the contents of the only parcel have gone ahead, as pieces of this offer.
  std::uint64_t offer = 0;
  std::uint64_t sent = 0;  ///< As in StatePiece.
  friend bool operator==(const Migrate&, const Migrate&) = default;
};
/// A part of the contents of a vnode that is promised to the receiver, and goes there when all of
/// them have arrived [runtime/vnodes/README.md, "Pieces"].
struct StatePiece {
  JobId job;
  std::uint64_t offer = 0;  ///< The giver's number of it.
  VnodeId vnode;
  std::uint64_t number = 0;          ///< 0, 1, 2 ... for this vnode and offer.
  std::vector<std::uint64_t> sizes;  ///< In piece 0: of the contents, which follow each other.
  /// How much has been given to this receiver, of all vnodes together; to be answered. 0: not.
  std::uint64_t sent = 0;
  Payload bytes;
  friend bool operator==(const StatePiece&, const StatePiece&) = default;
};
/// The answer to pieces, and to parcels.
struct StateTaken {
  enum class Outcome : std::uint8_t {
    kComing,   ///< Nothing is said of a vnode.
    kWhole,    ///< All contents of `vnode` are here: it may come.
    kRefused,  ///< It is not taken, and what has come of it is forgotten.
  };
  JobId job;
  std::uint64_t taken = 0;  ///< `sent` of what is answered.
  Outcome outcome = Outcome::kComing;
  std::uint64_t offer = 0;
  VnodeId vnode = {};
  std::string why;  ///< Of a refusal.
  friend bool operator==(const StateTaken&, const StateTaken&) = default;
};

}  // namespace phx::runtime
