#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/spare_room.h"
#include "runtime/endpoint/endpoint_config.h"
#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// The sending ends of the flows of the vnodes held here. A flow is everything from one vnode to
/// another one. Its pieces stay here until the process that holds the receiver has them, and leave
/// only as far as the receiver has given credit: what waits, waits at its source.
/// Not thread-safe: one owner.
///
/// Guarantees: pieces leave in order; a piece that the receiver does not have can be sent again.
class Outflows {
 public:
  /// By vnode of the receiving ends.
  using Flows = StreamTable<VnodeBundle::Outbound>;
  using Pieces = std::vector<PointToPoint>;

  /// `unasked_bytes`: may leave before the receiver has said anything; the same everywhere.
  explicit Outflows(std::uint64_t unasked_bytes) : unasked_bytes_(unasked_bytes) {}

  // Inputs.
  /// Appends to `out` what may leave now.
  void on_credit(const FlowCredit& credit, Pieces& out);
  /// Vnodes come and go with their flows.
  void add(VnodeId from, Flows flows);
  [[nodiscard]] Flows remove(VnodeId from);

  // Commands.
  /// The next piece of its flow, whose `seq` is set here. Appends to `out` what may leave now.
  void push(PointToPoint piece, Pieces& out);
  /// The same for a receiver in this process, which has it at once. REQUIRES is_all_received().
  /// Returns the number of the piece.
  std::uint64_t pass(const PointToPoint& piece);
  /// Questions for the flows of `from` of which something is kept here.
  void ask(const VnodeSet& from, const Asking& how, std::vector<FlowQuestion>& out);
  /// The question for one flow; nothing if all of it has been received.
  [[nodiscard]] std::optional<FlowQuestion> ask(VnodeId from, VnodeId to);

  /// Of flows that are held up although nothing of them is on its way: so credit may have been
  /// lost.
  [[nodiscard]] std::vector<FlowQuestion> take_questions() { return std::exchange(questions_, {}); }

  /// Of lists of pieces, between one and the next.
  [[nodiscard]] SpareRoom<PointToPoint>& room() { return room_; }

  // Queries.
  [[nodiscard]] bool is_all_received(VnodeId from, VnodeId to) const;
  /// Weight of all pieces kept.
  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_bytes_; }
  /// Of one source.
  [[nodiscard]] std::uint64_t kept_bytes(VnodeId from) const;
  /// Of one flow.
  [[nodiscard]] std::uint64_t kept_bytes(VnodeId from, VnodeId to) const;
  /// The flow with most of them, for a person: "v3 has not taken 12 MiB from v0". Empty if none.
  [[nodiscard]] std::string slowest() const;
  void check_invariants() const;

 private:
  struct Flow : VnodeBundle::Outbound {
    std::uint64_t bytes = 0;  ///< Weight of what is kept.
    std::uint64_t asked = 0;  ///< The receiver says when it has the pieces below.
    bool is_asking = false;   ///< As it was held up: once, until credit comes.
  };
  /// Active from now on. Others may come to rest.
  [[nodiscard]] Flow& flow(VnodeId from, VnodeId to);
  void emit(VnodeId from, VnodeId to, Flow& flow, Pieces& out);
  void forget_received(Flow& flow, std::uint64_t received);

  std::uint64_t unasked_bytes_;
  std::map<VnodeId, StreamTable<Flow>> sources_;
  std::uint64_t kept_bytes_ = 0;
  std::vector<FlowQuestion> questions_;
  SpareRoom<PointToPoint> room_;
};

}  // namespace phx::runtime
