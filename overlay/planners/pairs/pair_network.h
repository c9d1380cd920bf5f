#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"

/// Planners that look at pairs: how long a message takes from anybody to anybody. What each of them
/// does, and which paper it is from, is in overlay/planners/pairs/README.md. Thread rule: values
/// and pure functions.
namespace phx::planners {

/// A group of processors that is near together, seen from outside. Groups stand in each other.
struct Cluster {
  std::size_t level = 0;             ///< 0 is the one of all; each inside one of the level above.
  std::vector<std::size_t> members;  ///< Positions, ascending.
};

/// What the planners know: processors are positions 0..size()-1. The clusters of one level are
/// disjoint; a processor may be in none of a level.
class PairNetwork {
 public:
  /// All are alike, nothing costs time, and nobody is in a cluster.
  explicit PairNetwork(std::size_t size);

  [[nodiscard]] std::size_t size() const { return overheads_.size(); }
  /// A processor's time for a message, as sender or receiver.
  [[nodiscard]] Duration overhead(std::size_t i) const { return overheads_[i]; }
  /// One way, of a message of one byte.
  [[nodiscard]] Duration latency(std::size_t from, std::size_t to) const {
    return latencies_[from * size() + to];
  }
  /// Nanoseconds for each byte behind the first one.
  [[nodiscard]] double byte_time(std::size_t from, std::size_t to) const {
    return byte_times_[from * size() + to];
  }
  [[nodiscard]] const std::vector<Cluster>& clusters() const { return clusters_; }

  void set_overhead(std::size_t i, Duration overhead) { overheads_[i] = overhead; }
  void set_latency(std::size_t from, std::size_t to, Duration latency) {
    latencies_[from * size() + to] = latency;
  }
  void set_byte_time(std::size_t from, std::size_t to, double nanoseconds) {
    byte_times_[from * size() + to] = nanoseconds;
  }
  /// In any order, and its members too.
  void add_cluster(Cluster cluster);

  /// Every way leads in the other direction: what many send to one, read backwards.
  [[nodiscard]] PairNetwork reversed() const;
  /// kBadInput: a cluster without members, or two of one level that share some, or whose members
  /// are not those of one cluster of the level above.
  [[nodiscard]] Status check() const;

 private:
  std::vector<Duration> overheads_;
  std::vector<Duration> latencies_;  ///< size x size.
  std::vector<double> byte_times_;   ///< size x size.
  std::vector<Cluster> clusters_;
};

/// How a message is charged.
enum class CostModel : std::uint8_t {
  /// The sender is busy for o + (m-1)/b, the receiver has it L + o later [Li]. LogGP without gap.
  kOverlapped,
  /// The same whole time, but the sender is busy until the receiver has it [Bhat03].
  kBlocking,
  /// Only the latency is known, and counts as in kBlocking: what planners get that do not know
  /// more. No message ever costs that.
  kLatencyOnly
};

/// Of one message.
struct MessageCost {
  Duration busy{};     ///< Of the sender.
  Duration arrival{};  ///< Until the receiver has it, from the beginning of sending.
};
[[nodiscard]] MessageCost cost_of(const PairNetwork& network, CostModel model, std::size_t from,
                                  std::size_t to, std::uint64_t bytes);

/// The costs of messages of one size between all pairs: computed once. Immutable.
class PairCosts {
 public:
  PairCosts(const PairNetwork& network, CostModel model, std::uint64_t bytes);

  [[nodiscard]] std::size_t size() const { return speeds_.size(); }
  [[nodiscard]] Duration busy(std::size_t from, std::size_t to) const {
    return costs_[from * size() + to].busy;
  }
  [[nodiscard]] Duration arrival(std::size_t from, std::size_t to) const {
    return costs_[from * size() + to].arrival;
  }
  /// The overhead, as far as the model knows it: the less, the faster it is.
  [[nodiscard]] Duration slowness(std::size_t i) const { return speeds_[i]; }

 private:
  std::vector<Duration> speeds_;
  std::vector<MessageCost> costs_;  ///< size x size.
};

}  // namespace phx::planners
