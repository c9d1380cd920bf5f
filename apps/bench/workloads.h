#pragma once

#include <phoenix.h>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "overlay/base/median.h"

/// The parts of a computation that `phoenix bench` measures. Each says its figures by say().
namespace bench {

/// One line for `phoenix bench`: "figure NAME VALUE".
inline void say(const std::string& name, double value) {
  std::printf("figure %s %.9g\n", name.c_str(), value);
  std::fflush(stdout);
}

/// Seconds of the clock that all processes of one machine share.
[[nodiscard]] double clock_s();

using phx::median;

/// Between two processes with one vnode each: half round trip, one long message, many short ones;
/// in turn over the runtime and over a plain TCP connection between the same two processes.
void pair(phx::Session& job);
/// Runs `program` in two processes with a daemon inside each, which it makes.
void run_inside(const std::function<void(phx::Session&)>& program);
/// How often memory was allocated in this process so far.
[[nodiscard]] std::uint64_t allocations();
/// Broadcast and reduction of 1 byte and of 1 MB, one vnode per process.
void collectives(phx::Session& job);
/// What sweep() measures.
struct SweepOptions {
  std::string operation;  ///< bcast, reduce or allreduce.
  std::vector<std::uint64_t> bytes;
  std::vector<phx::Vnode> roots;  ///< Of bcast; the targets of reduce.
  int rounds = 10;
  /// Between agreeing on a beginning and that; longer than any message takes.
  double pause_s = 0.1;
  bool ordered = false;  ///< Each sum of doubles also with the same bits in any order, in turn.
};
/// One operation over all processes, one vnode each: the last receiver's time, per round. Bytes
/// that are whole doubles are reduced as these, others as small numbers.
void sweep(phx::Session& job, const SweepOptions& options);
/// What redistribution() measures.
struct RedistributionOptions {
  std::string graph;  ///< A file: "from to bytes" of each message.
  std::vector<std::string> schedules;
  int rounds = 1;
};
/// The graph redistributed with each schedule and pace, one vnode per process; what comes is
/// compared with what was sent.
void redistribution(phx::Session& job, const RedistributionOptions& options);
/// What round() measures.
struct RoundOptions {
  std::uint64_t bytes = 1;
  int rounds = 0;              ///< 0: as many as make 50 broadcasts.
  std::uint64_t seed = 1;      ///< Of the order of roots, the second time.
  bool has_receivers = false;  ///< With V3: a broadcast for each pair of vnodes.
  std::string until;           ///< Not empty: while vnodes move, until there is such a file.
};
/// Broadcast Round: broadcasts from each vnode in turn, with and without overlap.
void round(phx::Session& job, const RoundOptions& options);
/// Round trips of one byte between two processes, until there is a file of this name; and how often
/// each allocates memory per message.
void trips(phx::Session& job, const std::string& until);
/// So many bytes from one process to another, in messages of 1 MiB.
void stream(phx::Session& job, std::uint64_t bytes);
/// Small steps until `processors` processes hold vnodes; each says when it got its first ones.
void join(phx::Session& job, std::uint64_t processors);
/// Vnodes with so many bytes of state together do steps until there is this file; then all of it is
/// compared with what it was at the beginning.
void states(phx::Session& job, std::uint64_t bytes, const std::string& until);
/// Vnode 0 with a state of 1 MB goes to and fro while the others work.
void moves(phx::Session& job);

}  // namespace bench
