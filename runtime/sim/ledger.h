#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"
#include "runtime/sim/network_model.h"

namespace phx::sim {

/// What is wrong, in the order of discovery; the first one counts. More than a few are not kept.
class Violations {
 public:
  void add(std::string what) {
    constexpr std::size_t kKept = 20;
    ++count_;
    if (all_.size() < kKept) all_.push_back(std::move(what));
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
  std::uint64_t count_ = 0;
};

/// The omniscient book of one synthetic job: every message, broadcast, contribution and move is
/// entered by the applications, and compared with what must come out: point-to-point and broadcast
/// exactly once and in order, reductions exact and complete, every vnode at one place at a time
/// with the state it left with. Not thread-safe.
class Ledger {
 public:
  struct Counters {
    std::uint64_t messages = 0;    ///< Received, from vnode to vnode.
    std::uint64_t broadcasts = 0;  ///< Received, counted per vnode.
    std::uint64_t results = 0;     ///< Of reductions, counted per vnode that gets them.
    std::uint64_t outputs = 0;     ///< Shown by the tool.
    std::uint64_t moves = 0;       ///< Vnodes installed after their first time.
    void add(const Counters& other);
  };

  /// REQUIRES at most 65,536 vnodes: there is a counter per vnode and sender, or root, in use.
  /// `job` tells what belongs to it from what belongs to another one.
  Ledger(std::uint64_t vnodes, std::uint32_t job, Violations& violations);

  // From vnode to vnode. The payload says who sent it and its number, and fills `size` bytes.
  [[nodiscard]] Payload send(VnodeId from, VnodeId to, std::size_t size);
  /// Every vnode is to get it.
  [[nodiscard]] Payload broadcast(VnodeId root, std::size_t size);
  void received(VnodeId at, VnodeId from, bool is_broadcast, const Payload& payload);

  /// A vnode is to get the result of a reduction; it got it, and it was right or not.
  void awaits() { ++outstanding_; }
  void reduced(VnodeId at, std::uint64_t round, bool is_right);
  /// ... which it was not to get, or not once more.
  void surplus(VnodeId at, VnodeId from);
  /// So many reductions towards one vnode have begun and are not complete.
  void pending(std::uint64_t reductions, std::uint64_t most);

  // From a process to the tool.
  [[nodiscard]] Payload write(MachineId writer, std::size_t size);
  void shown(const Payload& output);
  void on_new_tool();  ///< It may be shown some of what the one before was shown.

  // Moves. `mark` stands for the state's value.
  void installed(VnodeId vnode, MachineId at, std::optional<std::uint64_t> mark);
  void packed(VnodeId vnode, MachineId at, std::uint64_t mark);

  // Queries.
  /// What was sent and has not been received everywhere.
  [[nodiscard]] std::uint64_t outstanding() const { return outstanding_; }
  /// What processes wrote and the tool has not shown.
  [[nodiscard]] std::uint64_t unshown() const { return unshown_.size(); }
  [[nodiscard]] std::set<MachineId> unshown_writers() const;
  /// Grows with everything that is received.
  [[nodiscard]] std::uint64_t progress() const;
  [[nodiscard]] std::optional<MachineId> holder(VnodeId vnode) const {
    return vnodes_[vnode.value].holder;
  }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  /// Messages that `at` has received.
  [[nodiscard]] std::uint64_t received_by(VnodeId at) const {
    std::uint64_t sum = 0;
    for (const auto& row : streams_) sum += row.empty() ? 0 : row[at.value].received;
    return sum;
  }
  /// Of `root`, by `at`.
  [[nodiscard]] std::uint32_t broadcasts_taken(VnodeId root, VnodeId at) const {
    const std::vector<std::uint32_t>& taken = taken_broadcasts_[root.value];
    return at.value < taken.size() ? taken[at.value] : 0;
  }
  /// One sentence about something that is missing; empty if nothing is.
  [[nodiscard]] std::string missing() const;

 private:
  struct Vnode {
    std::optional<MachineId> holder;
    bool was_held = false;
    std::uint64_t mark = 0;  ///< Of the state when it was packed.
    std::uint32_t broadcasts = 0;
  };
  /// Of one (sender, receiver), or (root, receiver).
  struct Stream {
    std::uint32_t sent = 0;
    std::uint32_t received = 0;
  };
  [[nodiscard]] Stream& stream(VnodeId from, VnodeId to);
  [[nodiscard]] std::uint32_t& taken_broadcasts(VnodeId root, VnodeId at);
  void receive(VnodeId at, VnodeId from, const Payload& payload, bool is_broadcast,
               std::uint32_t& expected);

  Violations& violations_;
  std::uint64_t job_;  ///< In the upper half of every number.
  std::vector<Vnode> vnodes_;
  std::vector<std::vector<Stream>> streams_;  ///< Per sender, as soon as it has sent, and receiver.
  std::vector<std::vector<std::uint32_t>> taken_broadcasts_;  ///< Per root and receiver, likewise.
  std::uint64_t outstanding_ = 0;
  std::map<MachineId, std::uint64_t> outputs_;                 ///< Written.
  std::set<std::pair<std::uint64_t, std::uint64_t>> unshown_;  ///< Machine and number.
  std::map<MachineId, std::uint64_t> next_shown_;              ///< By the present tool.
  Counters counters_;
};

}  // namespace phx::sim
