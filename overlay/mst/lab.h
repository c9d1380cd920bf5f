#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "overlay/mst/spanning_tree.h"

namespace phx::mst {

/// Processors joined by channels with delays, which keep order: drives their machines, in an order
/// that only the delays decide. For tests and experiments. Thread rule: one owner.
class Lab {
 public:
  /// How long a message takes; asked for each one.
  using Delay = std::function<Duration(ProcessorId from, ProcessorId to)>;

  Lab(const SpanningTreeOptions& options, Delay delay)
      : options_(options), delay_(std::move(delay)) {}

  /// These live from now on; newcomers know it at once, the others after a delay from nobody.
  void set_members(const ProcessorSet& live);
  /// Both ends measure this. What concerns a processor that does not live changes nothing.
  void weigh(ProcessorId a, ProcessorId b, Duration weight);
  /// One end does.
  void weigh_end(ProcessorId at, ProcessorId other, Duration weight);
  /// Somebody says something that the machine of `from` does not.
  void inject(ProcessorId from, ProcessorId to, Message message) {
    post(from, to, std::move(message));
  }
  /// Whoever takes itself for the conductor adapts the tree.
  void adapt();
  /// False: nothing is under way.
  bool step();
  /// Until nothing is under way. False: it is, after `steps_most`.
  bool run(std::uint64_t steps_most = kStepsMost);

  [[nodiscard]] const SpanningTree& at(ProcessorId id) const { return machines_.at(id); }
  [[nodiscard]] const ProcessorSet& live() const { return live_; }
  [[nodiscard]] Instant now() const { return now_; }
  /// Messages so far, by their names.
  [[nodiscard]] const std::map<std::string_view, std::uint64_t>& sent() const { return sent_; }
  [[nodiscard]] std::uint64_t sent(std::string_view name) const;
  [[nodiscard]] std::uint64_t sent_in_all() const;
  void forget_sent() { sent_.clear(); }

 private:
  static constexpr std::uint64_t kStepsMost = 10'000'000;
  struct Letter {
    ProcessorId from;
    ProcessorId to;
    std::variant<Message, ProcessorSet> what;
  };

  void post(ProcessorId from, ProcessorId to, std::variant<Message, ProcessorSet> what);
  void take(ProcessorId from, SpanningTree::Outbox& out);
  void tell_members(ProcessorId to, const ProcessorSet& live);

  SpanningTreeOptions options_;
  Delay delay_;
  Instant now_{};
  ProcessorSet live_;
  std::map<ProcessorId, SpanningTree> machines_;
  std::map<ProcessorId, ProcessorSet> views_;  ///< Whom each takes for alive.
  std::multimap<Instant, Letter> mail_;
  std::map<std::pair<ProcessorId, ProcessorId>, Instant> last_;  ///< Arrival over a channel.
  std::map<std::string_view, std::uint64_t> sent_;
};

}  // namespace phx::mst
