#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "runtime/channels/channel_peer.h"

namespace phx::runtime {

/// Whether a mesh that was started for one job is of no use any more: whoever started it, and would
/// have taken it down, may have been killed. Before the first job it is waited for longer, as one
/// machine after the other joins. Looks as often as look_period(), so ends are seen later by that.
class Idleness {
 public:
  /// So many times `idle_max` before the first job.
  static constexpr int kBeforeFirst = 4;

  /// See DaemonConfig; 0: the mesh is of use however long nothing runs.
  explicit Idleness(Duration idle_max) : idle_max_(idle_max) {}

  [[nodiscard]] bool is_on() const { return idle_max_ > Duration{}; }
  [[nodiscard]] Duration look_period() const { return std::max<Duration>(idle_max_ / 4, 250ms); }
  /// Something has happened: a member came or went, or a tool asked.
  void on_use(Instant now) { used_at_ = now; }
  void on_job(Instant now) {
    used_at_ = now;
    had_job_ = true;
  }
  /// `is_idle`: no job runs.
  [[nodiscard]] bool is_over(Instant now, bool is_idle) {
    if (!is_idle) on_job(now);
    // It stood still: what came meanwhile may ask for something, and was not read yet.
    if (now - std::exchange(looked_at_, now) > 2 * look_period()) on_use(now);
    return is_on() && now - used_at_ >= (had_job_ ? 1 : kBeforeFirst) * idle_max_;
  }

 private:
  Duration idle_max_;
  Instant used_at_{};
  Instant looked_at_{};
  bool had_job_ = false;
};

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
  std::string why;              ///< See DownOrder.

 private:
  enum class Step : std::uint8_t { kNone, kReach, kFar };
  Step step_ = Step::kNone;
  bool is_over_ = false;
  bool is_own_ = false;
  ProcessorSet others_;  ///< These are to be told yet.
  ProcessorSet told_;
};

}  // namespace phx::runtime
