#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "overlay/network/topology.h"
#include "runtime/sim/network_model.h"
#include "runtime/sim/plan_run.h"

namespace phx::sim {

/// Messages on their way through the network model, segment by segment: what Network does for
/// connections, without any. Who is told of an arrival sends on. Thread rule: one owner.
class Post {
 public:
  struct Letter {
    ProcessorId from;
    ProcessorId to;
    std::uint64_t bytes = 0;
    std::uint64_t content = 0;  ///< For whoever sent it.
  };
  using OnLetter = std::function<void(const Letter&)>;

  Post(const overlay::Topology& topology, const overlay::Placing& placing,
       const PlanRunOptions& options);

  void send(const Letter& letter);
  /// Without bytes, and of the class that overtakes all others: only the way takes time.
  void signal(const Letter& letter);
  /// Until nothing is on its way.
  void run(const OnLetter& on_letter);
  [[nodiscard]] Duration now() const { return now_ - Instant{}; }
  [[nodiscard]] PlanOutcome& outcome() { return outcome_; }

 private:
  enum class Stage : std::uint8_t { kLink, kTravel, kEnter, kTake, kArrived };
  struct Step {
    Instant at;
    std::uint64_t number = 0;  ///< In the order of scheduling, so that runs repeat themselves.
    Stage stage = Stage::kLink;
    bool is_last = false;
    std::uint32_t bytes = 0;
    std::size_t letter = 0;
    friend bool operator>(const Step& a, const Step& b) {
      return std::pair(a.at, a.number) > std::pair(b.at, b.number);
    }
  };

  [[nodiscard]] std::size_t keep(const Letter& letter);
  void schedule(Step step, Instant at, Stage stage);
  void on_step(const Step& step, const OnLetter& on_letter);

  NetworkModel model_;
  PlanRunOptions options_;
  Instant now_{};
  std::uint64_t next_step_ = 0;
  std::priority_queue<Step, std::vector<Step>, std::greater<>> steps_;
  std::vector<Letter> letters_;
  std::vector<std::size_t> free_;  ///< Places of letters that have arrived.
  PlanOutcome outcome_;
};

}  // namespace phx::sim
