#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/outbox.h"
#include "overlay/base/rng.h"
#include "overlay/base/time.h"
#include "overlay/messages.h"

namespace phx::overlay {

struct GaugeOptions {
  /// Landmarks measured at the same time.
  std::size_t abreast = 8;
  /// Pings sent at once to learn what a message costs; the distance of their answers tells.
  std::uint32_t burst = 8;
  /// A report is made after this time, whoever has not answered: a connection takes two round trips
  /// to come up, and three pings as many, of 1.4 s at most.
  Duration patience = 8s;
  /// Landmarks of a task, and pings to each [limits]; further ones are left out.
  std::size_t landmarks_max = 256;
  std::uint32_t pings_max = 16;
};

/// Measures round trips for a surveyor: one task at a time, a newer one replaces it. Answers the
/// pings of others. Silent between tasks. Thread rule: one owner.
class Gauge {
 public:
  enum class Timer : std::uint8_t { kBegin, kPatience };
  struct Done {
    ProcessorId asker;
    SurveyReport report;
  };
  using Outbox = phx::Outbox<Ping, Timer, Done>;

  Gauge(ProcessorId self, const GaugeOptions& options, Rng rng);

  // Inputs.
  void on_task(Instant now, ProcessorId from, const SurveyTask& task, Outbox& out);
  void on_ping(Instant now, ProcessorId from, const Ping& ping, Outbox& out);
  void on_timer(Instant now, Timer timer, Outbox& out);
  /// Forgets whoever is not in `live`.
  void on_members(Instant now, const ProcessorSet& live, Outbox& out);

  // Commands.
  void stop(Outbox& out);

  // Queries.
  [[nodiscard]] bool is_idle() const { return !task_; }

 private:
  /// One landmark being measured.
  struct Flight {
    std::uint64_t number = 0;
    Instant sent;
    std::uint32_t left = 0;  ///< Pings, this one included.
    Duration least = kForever;
  };
  struct Burst {
    std::uint64_t first = 0;  ///< Its numbers are this one and those that follow.
    std::uint32_t answers = 0;
    Instant first_answer;
  };
  struct Task {
    ProcessorId asker;
    std::vector<ProcessorId> queue;  ///< Still to be measured; last first.
    std::uint32_t pings = 1;         ///< To each.
    SurveyReport report;
    bool wants_overhead = false;
    std::optional<Burst> burst;
  };

  void launch(Instant now, Outbox& out);
  void ping(Instant now, ProcessorId peer, Flight& flight, Outbox& out);
  void on_burst(Instant now, Outbox& out);
  [[nodiscard]] std::optional<ProcessorId> nearest() const;
  void finish(Outbox& out);

  ProcessorId self_;
  GaugeOptions options_;
  Rng rng_;
  ProcessorSet live_;
  std::optional<Task> task_;
  std::map<ProcessorId, Flight> flights_;
  std::uint64_t next_ = 1;
};

}  // namespace phx::overlay
