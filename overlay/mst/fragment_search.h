#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/outbox.h"
#include "overlay/base/time.h"
#include "overlay/mst/search_messages.h"

namespace phx::mst {

/// One processor's part of ONE search for a minimum spanning tree [Gallager83]: fragments join over
/// their lightest outgoing edge until none has one. It begins with the pieces of a tree, or with
/// single processors; states are drawn in overlay/mst/README.md. Thread rule: one owner.
///
/// Guarantees: when all fragments have halted, both ends of an edge agree whether it is in the
/// tree. REQUIRES channels that keep order, and the same candidates and branches at both ends.
class FragmentSearch {
 public:
  /// No edge leads out of this fragment. Said once, by one of its processors.
  struct Final {
    std::uint64_t processors = 0;
    friend bool operator==(const Final&, const Final&) = default;
  };
  using Outbox = phx::Outbox<SearchMessage, NoTimer, Final>;

  /// `weights`: of all channels that may be used. `branches`: those in the tree already, which
  /// stay.
  FragmentSearch(ProcessorId self, const std::map<ProcessorId, Duration>& weights,
                 const std::set<ProcessorId>& branches);

  // Inputs. What is from nobody on a candidate is not heard.
  void start(Outbox& out);
  void on_message(ProcessorId from, const SearchMessage& message, Outbox& out);

  /// The other ends of the edges of the tree. Valid until the next input.
  [[nodiscard]] const std::set<ProcessorId>& branches() const { return branches_; }

 private:
  enum class State : std::uint8_t { kReiden, kFind, kFound };
  enum class EdgeState : std::uint8_t { kBasic, kBranch, kRejected };
  struct Edge {
    EdgeKey key;
    EdgeState state = EdgeState::kBasic;
  };

  // False: it has to wait.
  bool handle(ProcessorId from, const Connect& m, Outbox& out);
  bool handle(ProcessorId from, const Initiate& m, Outbox& out);
  bool handle(ProcessorId from, const Test& m, Outbox& out);
  bool handle(ProcessorId from, const Accept& m, Outbox& out);
  bool handle(ProcessorId from, const Reject& m, Outbox& out);
  bool handle(ProcessorId from, const Report& m, Outbox& out);
  bool handle(ProcessorId from, const ChangeRoot& m, Outbox& out);
  bool handle(ProcessorId from, const Rejoin& m, Outbox& out);

  bool try_one(ProcessorId from, const SearchMessage& message, Outbox& out);
  void retry(Outbox& out);
  void become_branch(ProcessorId to);
  [[nodiscard]] std::optional<ProcessorId> lightest_basic();
  void test(Outbox& out);
  void report(Outbox& out);
  void change_root(Outbox& out);
  void offer_best(ProcessorId to, const EdgeKey& key);

  ProcessorId self_;
  std::map<ProcessorId, Edge> edges_;
  std::vector<std::pair<EdgeKey, ProcessorId>> order_;  ///< The lightest first.
  std::size_t next_ = 0;                                ///< No edge before it is basic.
  std::set<ProcessorId> branches_;
  std::set<ProcessorId> rejoined_;        ///< Neighbours in the piece that were heard.
  std::optional<ProcessorId> rejoin_to_;  ///< The last one, who was told.
  State state_ = State::kFound;
  std::uint32_t level_ = 0;
  std::optional<EdgeKey> fragment_;
  std::optional<ProcessorId> in_branch_;  ///< Towards the core.
  std::optional<ProcessorId> best_edge_;
  std::optional<EdgeKey> best_;  ///< The lightest outgoing edge known; none: no edge.
  std::optional<ProcessorId> test_edge_;
  std::size_t awaited_ = 0;       ///< Reports that are missing.
  std::uint64_t processors_ = 1;  ///< On this side of `in_branch_`, as reported.
  std::vector<std::pair<ProcessorId, SearchMessage>> waiting_;
};

}  // namespace phx::mst
