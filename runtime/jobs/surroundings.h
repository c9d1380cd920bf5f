#pragma once

#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "overlay/network/known_network.h"
#include "overlay/tree_store.h"
#include "runtime/messages/member_messages.h"

namespace phx::runtime {

/// What a job must know of the daemon around it when it handles an input.
struct Surroundings {
  Instant now;
  const overlay::TreeStore& trees;
  const View& view;
  const ProcessorSet& members;  ///< All of the view.
  const ProcessorSet& staying;  ///< Those that do not leave.
  ProcessorId coordinator;
  bool leaving = false;                            ///< This processor leaves, ...
  bool emptied = false;                            ///< ... and is marked as having no vnodes.
  const overlay::KnownNetwork* network = nullptr;  ///< As it is known here; none: nothing is.
  const ProcessorSet* fellows = nullptr;           ///< Others on its machine; none: not known.
};

/// What changes within this time (owners, ends of processes) is one statement to all. Longer the
/// more there are to tell: what is told takes the home a quarter of its time at most.
[[nodiscard]] inline Duration announce_pause(const Surroundings& around) {
  return 10ms + 20us * static_cast<Duration::rep>(around.members.size());
}
/// All members are on this machine.
[[nodiscard]] inline bool is_one_machine(const Surroundings& around) {
  return around.fellows != nullptr && around.fellows->size() + 1 == around.members.size();
}
/// Was a member once. What is said of it may be older than its leaving.
[[nodiscard]] inline bool is_gone(const Surroundings& around, ProcessorId processor) {
  return !around.members.contains(processor) && processor.value < around.view.next_processor;
}

}  // namespace phx::runtime
