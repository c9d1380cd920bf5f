#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/payload.h"
#include "overlay/base/result.h"
#include "runtime/endpoint/contributions.h"
#include "runtime/endpoint/departing.h"
#include "runtime/endpoint/endpoint_config.h"
#include "runtime/endpoint/endpoint_parts.h"
#include "runtime/endpoint/holdings.h"
#include "runtime/endpoint/kept_news.h"
#include "runtime/endpoint/targets.h"
#include "runtime/messages/local_messages.h"

namespace phx::runtime {

/// The application's side of one attachment to a daemon, without I/O: it owns the truth of every
/// vnode held here and hands it over at safe points. Not thread-safe: one owner.
/// Guarantees: per (source, destination) and per broadcasting root every message is delivered once
/// and in order, wherever the vnodes were meanwhile [Saito08 G12, G13]; the result of a reduction
/// contains every vnode's contribution once [Saito08 G16]. No order between sources or kinds.
class Endpoint {
 public:
  using Selector = Holdings::Selector;
  explicit Endpoint(const EndpointConfig& config = {});

  // Inputs.
  void on_time(Instant now);  ///< For the growth of windows, and for broadcasts that wait.
  void on_message(ToApplication message);
  /// The messages for the daemon, in order. Call after every input and command.
  [[nodiscard]] std::vector<ToDaemon> take_outputs();
  void give_back(std::vector<ToDaemon>&& room) { room_.give_back(std::move(room)); }

  // Commands. A refusal changes nothing. kBadInput: a vnode is not held, or not one of the job's;
  // kUnavailable: the job is over; kLimit: too much waits, so try again when something has come in.
  void attach(const AppAttach& attach) { outputs_.push_back(attach); }
  /// kLimit if a message of so many bytes would be refused now; then the receivers are asked.
  [[nodiscard]] Status check_room(VnodeId from, VnodeId to, std::uint64_t bytes);
  [[nodiscard]] Status check_room(std::uint64_t bytes);  ///< For a broadcast.
  [[nodiscard]] Status send(VnodeId from, VnodeId to, std::uint32_t tag, const Payload& payload);
  [[nodiscard]] Status broadcast(VnodeId root, std::uint32_t tag, const Payload& payload);
  /// Takes part in the next reduction of `vnode` towards `target`. With kUser the target gets
  /// kReduced with all values (see split_user_values) and, if `to_all`, answers by announce().
  [[nodiscard]] Result<Contribution> contribute(VnodeId vnode, VnodeId target,
                                                const ContributionPart& part);
  /// Broadcasts the folded result of a user-defined reduction to all vnodes as kAllreduced.
  [[nodiscard]] Status announce(VnodeId target, std::uint64_t number, const Payload& value);
  [[nodiscard]] std::optional<Received> take(const Selector& wanted);  ///< The oldest that waits.
  [[nodiscard]] std::vector<Received> take_if(const Accepts&, std::uint64_t since);  ///< Holdings.
  [[nodiscard]] Status want(const Selector& wanted);  ///< A call waits for it in vain.
  void ask(VnodeId from, VnodeId to);  ///< So outflows().is_all_received() is heard of soon.
  void acknowledge();                  ///< Everything received: worth calling before a wait.
  void assume(const VnodeSet& vnodes) { outputs_.push_back(AppAssume{vnodes}); }
  void release(const VnodeSet& vnodes);  ///< At the next safe point, although nobody asked.
  void waiting(AppWaiting waiting) { outputs_.push_back(std::move(waiting)); }
  void waited(AppWaited waited) { outputs_.push_back(std::move(waited)); }
  void ask_network() { outputs_.push_back(AppNetworkQuestion{}); }  ///< See take_network().
  void close();  ///< The program takes nothing any more; who sends hears that. Then finish().
  void finish();
  void abort(std::int32_t code, std::string reason);

  // Safe points: begin; the application packs and installs; finish. REQUIRES that they alternate.
  [[nodiscard]] SafePoint begin_safe_point(const VnodeSet& going);  ///< Those, if wanted back.
  void finish_safe_point(std::map<VnodeId, Payload> states);        ///< Of those that depart.

  // Queries. References are valid until the next input or command.
  [[nodiscard]] const std::optional<AppAttached>& attached() const { return attached_; }
  [[nodiscard]] std::uint64_t vnodes() const { return attached_ ? attached_->vnodes : 0; }
  [[nodiscard]] const VnodeSet& held() const { return holdings_.held(); }
  /// Granted, to be installed; wanted back, to be packed: both at the next safe point.
  [[nodiscard]] const VnodeSet& next_arrivals() const { return holdings_.arriving(); }
  [[nodiscard]] const VnodeSet& departing() const { return departing_.all(); }
  [[nodiscard]] VnodeSet due() const;     ///< Those of them that need not wait: see Departing.
  [[nodiscard]] bool is_waiting() const;  ///< on_time() may have consequences.
  [[nodiscard]] std::size_t count(const Selector& wanted) const { return holdings_.count(wanted); }
  [[nodiscard]] bool retired() const { return retired_; }
  [[nodiscard]] bool is_settled() const { return kept_bytes() == 0; }  ///< Nothing is under way.
  [[nodiscard]] std::string unsettled() const;  ///< What is not, for a person.
  [[nodiscard]] const Outflows& outflows() const { return outflows_; }
  [[nodiscard]] const CastOutflows& casts() const { return casts_; }
  [[nodiscard]] const Contributions& contributions() const { return contributions_; }
  [[nodiscard]] const Targets& targets() const { return targets_; }
  [[nodiscard]] std::uint64_t inbox_bytes() const { return holdings_.bytes(); }
  [[nodiscard]] const std::optional<AppEnd>& ended() const { return ended_; }
  [[nodiscard]] auto take_network() { return std::exchange(network_, std::nullopt); }
  [[nodiscard]] bool is_refused() const { return !refusals_.empty(); }
  [[nodiscard]] std::vector<AppRefused> take_refusals() { return std::exchange(refusals_, {}); }
  [[nodiscard]] const Holdings::Counters& counters() const { return holdings_.counters(); }
  [[nodiscard]] std::uint64_t arrivals() const { return holdings_.arrivals(); }
  void check_invariants() const;

 private:
  void handle(AppAttached& m);
  void handle(AppGrant& m);
  void handle(AppDeliver& m);
  void handle(const AppRelease& m);
  void handle(AppRefused& m) { refusals_.push_back(std::move(m)); }
  void handle(const AppRetire&) { retired_ = true; }
  void handle(AppEnd& m);
  void handle(const AppRepair& m);
  void handle(const AppPlace& m) { config_.is_one_machine = m.is_one_machine; }
  void handle(const AppRedrawn&) { casts_.on_redrawn(outputs_); }
  void handle(AppNetwork& m) { network_ = std::move(m.known.network); }
  void deliver(const Delivery& delivery);
  void on_credit(const FlowCredit& credit);
  void ask(const VnodeSet& sources, const Asking& how);
  void ask_targets(const Asking& how);
  void ask_for_room();
  [[nodiscard]] std::uint64_t kept_bytes() const;
  [[nodiscard]] std::string slowest() const;
  void emit(Outflows::Pieces&& pieces);
  void emit_credits();
  [[nodiscard]] bool is_near_to(VnodeId from, VnodeId to) const;
  [[nodiscard]] VnodeBundle pack(VnodeId vnode);
  void settle(Holdings::Outcome& outcome);
  [[nodiscard]] std::string settle(Targets::Reduced& reduced);
  void emit_broadcast(collectives::BroadcastPiece piece, const Payload& payload);
  void emit_released(std::vector<std::pair<VnodeId, VnodeBundle>> bundles);
  [[nodiscard]] Status check_use(VnodeId mine, VnodeId other) const;
  EndpointConfig config_;
  Holdings holdings_;
  Outflows outflows_;
  CastOutflows casts_;
  KeptNews kept_news_;
  Contributions contributions_;
  Targets targets_;
  std::uint64_t asked_at_ = 0;  ///< Kept when all were asked last; 0: more has been sent since.
  std::vector<ToDaemon> outputs_;
  SpareRoom<ToDaemon> room_;
  std::optional<AppAttached> attached_;
  Departing departing_;              ///< A part of the held vnodes.
  std::optional<VnodeSet> packing_;  ///< Between begin and finish of a safe point: what departs.
  std::uint64_t received_ = 0;       ///< Number of the last delivery.
  std::uint64_t acknowledged_ = 0;
  std::uint64_t unacknowledged_bytes_ = 0;
  bool retired_ = false;
  std::optional<AppEnd> ended_;
  std::vector<AppRefused> refusals_;
  std::optional<overlay::KnownNetwork> network_;  ///< As the daemon knew it when it was asked.
};

}  // namespace phx::runtime
