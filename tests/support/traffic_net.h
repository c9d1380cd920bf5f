#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/jobs/job_traffic.h"

namespace phx::support {

/// The traffic of one job at many processors that come and go. Messages arrive at once and in
/// order; applications are at a safe point whenever they are asked.
class TrafficNet {
 public:
  /// `processors` share the vnodes; the first one is home and stays.
  TrafficNet(std::uint32_t processors, std::uint64_t vnodes);

  // What happens; then everything runs until nothing moves any more.
  void join();
  /// The vnodes of `id` go to others, and then it goes.
  void leave(ProcessorId id);

  // Queries.
  [[nodiscard]] const ProcessorSet& members() const { return members_; }
  [[nodiscard]] runtime::JobTraffic& at(ProcessorId id) { return *seats_.at(id).traffic; }
  [[nodiscard]] const runtime::VnodeMap& map(ProcessorId id) const {
    return seats_.at(id).traffic->router().map();
  }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  /// Vnodes that arrived somewhere.
  [[nodiscard]] std::uint64_t moves() const { return moves_; }
  [[nodiscard]] runtime::Surroundings around(ProcessorId id) const;

 private:
  struct Seat {
    std::unique_ptr<runtime::JobTraffic> traffic;
    std::map<runtime::JobTimer, Instant> timers;
  };
  struct Mail {
    ProcessorId from;
    ProcessorId to;
    runtime::Envelope message;
  };

  void attach(ProcessorId id);
  void tell_standing();
  void absorb(ProcessorId id, runtime::JobOutbox& out);
  void deliver(const Mail& mail);
  /// False: nothing is on its way, and no timer runs.
  bool step();
  void run();

  runtime::JobStart start_;
  overlay::TreeStore trees_;
  runtime::View view_;
  Instant now_{};
  ProcessorSet members_;
  ProcessorSet staying_;
  std::map<ProcessorId, Seat> seats_;
  std::deque<Mail> mail_;
  std::uint32_t next_ = 1;
  std::uint64_t messages_ = 0;
  std::uint64_t moves_ = 0;
};

}  // namespace phx::support
