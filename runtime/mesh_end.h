#pragma once

#include <cstdint>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "runtime/channels/channel_peer.h"

namespace phx::runtime {

/// How a member takes its mesh down: in which order the others are told, so that nobody ends who is
/// needed as a relay [README.md, "The end of a mesh"].
///
/// Guarantees: who is reached only through others is told before these; each is told once. Those
/// who come meanwhile are told by the coordinator.
class MeshEnd {
 public:
  [[nodiscard]] bool is_under_way() const { return step_ != Step::kNone; }
  [[nodiscard]] bool is_begun() const { return is_under_way() || is_over_; }
  /// This processor ends: it has told others, or was told.
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// False: it was over before.
  bool end();
  /// It was begun here, and nobody else has told all of them.
  [[nodiscard]] bool is_own() const { return is_own_; }
  /// All that are told here, or were told by whoever ordered it here.
  [[nodiscard]] const ProcessorSet& told() const { return told_; }
  /// These are to be told, as soon as it is known how each of them is reached.
  /// `told` have been told before; nobody: it begins here. REQUIRES that none is under way.
  void begin(const ProcessorSet& others, const ProcessorSet& told);
  /// Others have told these. False: nobody is left.
  bool on_told(const ProcessorSet& told);
  /// What was sent before has arrived, or took too long; `far` are reached through others. Returns
  /// whom to tell now; these are the last ones, unless it is still under way.
  [[nodiscard]] ProcessorSet next(const ProcessorSet& far);

  ChannelMarks awaited;         ///< What must have arrived before next().
  std::vector<ClientId> tools;  ///< They asked for it, and hear what came of it.

 private:
  enum class Step : std::uint8_t { kNone, kReach, kFar };
  Step step_ = Step::kNone;
  bool is_over_ = false;
  bool is_own_ = false;
  ProcessorSet others_;  ///< These are to be told yet.
  ProcessorSet told_;
};

}  // namespace phx::runtime
