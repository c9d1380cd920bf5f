#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"
#include "runtime/messages/config.h"
#include "runtime/messages/job_outbox.h"
#include "runtime/vnodes/router.h"

namespace phx::runtime {

/// How vnodes travel.
struct TravelOptions {
  std::uint64_t piece_bytes = std::uint64_t{256} << 10U;
  std::uint64_t window_bytes = std::uint64_t{1} << 20U;  ///< Per receiver.
  /// To so many receivers at once; the next one's turn is when one of these has all of its vnodes.
  /// Each giver begins with the one behind itself. 0: to all.
  std::uint32_t receivers_at_once = 0;
  ShareRule share_rule = ShareRule::kPredicted;  ///< Of one who leaves.
};

/// The giver's end of moves: vnodes that the daemon here keeps for others, until their receivers
/// may own them. What carries more than a piece sends that ahead [README, "Pieces"]. Not
/// thread-safe.
///
/// Guarantees: no more than the window, and a piece, is on its way to one receiver; a vnode is
/// handed over only after its receiver has said that it has all of its contents.
class Departures {
 public:
  /// What may change its owner now.
  struct Handover {
    VnodeSet vnodes;
    std::uint64_t offer = 0;  ///< Not 0: the contents have gone ahead.
    std::uint64_t sent = 0;   ///< For Migrate.
  };

  Departures(ProcessorId self, JobId job, const TravelOptions& options);

  // Commands.
  /// The router keeps these, and `to` has accepted them.
  void add(ProcessorId to, std::uint64_t offer, const VnodeSet& vnodes, const Router& router);
  /// Sends what the window allows, up to the next handover, if it is this receiver's turn. To be
  /// called until there is none; then for in_turn().
  [[nodiscard]] std::optional<Handover> next(ProcessorId to, JobOutbox& out);
  /// Those that do not go to `to` any more.
  [[nodiscard]] VnodeSet drop(ProcessorId to);
  [[nodiscard]] VnodeSet drop(ProcessorId to, std::uint64_t offer);

  // Inputs.
  /// Returns what was refused: it does not go there. To be followed by next().
  [[nodiscard]] VnodeSet on_taken(ProcessorId from, const StateTaken& taken);

  // Queries.
  [[nodiscard]] bool empty() const;
  [[nodiscard]] VnodeSet vnodes() const;
  [[nodiscard]] VnodeSet vnodes_to(ProcessorId receiver) const;
  /// Receivers whose turn it is, if not all go at once.
  [[nodiscard]] std::vector<ProcessorId> in_turn() const;
  /// What is being sent, for people; empty: nothing.
  [[nodiscard]] std::string progress() const;
  /// Each vnode goes to one receiver, and that is one of these.
  void check_invariants(const ProcessorSet& there) const;

 private:
  /// A vnode whose contents go ahead.
  struct Parcel {
    std::vector<Payload> contents;
    std::uint64_t total = 0;   ///< Bytes of all of them.
    std::uint64_t sent = 0;    ///< Of these.
    std::uint64_t number = 0;  ///< Of the next piece.
    std::size_t content = 0;   ///< Where it begins, ...
    std::size_t offset = 0;    ///< ... and where in that.
    bool is_sent = false;      ///< All pieces have left.
    std::uint64_t header = 0;  ///< Bytes of the vnode without them.
  };
  using Key = std::pair<std::uint64_t, VnodeId>;  ///< Offer and vnode.
  struct Group {
    std::uint64_t offer = 0;
    VnodeSet vnodes;
    std::uint64_t bytes = 0;
  };
  struct Way {
    std::deque<Group> groups;       ///< Vnodes that carry little.
    std::map<Key, Parcel> parcels;  ///< One after the other.
    std::deque<Key> whole;          ///< Of these: their contents have all arrived.
    std::uint64_t sent = 0;         ///< Bytes of everything since the beginning, ...
    std::uint64_t asked = 0;        ///< ... up to where an answer was asked for, ...
    std::uint64_t taken = 0;        ///< ... and was given.
    [[nodiscard]] bool empty() const { return groups.empty() && parcels.empty(); }
    [[nodiscard]] VnodeSet vnodes() const;
  };

  /// Counts these as given to the receiver. What to ask it: 0, or how much that is now.
  [[nodiscard]] std::uint64_t count(Way& way, std::uint64_t bytes, bool must_ask) const;
  /// What may be handed over at once, if there is something.
  [[nodiscard]] std::optional<Handover> due(Way& way) const;
  [[nodiscard]] StatePiece next_piece(Way& way, const Key& key, Parcel& parcel) const;
  /// The bytes of the next piece.
  [[nodiscard]] Payload cut(Parcel& parcel) const;

  ProcessorId self_;
  JobId job_;
  TravelOptions options_;
  std::map<ProcessorId, Way> ways_;  ///< Also without vnodes: what was given counts on.
};

}  // namespace phx::runtime
