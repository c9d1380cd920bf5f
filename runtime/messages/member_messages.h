#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "runtime/messages/members.h"

// What daemons say to each other about who belongs to the mesh.
namespace phx::runtime {

/// The membership: agreed, totally ordered by `number`.
struct View {
  ViewNumber number = 0;
  Members members;
  std::uint32_t next_processor = 1;  ///< The id the next newcomer gets.
  std::uint32_t next_job = 1;        ///< The id the next job gets.
  std::uint64_t line = 0;            ///< Members that are gone without having left by themselves.
  ViewNumber relaying_since = 0;     ///< The view since which the same members relay.
  std::uint64_t origin = 0;          ///< Of parts of one mesh the same, of others not.
  friend bool operator==(const View&, const View&) = default;
};

/// Why a processor is no longer a member.
enum class Departure : std::uint8_t { kLeft, kConnectionLost, kUnreachable, kSilent };

/// From the coordinator (the lowest id): view `number` is view `number - 1` with this change.
struct ViewChange {
  ViewNumber number = 0;
  std::vector<SharedMember> joined;  ///< Also used to change a member (`leaving`, `emptied`).
  struct Gone {
    ProcessorId id;
    Departure why = Departure::kLeft;
    std::string detail;
    friend bool operator==(const Gone&, const Gone&) = default;
  };
  std::vector<Gone> gone;
  std::uint32_t next_job = 1;  ///< Of the view: numbers given since the one before are below it.
  friend bool operator==(const ViewChange&, const ViewChange&) = default;
};
/// A member passes a newcomer's wish to the coordinator, which answers the member by `Admitted`.
struct Admit {
  Member newcomer;            ///< Its id is 0.
  std::uint64_t request = 0;  ///< The member's own number of this wish.
  friend bool operator==(const Admit&, const Admit&) = default;
};
struct Admitted {
  std::uint64_t request = 0;
  ProcessorId id;  ///< 0: refused, see `refusal`.
  std::string refusal;
  ViewNumber view = 0;    ///< The first view with the newcomer in it.
  bool is_final = false;  ///< Of a refusal: to ask again is in vain.
  friend bool operator==(const Admitted&, const Admitted&) = default;
};
/// What a leaver wants, each after the one before. It may begin with the second.
enum class LeaveStep : std::uint8_t {
  kMark,     ///< To be marked as leaving, ...
  kEmptied,  ///< ... and as having no vnodes any more, ...
  kRemove,   ///< ... and to be taken out: nobody sends it anything more.
};
/// To the coordinator.
struct Leave {
  LeaveStep step = LeaveStep::kMark;
  friend bool operator==(const Leave&, const Leave&) = default;
};
/// To the judge: `accuser` cannot reach `accused`. From the judge to a witness: try it as well.
struct Suspect {
  ProcessorId accused;
  Departure why = Departure::kSilent;
  std::string detail;
  ProcessorId accuser;  ///< The sender, or the one whose word it passes on.
  friend bool operator==(const Suspect&, const Suspect&) = default;
};
/// From the next coordinator to all when the old one died: what was the last view you saw?
struct ViewQuery {
  ViewNumber number = 0;  ///< That of the sender's view.
  friend bool operator==(const ViewQuery&, const ViewQuery&) = default;
};
/// Without members, if it is no later than that of whoever asked.
struct ViewReport {
  View view;
  friend bool operator==(const ViewReport&, const ViewReport&) = default;
};
/// The view after a change of coordinator; from the new one.
struct ViewInstall {
  View view;  ///< Without members: those of the view before it, less `gone`.
  std::vector<ViewChange::Gone> gone;
  friend bool operator==(const ViewInstall&, const ViewInstall&) = default;
};
/// "You are not a member any more": the receiver was declared dead and must not go on.
struct Fenced {
  ViewNumber view = 0;
  std::string why;
  friend bool operator==(const Fenced&, const Fenced&) = default;
};
/// Keeps a quiet link observed; its acknowledgement is the answer.
struct Heartbeat {
  /// Not zero: the sender's timers were late by so much lately. Its silence means less, for a
  /// while.
  Duration late{};
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};
/// `who` was not marked as leaving, or will not ask for it. From the coordinator to `who`, and from
/// there to those who ordered it.
struct LeaveRefused {
  ProcessorId who;
  std::string why;  ///< One sentence for a person.
  friend bool operator==(const LeaveRefused&, const LeaveRefused&) = default;
};
/// From a leaver: everything I sent you before is processed once you answer; send me no more.
/// Answered by those who know that the asker leaves.
struct Flush {
  bool answer = false;
  friend bool operator==(const Flush&, const Flush&) = default;
};

}  // namespace phx::runtime
