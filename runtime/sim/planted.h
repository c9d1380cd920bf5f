#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "runtime/messages/client_messages.h"
#include "runtime/messages/local_messages.h"
#include "runtime/messages/messages.h"

namespace phx::sim {

/// A fault put into the runtime on purpose, to see whether the checkers find it.
enum class PlantedFault : std::uint8_t {
  kNone,
  kNoDuplicateFilter,       ///< What is sent again after a break is taken, and delivered, again.
  kWrongChild,              ///< One child of two gets what was for the other.
  kForgottenCounter,        ///< A vnode forgets, when it moves, how far a stream has come.
  kUnnumberedOutput,        ///< What processes write has no order.
  kForgottenShown,          ///< A home forgets what a tool that comes was shown before.
  kNamelessTools,           ///< ... or that it is the one whose connection it still holds.
  kPatientHome,             ///< A home waits for an hour for a tool whose connection broke.
  kForgetfulRelay,          ///< What passes a relay is lost, and nobody is told.
  kLostParcels,             ///< Vnodes that move do not arrive.
  kLostPieces,              ///< The second piece of a state does not arrive.
  kEarlyOwner,              ///< A vnode is sent for before the last piece of its state is there.
  kCutState,                ///< The state of a vnode is cut to 64 bytes when it moves.
  kSwappedState,            ///< ... or the third 64 bytes of it and the fourth ones change places.
  kSwappedPieces,           ///< Two equally long pieces in a message change places.
  kWrongSum,                ///< A value that was combined on the way is changed.
  kIgnoredLine,             ///< Relays take tokens of an old line for those of the new one.
  kForgottenContributions,  ///< What was contributed is not kept.
  kNoContributionWindow,    ///< Contributions go ahead of their target as far as they like.
  kLostCopies,              ///< Some copies of broadcasts are dropped, and nobody is told.
  kUntoldDrops,             ///< Who dropped a piece of a broadcast does not say so.
  kNoCastCredit,            ///< Roots get no credit.
  kLeakyJobs,               ///< Some messages of one job go to another one.
  kUnansweredLeaver,        ///< Nobody tells a leaver that it is sent nothing more.
  kUnaskedLeaver,           ///< Each is ordered to leave once, and nobody wanted it.
  // These cost only time, messages or memory.
  kNoTrees,      ///< Nobody hears of trees.
  kCopiesTwice,  ///< Each copy of a broadcast is sent twice.
  kNoPulls,      ///< Newcomers never get vnodes.
  kEndlessHops,  ///< The hop budget of copies never falls.
  kNoTreeClose,  ///< Trees that are out of use stay.
  kAllDirect,    ///< Broadcasts are sent as if nobody was in step.
  kLongWaits,    ///< Reductions always wait for their time-out.
  kNoNetwork,    ///< Nobody but the surveyor hears of the network.
  kUntoldWaits,  ///< Whoever stands still now and then does not say so.
};

/// Sits between one daemon and its driver, and falsifies what passes. Harmless with kNone.
class Saboteur {
 public:
  explicit Saboteur(PlantedFault fault) : fault_(fault) {}

  /// A frame on its way to the daemon.
  void on_received(LinkId link, runtime::Frame& frame);
  /// A frame on its way out.
  void on_sent(LinkId link, runtime::Frame& frame);
  /// A frame of others that does not leave the relay.
  [[nodiscard]] bool drops(ProcessorId self, const runtime::Frame& frame) const {
    return fault_ == PlantedFault::kForgetfulRelay && frame.passage &&
           frame.passage->from != self && frame.passage->step == runtime::Passage::Step::kCarry;
  }
  /// What a tool asks for.
  void on_asked(runtime::ClientRequest& request) const;
  /// What an application tells the daemon at once.
  void on_local(std::vector<runtime::ToDaemon>& messages);
  /// Whether this frame goes out a second time.
  [[nodiscard]] bool sends_twice(const runtime::Frame& frame) const;
  [[nodiscard]] bool waits_for_tools() const { return fault_ == PlantedFault::kPatientHome; }
  /// Whether applications get what their endpoint recognised as delivered before.
  [[nodiscard]] bool delivers_twice() const { return fault_ == PlantedFault::kNoDuplicateFilter; }

 private:
  void spoil(runtime::Envelope& envelope);
  void spoil(collectives::Message& message) const;
  void spoil(runtime::ToDaemon& message);
  void leak(runtime::Envelope& envelope);
  void forget_given(collectives::ReductionToken& token);
  /// To be asked of each piece that is sent.
  [[nodiscard]] bool is_last(const runtime::StatePiece& piece);

  /// What the missing filter leads to: numbers of a peer's envelopes shift by those taken twice.
  struct Shift {
    std::uint64_t taken = 0;  ///< Highest number received.
    std::uint64_t twice = 0;
  };
  using Piece = std::pair<VnodeId, std::uint64_t>;

  PlantedFault fault_;
  std::map<ProcessorId, Shift> shifts_;
  JobId last_job_;            ///< Of the last message ...
  std::uint64_t passed_ = 0;  ///< ... of so many.
  std::uint64_t heartbeats_ = 0;
  std::uint64_t line_ = 0;  ///< The highest that a token had.
  std::set<std::pair<collectives::ReductionId, VnodeId>> given_;
  std::map<std::pair<std::uint64_t, VnodeId>, std::uint64_t> unsent_;  ///< Bytes, by offer.
  std::set<LinkId> spoken_on_;       ///< Links whose first frame went out.
  std::optional<Piece> last_piece_;  ///< Of the last copy sent, and for whom it was.
  ProcessorId last_child_;
  VnodeSet last_vnodes_;
};

}  // namespace phx::sim
