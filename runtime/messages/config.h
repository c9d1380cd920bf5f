#pragma once

#include <cstdint>
#include <string>

#include "overlay/base/time.h"
namespace phx::runtime {

/// Where the trees of collectives come from: plans over the learned network, or the local rules of
/// [Saito08].
enum class TreeSource : std::uint8_t { kLearned, kAdaptive };

/// To whom a leaver gives: to the owners beside its vnodes, or to processors of its own site; or
/// whatever is predicted to take less time over the learned network.
enum class ShareRule : std::uint8_t { kPredicted, kNeighbours, kSites };

/// Every knob of a daemon's core, with its unit and default.
struct DaemonConfig {
  /// A watched peer that says nothing for this long gets a heartbeat.
  Duration heartbeat_period = 1s;
  /// A processor that could not be reached or heard for this long is declared dead.
  Duration peer_timeout = 5s;
  /// So many must have tried a processor in vain, its judge among them, before it is put out. With
  /// 1 any accusation is believed: a fault that the simulator's checkers must find.
  std::uint32_t accusers = 2;
  /// Refusals of another machine count only if somebody outside this one was heard meanwhile.
  /// False: a fault that the checkers must find.
  bool refusals_need_others = true;
  /// For a minute, a processor whose timers were late waits longer before it accuses others, and is
  /// waited for: so many times what it was late. 0: a fault that the checkers must find.
  std::uint32_t late_factor = 3;
  /// Who has declared all others dead ends after so long, unless a job runs there. 0: never.
  Duration alone_max = 24h;
  /// The coordinator takes the mesh down when no job has run for so long, no tool has asked it
  /// anything and nobody has come or gone; four times that before the first job. 0: never.
  Duration idle_max{};
  /// A round of the fair-share policy: an under-loaded processor asks for vnodes this often.
  Duration balance_period = 200ms;
  /// How long `phoenix status` waits for the other daemons.
  Duration status_timeout = 1s;
  /// How long an application may take to end after SIGTERM before it gets SIGKILL.
  Duration kill_grace = 2s;
  /// Bytes not yet acknowledged by one application before its job is ended [limit].
  std::uint64_t undelivered_bytes_max = std::uint64_t{1} << 30U;
  /// Bytes delivered and not acknowledged, or parked, per job and process: above it pieces of
  /// flows are dropped, and asked for again when there is room [limit].
  std::uint64_t flow_bytes_max = std::uint64_t{32} << 20U;
  /// Bytes parked for vnodes on their way here, per job [limit].
  std::uint64_t parked_bytes_max = std::uint64_t{1} << 30U;
  /// Messages kept for jobs that have not been announced here yet [limit]; their bytes are limited
  /// like those of parked ones.
  std::uint64_t early_messages_max = 100'000;
  /// Requests for jobs kept by one who is not in office yet; further ones are counted [limit].
  std::uint64_t early_job_requests_max = 100'000;
  /// Copies of broadcasts that wait for the link to one peer: above it further ones are dropped,
  /// and asked for again when half of that is left [limit]. A piece comes on top.
  std::uint64_t copy_bytes_max = std::uint64_t{7} << 19U;
  /// What a vnode carries goes ahead of it in pieces of this size, if it is more than one.
  std::uint64_t state_piece_bytes = std::uint64_t{256} << 10U;
  /// Of that, and of the vnodes themselves, so much is on its way from one processor to another
  /// one, per job, and a piece more [limit].
  std::uint64_t state_window_bytes = std::uint64_t{1} << 20U;
  /// Vnodes go to so many processors at once; 0: to all that get some.
  std::uint32_t state_receivers = 0;
  ShareRule share_rule = ShareRule::kPredicted;
  /// Bytes queued to one peer above which applications are not read any more.
  std::uint64_t queued_bytes_high = std::uint64_t{64} << 20U;
  TreeSource trees = TreeSource::kLearned;
  /// Of adaptive trees: broadcasts of more bytes take the bandwidth tree [Saito08 E1].
  std::uint64_t bandwidth_above = std::uint64_t{256} << 10U;
  /// Of learned trees: the style (planners::tree_styles()) of jobs that ask for none.
  std::string tree_style = "learned";
  /// What is known of the network is looked at again so often.
  Duration survey_patrol = 5s;
  /// Lives inside an application: whoever attaches without a job begins one, or takes part in it.
  bool embedded = false;
  /// Embedded, of the job that the application begins: else vnodes move by assume and release only.
  bool balance = true;
  /// Jobs at once, those asked for here included [limit]; vnodes per job [limit]; members of the
  /// mesh [limit].
  std::uint32_t jobs_max = 1000;
  std::uint64_t vnodes_max = std::uint64_t{1} << 24U;
  std::uint32_t members_max = 10000;
};

}  // namespace phx::runtime
