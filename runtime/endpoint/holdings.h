#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"
#include "runtime/endpoint/arrival_order.h"
#include "runtime/endpoint/assembly.h"
#include "runtime/endpoint/cast_inflows.h"
#include "runtime/endpoint/endpoint_config.h"
#include "runtime/endpoint/endpoint_parts.h"
#include "runtime/endpoint/inflows.h"
#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// The vnodes one application process holds, or is about to hold: their mailboxes, duplicate
/// filters, reorder buffers and counters. Everything here moves with its vnode.
/// Not thread-safe: one owner.
///
/// Guarantees: the pieces of a stream (one sender and one destination, or one broadcasting root and
/// one destination) are taken in order and once each, whatever comes in [Saito08 G12, G13].
class Holdings {
 public:
  using Selector = runtime::Selector;
  /// How often something unusual but harmless came in.
  struct Counters {
    std::uint64_t duplicates = 0;  ///< Delivered before: dropped.
    std::uint64_t strays = 0;  ///< For a vnode not held: crossed its release, comes again there.
    std::uint64_t early = 0;   ///< Overtook a predecessor: held back.
  };
  /// `vnode` was told that the reductions towards `target` with numbers below `below` are complete.
  struct Completed {
    VnodeId vnode;
    VnodeId target;
    std::uint64_t below = 0;
  };
  /// What a delivery leads to beyond a fuller mailbox.
  struct Outcome {
    std::vector<Completed> completed;
  };

  /// `room`: by itself the heap.
  explicit Holdings(const InflowOptions& inflows, PayloadRoom room = {})
      : room_(std::move(room)), inflows_(inflows), casts_(inflows) {}

  // Inputs.
  /// Takes a vnode in; its messages are not given out before install().
  void add(VnodeParcel parcel);
  void deliver(const Delivery& delivery, Outcome& outcome);
  /// The same for a message from a vnode here, which needs no credit. REQUIRES that both are here.
  void pass(const PointToPoint& message);
  void on_time(Instant now);

  // Commands.
  /// The messages of all vnodes that were added can be taken from now on.
  void install();
  /// REQUIRES that it is here.
  [[nodiscard]] VnodeBundle remove(VnodeId vnode);
  /// The oldest message that matches, with the vnode that received it.
  [[nodiscard]] std::optional<Received> take(const Selector& wanted);
  /// All that it accepts, asked once of each that has come since arrivals() was `since`, in order.
  [[nodiscard]] std::vector<Received> take_if(const Accepts& accepts, std::uint64_t since);
  /// A call waits in vain for such messages: what could bring one goes on. False: up to a limit.
  [[nodiscard]] bool want(const Selector& wanted);
  /// The program takes nothing any more: what waits, and what comes, is dropped.
  void close();
  /// What the sources of flows, and the roots of broadcasts, have to hear.
  [[nodiscard]] std::vector<FlowCredit> take_credits() { return inflows_.take_credits(); }
  [[nodiscard]] std::vector<CastCredit> take_cast_credits();
  /// Puts a complete message into the mailbox of `vnode`. REQUIRES that it is here.
  void put(VnodeId vnode, Message message);
  /// The counters of a vnode, to be advanced by its owner. REQUIRES that it is here.
  [[nodiscard]] VnodeBundle& bundle(VnodeId vnode);

  // Queries.
  [[nodiscard]] bool is_closed() const { return closed_; }
  [[nodiscard]] const VnodeSet& held() const { return held_; }
  [[nodiscard]] const VnodeSet& arriving() const { return arriving_; }
  [[nodiscard]] bool has(VnodeId vnode) const { return vnodes_.contains(vnode); }
  [[nodiscard]] std::size_t count(const Selector& wanted) const;
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] bool has_credits() const;  ///< take_credits() or take_cast_credits() do something.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_ + casts_.bytes(); }  ///< That wait.
  [[nodiscard]] std::uint64_t arrivals() const { return arrivals_; }             ///< In mailboxes.
  [[nodiscard]] bool has_untaken(VnodeId, std::uint64_t bytes) const;  ///< More; also unfinished.
  void check_invariants() const;

 private:
  struct Waiting {
    std::uint64_t arrival;
    Message message;
  };
  struct Vnode {
    VnodeBundle bundle;           ///< Without what the next member stands for, and what others own.
    std::deque<Waiting> mailbox;  ///< Ascending arrivals.
    std::map<VnodeId, Assembly> assemblies;  ///< Per sender: what its stream has begun.
    std::uint64_t bytes = 0;                 ///< Of what waits here, but for what vnodes share.
  };
  using Slot = std::map<VnodeId, Vnode>::value_type;
  using Stream = VnodeBundle::Inbound;

  void deliver_to(Slot& slot, const Delivery& delivery, Outcome& outcome);
  void accept(Slot& slot, Stream& stream, const Delivery& piece, Outcome& outcome);
  void append(Slot& slot, Stream& stream, const Delivery& piece, Outcome& outcome);
  static void describe(const Slot& slot, const collectives::BroadcastPiece& last, Message& message,
                       Outcome& outcome);
  [[nodiscard]] Payload place(Slot& slot, Stream& stream, const PointToPoint& piece);
  [[nodiscard]] Payload place(Stream& stream, const collectives::BroadcastPiece& piece);
  [[nodiscard]] bool is_begun(VnodeId root, std::uint64_t first) const;
  [[nodiscard]] std::uint64_t begun_bytes(VnodeId root) const;
  [[nodiscard]] Received take_out(VnodeId id, std::deque<Waiting>::iterator at);
  void charge(Slot& slot, std::size_t bytes);
  void reopen();
  [[nodiscard]] Stream& stream(Slot& slot, VnodeId from);
  [[nodiscard]] Stream& root_stream(Slot& slot, VnodeId root);
  [[nodiscard]] Stream* stream_of(const Inflows::Key& key);
  void rest(Slot& slot);
  std::uint64_t put_in(Slot& slot, Message message);
  void serve(const BroadcastDelivery& delivery, Outcome& outcome);
  void answer(const VnodeSet& here, const collectives::BroadcastPiece& question);
  void add_shared(VnodeBundle& bundle);
  void remove_shared(VnodeId id, VnodeBundle& bundle);
  [[nodiscard]] std::map<std::uint64_t, VnodeSet> by_next(VnodeId root) const;

  PayloadRoom room_;
  Inflows inflows_;
  CastInflows casts_;
  std::vector<CastCredit> cast_credits_;
  bool closed_ = false;
  std::uint64_t bytes_ = 0;          ///< Sum over all vnodes.
  std::map<VnodeId, Vnode> vnodes_;  ///< Of both sets below.
  VnodeSet held_;
  VnodeSet arriving_;
  ArrivalOrder order_;  ///< Of what waits in mailboxes of `held_`.
  std::uint64_t arrivals_ = 0;
  /// Long broadcasts that vnodes here have begun to receive, by root and first piece.
  std::map<std::pair<VnodeId, std::uint64_t>, Assembly> assemblies_;
  Counters counters_;
};

}  // namespace phx::runtime
