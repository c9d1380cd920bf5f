#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"

namespace phx::app {

/// What the processes of a job have told about themselves, put together: figures per process and
/// vnode, moves and pauses. Times are seconds since the first process attached.
class JobReport {
 public:
  /// What a process did up to `end`, since the one before.
  struct Stretch {
    double begin = 0;
    double end = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    double waited = 0;
  };
  struct Pause {
    double begin = 0;
    double took = 0;
  };
  struct Process {
    double begin = 0;
    double end = 0;
    bool has_ended = false;  ///< In good order; else the last that is known of it.
    std::vector<Stretch> stretches;
    std::vector<Pause> pauses;
    VnodeSet held;  ///< At its end.
    std::uint64_t came = 0;
    std::uint64_t left = 0;
    [[nodiscard]] Stretch total() const;
    [[nodiscard]] double longest_pause() const;
  };
  /// Vnodes that went together.
  struct Move {
    ProcessorId from;
    ProcessorId to;
    double left = 0;
    double came = 0;
    std::uint64_t vnodes = 0;
    VnodeId first;  ///< One of them.
  };
  struct Vnode {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t moves = 0;
    double waited = 0;  ///< In seconds, in calls that received at it.
  };

  /// Lines of one process, in the order in which it said them [runtime/api/README.md, "Reports"].
  /// What is no such line is ignored.
  void add(ProcessorId processor, std::string_view lines);
  /// To be called before the queries: sorts, and pairs what left with what came.
  void complete();

  [[nodiscard]] bool empty() const { return processes_.empty(); }
  /// When the last process ended.
  [[nodiscard]] double length() const { return length_; }
  [[nodiscard]] const std::map<ProcessorId, Process>& processes() const { return processes_; }
  [[nodiscard]] const std::vector<Move>& moves() const { return moves_; }
  /// Those that have sent or moved.
  [[nodiscard]] const std::map<VnodeId, Vnode>& vnodes() const { return vnodes_; }

  /// Tables for a terminal.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string json(const std::string& title) const;

 private:
  struct Passage {
    double at = 0;
    ProcessorId processor;
    bool is_arrival = false;
    VnodeSet vnodes;
  };
  void take(ProcessorId id, std::string_view line);
  void pass(ProcessorId id, Process& process, double now, bool is_arrival, VnodeSet vnodes);
  void pair_moves();

  std::map<ProcessorId, Process> processes_;
  std::vector<Passage> passages_;
  std::vector<Move> moves_;
  std::map<VnodeId, Vnode> vnodes_;
  double length_ = 0;
};

}  // namespace phx::app
