#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "runtime/messages/messages.h"
#include "runtime/sim/network_model.h"

namespace phx::sim {

/// Counts what crosses the network: by kind of message, and by machine. Meters are values, so the
/// costs of an event are the difference of two. Not thread-safe.
class Meter {
 public:
  struct Count {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;

    void add(std::uint64_t size) { ++messages, bytes += size; }
    [[nodiscard]] Count minus(const Count& before) const {
      return {messages - before.messages, bytes - before.bytes};
    }
    friend bool operator==(const Count&, const Count&) = default;
  };

  void on_frame(MachineId from, MachineId to, const runtime::Frame& frame, std::uint64_t bytes);

  // Queries.
  /// But for downloads that measure bandwidth (Fetch, Load), which have only their kinds.
  [[nodiscard]] const Count& all() const { return all_; }
  /// "TreeCopy", "Probe", "PointToPoint", ...; "CastQuestion" for copies of questions;
  /// "acknowledgement" for frames without a message.
  [[nodiscard]] const std::map<std::string_view, Count>& kinds() const { return kinds_; }
  [[nodiscard]] Count of(std::string_view kind) const;
  /// The most that one machine sent and received together; messages and bytes need not be of the
  /// same one.
  [[nodiscard]] Count busiest() const;
  /// The largest hop budget of a copy.
  [[nodiscard]] std::uint32_t hops_most() const {
    return budgets_.empty() ? 0 : budgets_.rbegin()->first;
  }
  /// What was counted since `before`, which is an earlier state of this one.
  [[nodiscard]] Meter since(const Meter& before) const;

 private:
  Count all_;
  std::map<std::string_view, Count> kinds_;
  std::vector<Count> machines_;
  std::map<std::uint32_t, std::uint64_t> budgets_;  ///< Copies by hops that they had left.
};

/// What a frame carries, named as its struct is, or that of what is in it for vnodes.
[[nodiscard]] std::string_view kind_of(const runtime::Frame& frame);

}  // namespace phx::sim
