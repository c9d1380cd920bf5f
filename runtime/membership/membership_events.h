#pragma once

#include <string>
#include <vector>

#include "runtime/messages/messages.h"

// What Membership reports to its owner.
namespace phx::runtime {

/// The view is new. `gone` and `changed` are against the one before. If self is gone: left.
struct ViewInstalled {
  std::vector<SharedMember> changed;  ///< Joined, or `leaving` or `emptied` is new.
  std::vector<ViewChange::Gone> gone;
  friend bool operator==(const ViewInstalled&, const ViewInstalled&) = default;
};
/// The answer to admit(); view() is at least `admitted.view`.
struct Admission {
  Admitted admitted;
  friend bool operator==(const Admission&, const Admission&) = default;
};
/// The others declared this processor dead: stop.
struct FencedOut {
  std::string why;
  friend bool operator==(const FencedOut&, const FencedOut&) = default;
};
/// leave() asked in vain: this processor stays a member.
struct StayOn {
  std::string why;
  friend bool operator==(const StayOn&, const StayOn&) = default;
};

}  // namespace phx::runtime
