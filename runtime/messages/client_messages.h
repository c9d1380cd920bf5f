#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "overlay/base/interval_set.h"
#include "overlay/base/one_of.h"
#include "overlay/base/payload.h"
#include "overlay/survey_messages.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

// --- A tool (or a newcomer) to a daemon --------------------------------------------------------

/// A process that wants to become a processor of the mesh.
struct JoinRequest {
  Member newcomer;
  friend bool operator==(const JoinRequest&, const JoinRequest&) = default;
};
struct StatusRequest {
  bool ask_all = true;  ///< Also asks the other daemons; else this daemon alone answers.
  JobId job{};          ///< Not 0: with figures of its vnodes.
  TreeQuestion trees{};
  friend bool operator==(const StatusRequest&, const StatusRequest&) = default;
};
struct RunRequest {
  JobSpec spec;
  std::uint64_t tool = 0;  ///< Tool::number.
  friend bool operator==(const RunRequest&, const RunRequest&) = default;
};
/// Go on receiving output and end of a job started earlier (its home has moved).
struct FollowRequest {
  JobId job;
  std::map<ProcessorId, std::uint64_t> shown;  ///< The last output of each process that it has.
  std::uint64_t tool = 0;                      ///< Tool::number.
  bool is_guest = false;                       ///< Tool::is_guest.
  friend bool operator==(const FollowRequest&, const FollowRequest&) = default;
};
struct SignalRequest {
  JobId job;
  std::int32_t signal = 0;  ///< 0: end the job (`phoenix kill`).
  friend bool operator==(const SignalRequest&, const SignalRequest&) = default;
};
/// Drain these processors. Answered by DrainProgress until all have left.
struct DrainRequest {
  std::vector<ProcessorId> processors;
  friend bool operator==(const DrainRequest&, const DrainRequest&) = default;
};
/// Standard input of the job's process here. Answered by InputTaken, now and then, or by an error.
struct InputRequest {
  JobId job;
  std::uint64_t offset = 0;  ///< Of the first of them. What was given before is left out.
  Payload bytes;
  bool is_end = false;  ///< Nothing follows.
  friend bool operator==(const InputRequest&, const InputRequest&) = default;
};
/// End every job and every daemon of the mesh.
struct DownRequest {
  friend bool operator==(const DownRequest&, const DownRequest&) = default;
};
/// What is known of the network? Answered by the daemon that is asked: all know the same.
struct NetworkRequest {
  friend bool operator==(const NetworkRequest&, const NetworkRequest&) = default;
};
using ClientRequest = OneOf<JoinRequest, StatusRequest, RunRequest, FollowRequest, SignalRequest,
                            DrainRequest, DownRequest, InputRequest, NetworkRequest>;

// --- A daemon to a tool --------------------------------------------------------------------------

/// What a newcomer needs to be a processor. Refused if `refusal` is not empty.
struct JoinReply {
  std::string refusal;
  bool is_final = false;  ///< Of a refusal: to ask again is in vain.
  ProcessorId id;
  View view;
  std::vector<JobStart> jobs;
  std::vector<Routes> routes;
  std::vector<JobHome> homes;
  IntervalSet<JobId> over;        ///< Jobs that are over: what still comes for them is late.
  std::vector<JobEnd> ends;       ///< How the last of them ended: a tool may come back for it.
  std::vector<std::string> lost;  ///< "address:port": there may be other parts of the mesh.
  friend bool operator==(const JoinReply&, const JoinReply&) = default;
};
struct StatusReply {
  View view;
  ProcessorId coordinator;
  std::vector<ProcessorStatus> processors;  ///< One, or one per member that answered in time.
  std::vector<ProcessorId> silent;          ///< Members that did not answer in time.
  friend bool operator==(const StatusReply&, const StatusReply&) = default;
};
/// The job has a number and is being started.
struct RunStarted {
  JobId job;
  ProcessorId first;  ///< Where the process is that gets standard input.
  friend bool operator==(const RunStarted&, const RunStarted&) = default;
};
struct RunOutput {
  Output output;  ///< Of a process of the followed job.
  friend bool operator==(const RunOutput&, const RunOutput&) = default;
};
struct RunEnded {
  JobId job;
  std::int32_t code = 0;
  std::string reason;
  JobStages stages;
  friend bool operator==(const RunEnded&, const RunEnded&) = default;
};
/// The job's home moved: connect there and send FollowRequest.
struct RunMoved {
  JobId job;
  std::vector<std::string> endpoints;
  friend bool operator==(const RunMoved&, const RunMoved&) = default;
};
struct DrainProgress {
  struct One {
    ProcessorId id;
    bool gone = false;
    std::optional<std::uint64_t> vnodes_left;  ///< Empty: it has not said so.
    std::string waiting;
    std::string lost;  ///< Not empty: it has died before it had left, in this way.
    friend bool operator==(const One&, const One&) = default;
  };
  std::vector<One> processors;
  friend bool operator==(const DrainProgress&, const DrainProgress&) = default;
};
/// Done as asked (SignalRequest, DownRequest), or not: `error` says why.
struct Done {
  struct Unconfirmed {
    ProcessorId id;        ///< Has not confirmed that the mesh ends.
    std::string endpoint;  ///< An address of it, if it has one.
    friend bool operator==(const Unconfirmed&, const Unconfirmed&) = default;
  };
  std::string error;
  std::vector<Unconfirmed> unconfirmed = {};
  friend bool operator==(const Done&, const Done&) = default;
};
/// The process has so much of its input: the tool keeps it no more.
struct InputTaken {
  JobId job;
  std::uint64_t bytes = 0;
  bool is_closed = false;  ///< It takes no more: its input has ended, or it reads none.
  friend bool operator==(const InputTaken&, const InputTaken&) = default;
};
using ClientReply = OneOf<JoinReply, StatusReply, RunStarted, RunOutput, RunEnded, RunMoved,
                          DrainProgress, Done, InputTaken, overlay::NetworkUpdate>;

}  // namespace phx::runtime
