#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/time.h"
#include "runtime/membership/failure_detector.h"
#include "runtime/membership/membership_events.h"
#include "runtime/membership/membership_options.h"
#include "runtime/membership/takeover.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// One processor's part in agreeing who belongs to the mesh. The member with the lowest id, the
/// coordinator, numbers all changes; when it dies the next one asks everybody for the last view
/// and goes on from the highest. Protocol and arguments: the README beside. Needs a FIFO to
/// every member that loses nothing (Channels). No I/O; not thread-safe: one owner.
///
/// Guarantees: members that stay install views in the order of their numbers, and never different
/// ones of the same number; an id is given once; a wish (admit, leave) is fulfilled exactly once
/// whatever dies meanwhile, or the one who had it is fenced.
/// Does not guarantee: one mesh during a partition (each side goes on by itself).
class Membership {
 public:
  enum class Timer : std::uint8_t { kRetry, kOffice };
  using ViewInstalled = runtime::ViewInstalled;
  using Admission = runtime::Admission;
  using FencedOut = runtime::FencedOut;
  using StayOn = runtime::StayOn;
  using Event = std::variant<ViewInstalled, Admission, FencedOut, StayOn>;
  using Outbox = phx::Outbox<Envelope, Timer, Event>;

  /// `initial` contains `self`.
  Membership(ProcessorId self, View initial, const MembershipOptions& options);

  // Inputs. After each, the owner watches watched() and forgets who is gone.
  void start(Instant now, Outbox& out);
  /// A newcomer asked this processor. Answered by Admission with the same `request`.
  void admit(Instant now, const Member& newcomer, std::uint64_t request, Outbox& out);
  /// This processor wants to leave: gets marked, or StayOn; at last, gets out.
  void leave(Instant now, LeaveStep step, Outbox& out);
  /// This processor's own channel to `accused` failed.
  void suspect(Instant now, ProcessorId accused, Departure why, std::string detail, Outbox& out);
  /// ... and works again.
  void trust(Instant now, ProcessorId peer, Outbox& out);
  void on_message(Instant now, ProcessorId from, const ViewChange& message, Outbox& out);
  void on_message(Instant now, ProcessorId from, const Admit& message, Outbox& out);
  void on_message(Instant now, ProcessorId from, const Admitted& message, Outbox& out);
  void on_message(Instant now, ProcessorId from, const Leave& message, Outbox& out);
  void on_message(Instant now, ProcessorId from, const LeaveRefused& message, Outbox& out);
  void on_message(Instant now, ProcessorId from, const Suspect& message, Outbox& out);
  void on_message(Instant now, ProcessorId from, const ViewQuery& message, Outbox& out);
  void on_message(Instant now, ProcessorId from, const ViewReport& message, Outbox& out);
  void on_message(Instant now, ProcessorId from, const ViewInstall& message, Outbox& out);
  void on_message(Instant now, ProcessorId from, const Fenced& message, Outbox& out);
  void on_timer(Instant now, Timer timer, Outbox& out);
  void note_job(JobId job);  ///< One of this number exists.
  /// The number of a new job; 0: all are used up. REQUIRES is_coordinator().
  [[nodiscard]] JobId take_job_id();

  // Queries. References are valid until the next input.
  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] bool contains(ProcessorId id) const { return view_.members.contains(id); }
  [[nodiscard]] ProcessorId coordinator() const;  ///< The lowest id; kNobody: all have left.
  [[nodiscard]] bool is_coordinator() const { return coordinator() == self_ && !is_over_; }
  /// Numbers that `from` gives count: it is the coordinator, and nobody takes over from it.
  [[nodiscard]] bool may_number(ProcessorId from) const {
    return coordinator() == from && !promised_;
  }
  /// The members of the view; those of them that do not leave; these, and who still has vnodes.
  [[nodiscard]] const ProcessorSet& ids() const { return ids_; }
  [[nodiscard]] const ProcessorSet& live() const { return live_; }
  [[nodiscard]] const ProcessorSet& relaying() const { return relaying_; }
  /// Whom this processor must observe, and report by suspect().
  [[nodiscard]] const ProcessorSet& watched() const { return watched_; }
  [[nodiscard]] ProcessorSet observers() const;  ///< Who watches this one, and would judge it.
  [[nodiscard]] const ProcessorSet& fellows() const { return fellows_; }  ///< On its machine.
  [[nodiscard]] ProcessorSet gone() const;  ///< Ids given once that are no members (any more).
  [[nodiscard]] ProcessorId last_given() const { return ProcessorId{view_.next_processor - 1}; }
  [[nodiscard]] Fenced fence() const;  ///< The answer to such a one.
  void check_invariants() const;

 private:
  using Gone = ViewChange::Gone;
  using Request = std::pair<ProcessorId, std::variant<Admit, Leave>>;  // who asks, for what

  struct Draft;  // the change that the coordinator makes: office.cc

  void draft(ProcessorId from, const Admit& wish, Draft& draft);
  void draft(ProcessorId from, const Leave& wish, Draft& draft);
  void draft_emptied(Instant now, Draft& draft, Outbox& out);
  void answer(Draft& draft, Outbox& out);
  void hold(Request request);
  void refuse_leave(ProcessorId from, Outbox& out);
  void publish(ViewChange change, Outbox& out);
  void apply(const ViewChange& change, Outbox& out);
  void apply_held(Outbox& out);
  void forget_known();
  void install(View next, const std::vector<Gone>& reasons, Outbox& out);
  [[nodiscard]] ProcessorId acting() const;
  [[nodiscard]] bool concerns(ProcessorId id) const;
  [[nodiscard]] bool is_member(ProcessorId from, Outbox& out);
  void settle(Instant now, Outbox& out);
  void do_office(Instant now, Outbox& out);
  void accuse(Instant now, ProcessorId accuser, const Gone& accused, Outbox& out);
  void judge(Instant now, ProcessorId accused, Outbox& out);
  void condemn(const Gone& dead);
  [[nodiscard]] bool is_proof(ProcessorId accuser, const Gone& accused) const;
  [[nodiscard]] std::vector<ProcessorId> witnesses(ProcessorId accused) const;
  void try_judges(ProcessorId accused, Outbox& out) const;
  void promise(ProcessorId successor);
  void repeat_wishes(Outbox& out);
  void repeat_suspicions(Outbox& out);
  void begin_takeover(Outbox& out);
  void end_takeover_if_complete(Outbox& out);
  void renew_watched();

  ProcessorId self_;
  MembershipOptions options_;
  View view_;
  ProcessorSet ids_;  ///< These follow the changes: made anew they cost the mesh's size.
  ProcessorSet live_, relaying_, fellows_, watched_;
  FailureDetector detector_;
  bool is_over_ = false;                 ///< Left or fenced: takes no input any more.
  ProcessorId obeyed_;                   ///< acting() after the last input.
  std::optional<ProcessorId> promised_;  ///< Takes over, or tried to; nobody lower is obeyed.
  std::optional<Takeover> takeover_;     ///< `promised_` is self.
  std::deque<Request> requests_;         ///< Came before this processor was in office.
  /// Changes that cannot be applied yet, and who sent them.
  std::map<ViewNumber, std::pair<ProcessorId, ViewChange>> held_;
  std::map<std::uint64_t, Member> admissions_;  ///< Asked for here and not answered.
  std::optional<Leave> leave_;                  ///< Asked for here and not fulfilled.
  ProcessorSet newer_;                          ///< Spoke before any view here had them.
  bool retry_armed_ = false;
  Instant office_opens_{};  ///< Wishes and deaths wait until then, and become one change.
  ProcessorSet emptied_;    ///< Asked for that, and wait for others until then.
  std::optional<Instant> emptied_due_;
};

}  // namespace phx::runtime
