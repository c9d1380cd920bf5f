#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "runtime/endpoint/cast_receivers.h"
#include "runtime/endpoint/chase.h"
#include "runtime/endpoint/endpoint_config.h"
#include "runtime/messages/delivery.h"
#include "runtime/messages/local_messages.h"

namespace phx::runtime {

/// The roots' ends of the broadcasts of the vnodes held here. The pieces of a root stay here until
/// all vnodes of the job have them. The vnodes that are in step share one position: they get each
/// piece by one copy down the tree. Those behind them that are close to each other follow together
/// in the same way. The others are served directly, each from its own position. Rules and reasons:
/// README.md, "Broadcasts". Not thread-safe: one owner.
///
/// Guarantees: to each vnode pieces leave in order, and no further than half of those that it goes
/// with, the slack, or its own credit allow; a piece that a vnode does not have can be sent again.
class CastOutflows {
 public:
  using Casting = VnodeBundle::Casting;
  using Copies = std::vector<ToDaemon>;  ///< Of AppBroadcast.

  explicit CastOutflows(const InflowOptions& options)
      : unasked_bytes_(options.unasked_bytes), slack_bytes_(options.cast_slack_bytes) {}

  // Inputs.
  /// Appends to `out` what may leave now.
  void on_time(Instant now, Copies& out);
  /// Of the whole job.
  void set_total(std::uint64_t vnodes) { total_ = vnodes; }
  /// Appends to `out` what may leave now.
  void on_credit(const CastCredit& credit, Copies& out);
  /// The trees are other ones now.
  void on_redrawn(Copies& out);
  /// Vnodes come and go with their broadcasts.
  void add(VnodeId root, Casting casting);
  [[nodiscard]] Casting remove(VnodeId root);

  // Commands.
  /// The next piece of its root, whose `number` is set here. Appends to `out` what may leave now.
  void push(collectives::BroadcastPiece piece, Copies& out);
  /// Questions to all vnodes for which something of these roots is kept.
  void ask(const VnodeSet& roots, const Asking& how, Copies& out);

  // Queries.
  /// Weight of all pieces kept.
  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_bytes_; }
  /// Of one root.
  [[nodiscard]] std::uint64_t kept_bytes(VnodeId root) const;
  /// Of what a root has sent that has not left yet, for want of credit.
  [[nodiscard]] std::uint64_t waiting_bytes(VnodeId root) const;
  /// The root with most of them, for a person: "v3 has not taken 12 MiB of broadcasts from v0".
  [[nodiscard]] std::string slowest() const;
  /// The vnodes that are not in step.
  [[nodiscard]] VnodeSet out_of_step(VnodeId root) const;
  /// Those in step wait for others, and on_time() has to be called now and then.
  [[nodiscard]] bool is_waiting() const;
  void check_invariants() const;

 private:
  struct Kept {
    collectives::BroadcastPiece piece;
    std::uint64_t offset = 0;
  };
  struct Root {
    Root(CastReceivers all, Chase chasing) : receivers(std::move(all)), chase(chasing) {}
    std::uint64_t next = 0;
    std::uint64_t sent = 0;
    std::uint64_t end = 0;    ///< Offset behind the last piece.
    std::uint64_t asked = 0;  ///< All say when they have the pieces below.
    std::deque<Kept> kept;
    CastReceivers receivers;
    Chase chase;
    bool regroups = false;  ///< Somebody is out of step anew, or has lost something.
    bool was_redrawn = false;  ///< Since several fell out of step; so the next may be its victims.
    [[nodiscard]] std::uint64_t first() const { return next - kept.size(); }
    /// REQUIRES a piece that is kept, or the next one.
    [[nodiscard]] std::uint64_t offset_of(std::uint64_t number) const;
    [[nodiscard]] const collectives::BroadcastPiece& piece(std::uint64_t number) const {
      return kept[static_cast<std::size_t>(number - first())].piece;
    }
  };

  Root& root_of(VnodeId id);
  void emit(VnodeId id, Root& root, Copies& out);
  void group(Root& root);
  void serve_apart(Root& root, Copies& out);
  void serve_followers(Root& root, Copies& out);
  void serve_in_step(Root& root, Copies& out);
  void ask_held_up(VnodeId id, Root& root, Copies& out);
  void forget_received(Root& root);

  std::uint64_t unasked_bytes_;
  std::uint64_t slack_bytes_;
  std::uint64_t total_ = 0;
  Instant now_;
  std::map<VnodeId, Root> roots_;
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace phx::runtime
