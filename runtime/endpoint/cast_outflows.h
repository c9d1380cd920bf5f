#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/endpoint/endpoint_config.h"
#include "runtime/messages/delivery.h"
#include "runtime/messages/local_messages.h"

namespace phx::runtime {

/// The roots' ends of the broadcasts of the vnodes held here. The pieces of a root stay here until
/// all vnodes of the job have them. The vnodes that are in step share one position: they get each
/// piece by one copy down the tree. The others are served directly, each from its own position.
/// Rules and reasons: README.md, "Broadcasts". Not thread-safe: one owner.
///
/// Guarantees: to each vnode pieces leave in order, and no further than half of those in step, the
/// slack, or its own credit allow; a piece that a vnode does not have can be sent again.
class CastOutflows {
 public:
  using Casting = VnodeBundle::Casting;
  using Copies = std::vector<ToDaemon>;  ///< Of AppBroadcast.

  explicit CastOutflows(const InflowOptions& options)
      : unasked_bytes_(options.unasked_bytes), slack_bytes_(options.cast_slack_bytes) {}

  // Inputs.
  /// Of the whole job.
  void set_total(std::uint64_t vnodes) { total_ = vnodes; }
  /// Appends to `out` what may leave now.
  void on_credit(const CastCredit& credit, Copies& out);
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
  /// The vnodes that are served apart from the others.
  [[nodiscard]] VnodeSet out_of_step(VnodeId root) const;
  void check_invariants() const;

 private:
  /// How far some vnodes are; see VnodeBundle::Casting::Receivers.
  struct State {
    std::uint64_t received = 0;
    std::uint64_t limit = 0;
    std::optional<std::uint64_t> position = std::nullopt;
    bool was_asked = false;  ///< As it is held up with nothing on its way.
    [[nodiscard]] bool is_open() const { return received != kFlowClosed; }
    [[nodiscard]] bool is_in_step() const { return is_open() && !position; }
    friend bool operator==(const State&, const State&) = default;
  };
  struct Kept {
    collectives::BroadcastPiece piece;
    std::uint64_t offset = 0;
  };
  /// By the first vnode of each range; it ends before the next one.
  using States = std::map<VnodeId, State>;
  struct Root {
    std::uint64_t next = 0;
    std::uint64_t sent = 0;
    std::uint64_t end = 0;    ///< Offset behind the last piece.
    std::uint64_t asked = 0;  ///< All say when they have the pieces below.
    std::deque<Kept> kept;
    States states;
    [[nodiscard]] std::uint64_t first() const { return next - kept.size(); }
  };
  /// What those in step allow together.
  struct Pace {
    VnodeSet vnodes;
    std::uint64_t slowest = 0;  ///< The lowest limit.
    std::uint64_t median = 0;   ///< Half of the vnodes may go on up to here.
  };

  [[nodiscard]] VnodeId last_of(const States& states, States::const_iterator at) const;
  template <class Select>
  [[nodiscard]] VnodeSet select(const Root& root, Select is_wanted) const;
  template <class Change>
  void change(Root& root, const VnodeSet& vnodes, Change change);
  void emit(VnodeId id, Root& root, Copies& out);
  void serve_apart(Root& root, Copies& out);
  void serve_in_step(Root& root, Copies& out);
  void ask_held_up(VnodeId id, Root& root, Copies& out);
  void forget_received(Root& root);
  [[nodiscard]] Pace pace(const Root& root) const;
  [[nodiscard]] std::uint64_t limit(const State& state) const;
  [[nodiscard]] static std::uint64_t offset_of(const Root& root, std::uint64_t number);

  std::uint64_t unasked_bytes_;
  std::uint64_t slack_bytes_;
  std::uint64_t total_ = 0;
  std::map<VnodeId, Root> roots_;
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace phx::runtime
