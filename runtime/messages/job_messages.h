#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/payload.h"
#include "overlay/base/run_map.h"
#include "overlay/base/time.h"
#include "runtime/messages/flow_messages.h"

// What daemons say to each other about jobs.
namespace phx::runtime {

/// What to run, the same everywhere. `command` empty: embedded applications attach by themselves.
struct JobSpec {
  std::uint64_t vnodes = 0;
  std::vector<std::string> command;      ///< argv; the path is looked up at each processor.
  std::vector<std::string> environment;  ///< "NAME=value", added to the daemon's own.
  std::string directory;                 ///< Working directory; falls back to the daemon's.
  std::string name;                      ///< For `phoenix ps`.
  std::uint32_t processors_max = 0;      ///< 0: all, also those that join later.
  bool balance = true;  ///< Fair shares; off: only assume/release of the application move vnodes.
  /// Each vnode stays where it begins until its process ends, as MPI ranks do.
  bool fixed = false;
  Duration attach_timeout = 30s;  ///< An application that has not attached by then fails.
  bool detached = false;          ///< Goes on when its tool goes away; another one may come.
  bool has_input = false;         ///< The first process gets standard input from a tool.
  /// Which trees its collectives take, by name (planners::tree_styles()); empty: as the coordinator
  /// was told.
  std::string trees;
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};
/// How an application process ended.
struct Exit {
  std::int32_t code = 0;    ///< Of a normal exit.
  std::int32_t signal = 0;  ///< Not 0: killed by it.
  bool finished = false;    ///< It had told the library that it was done.
  std::string detail;       ///< E.g. why it could not be started.
  bool aborted = false;     ///< It had asked for the end of the job, because of `detail`.
  friend bool operator==(const Exit&, const Exit&) = default;
};
/// To the coordinator: number this job. Answered by a JobStart or JobRefused.
struct JobRequest {
  std::uint64_t request = 0;
  JobSpec spec;
  friend bool operator==(const JobRequest&, const JobRequest&) = default;
};
/// From the coordinator to the home that asked; then, since the home wants the job still, from
/// there to all. Also part of what a newcomer gets.
struct JobStart {
  JobId job;
  JobSpec spec;
  ProcessorId home;           ///< Announces, collects output and exits, decides the end.
  std::uint64_t request = 0;  ///< Of the home's JobRequest.
  ProcessorSet processors;    ///< Start with equal shares of the vnodes, by ascending id.
  CastCut cast_cut = {};      ///< As cast_cut() gave it.
  friend bool operator==(const JobStart&, const JobStart&) = default;
};
/// From the coordinator to the home that asked: there is no number for this job.
struct JobRefused {
  std::uint64_t request = 0;  ///< Of the home's JobRequest.
  std::string why;
  friend bool operator==(const JobRefused&, const JobRefused&) = default;
};
/// The stages an application process goes through at one processor.
enum class Stage : std::uint8_t { kNone, kStarting, kAttached, kFinished, kExited };
/// To the home: the job's process at the sender is now in this stage.
struct JobStage {
  JobId job;
  Stage stage = Stage::kNone;
  Exit exit;                  ///< With kExited.
  std::uint64_t change = 0;   ///< Counts the sender's stages: the latest one holds.
  std::uint64_t written = 0;  ///< Outputs of the process before this.
  std::uint64_t taken = 0;    ///< The first of them, which the tool has and nobody keeps.
  friend bool operator==(const JobStage&, const JobStage&) = default;
};
/// Of all processors: most are in the same stage, so this is small however many there are.
using JobStages = RunMap<ProcessorId, JobStage>;
/// From anybody to the home and the coordinator, from these to all: the job is over. The first
/// reason that arrives is kept.
struct JobEnd {
  JobId job;
  std::int32_t code = 0;
  std::string reason;  ///< Empty: ended well. Else one sentence for the person who started it.
  friend bool operator==(const JobEnd&, const JobEnd&) = default;
};
/// To the home: bytes an application process wrote.
struct Output {
  JobId job;
  ProcessorId processor;
  bool is_error = false;  ///< stderr
  Payload bytes;
  std::uint64_t number = 0;  ///< Of the outputs of its process, from 1.
  bool is_report = false;    ///< Neither: the lines of an AppReport.
  friend bool operator==(const Output&, const Output&) = default;
};
/// From the home to a processor: the tool has taken so many outputs of the process there.
struct OutputTaken {
  JobId job;
  std::uint64_t count = 0;
  bool again = false;  ///< What comes after them is missing: report the stage, and send it again.
  friend bool operator==(const OutputTaken&, const OutputTaken&) = default;
};
/// From a job's home to all: these stages changed. To single ones: they are to start the program
/// (`kStarting`). The home is what the view of this number makes it, so an older statement is
/// recognised.
struct JobHome {
  JobId job;
  ProcessorId home;
  ViewNumber view = 0;
  bool is_new = false;  ///< It was another one before: all report their stages.
  JobStages stages;
  friend bool operator==(const JobHome&, const JobHome&) = default;
};
/// Asks every application process of the job to take a signal (SIGINT, SIGTERM, ...).
struct JobSignal {
  JobId job;
  std::int32_t signal = 0;
  friend bool operator==(const JobSignal&, const JobSignal&) = default;
};

}  // namespace phx::runtime
