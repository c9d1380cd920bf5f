#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/time.h"
#include "overlay/base/tree_view.h"
#include "overlay/mst/conductor.h"
#include "overlay/mst/cycle_search.h"
#include "overlay/mst/fragment_search.h"
#include "overlay/mst/messages.h"
#include "overlay/mst/tree_sides.h"

namespace phx::mst {

struct SpanningTreeOptions {
  /// Percent. A channel whose weight is nearer than this to its reference has not changed [Agm
  /// s.4]. 0 to 1000.
  std::uint32_t theta = 0;
  /// After each round that changes the tree, all learn who is behind whom: needed for view().
  bool makes_views = false;
};

/// One processor's part of a minimum spanning tree that is adapted, in rounds, to the weights that
/// the ends of channels measure and to who lives. [overlay/mst/README.md]. Thread rule: one owner.
///
/// Guarantees: when a round is over, all members have the same tree, and it is the minimum spanning
/// tree (forest) of the references. Each is the weight agreed on, or nearer to it than theta.
/// Does not guarantee: a tree that knows of what came after the round began.
/// REQUIRES: messages between two live processors arrive, in order; none of a processor after it
/// was said to be gone.
class SpanningTree {
 public:
  /// The tree is anew, or was confirmed for other members; said again when its views are.
  struct Adapted {
    RoundId round;
    bool has_views = false;
    friend bool operator==(const Adapted&, const Adapted&) = default;
  };
  using Outbox = phx::Outbox<Message, NoTimer, Adapted>;

  SpanningTree(ProcessorId self, const SpanningTreeOptions& options);

  // Inputs.
  /// These live. REQUIRES that this processor does.
  void on_members(const ProcessorSet& live, Outbox& out);
  /// What this end measures; kForever: no channel. Counts from the next round on.
  /// REQUIRES 0 or more, and less than an hour if not kForever.
  void on_weight(ProcessorId other, Duration weight);
  void on_message(ProcessorId from, const Message& message, Outbox& out);

  /// Command: a round begins, or follows the one that runs. Does nothing but at the conductor.
  void adapt(Outbox& out);

  // Queries.
  [[nodiscard]] bool is_conductor() const { return !live_.empty() && live_.front() == self_; }
  [[nodiscard]] bool is_conducting() const { return conductor_.is_busy(); }
  /// The other ends of this processor's edges, of the last round that was done.
  [[nodiscard]] const std::set<ProcessorId>& tree() const { return tree_; }
  [[nodiscard]] const Version& version() const { return version_; }
  /// The tree as this root sees it, of the last round whose views are known here. Empty: none is,
  /// or there is no way to the root. A hint: others may know an older or a newer tree.
  [[nodiscard]] std::optional<TreeView> view(ProcessorId root) const;
  /// The weight that the tree was made for; kForever: no channel.
  [[nodiscard]] Duration reference(ProcessorId other) const;

 private:
  struct Channel {
    Duration mine = kForever;       ///< As measured here.
    Duration offered = kForever;    ///< As last told to the other end.
    Duration theirs = kForever;     ///< As last told by it.
    Duration reference = kForever;  ///< Of the last round that was done.
    std::uint64_t open = 0;         ///< Offers that are not taken yet.
  };
  enum class Change : std::uint8_t { kNone, kFailure, kRecovery };
  /// What is known in a round; nothing of it outlives a round that is given up.
  struct Round {
    Stamp stamp;
    ProcessorSet members;
    std::uint64_t changes = 0;                        ///< As in `Ready`.
    std::uint64_t offers_open = 0;                    ///< To members, also of rounds before.
    std::map<ProcessorId, Duration> references = {};  ///< When the round is done.
    std::map<ProcessorId, Duration> weights = {};  ///< In this step: without recoveries at first.
    std::set<ProcessorId> recovered = {};
    std::set<ProcessorId> branches = {};  ///< But while `search` has them.
    std::optional<FragmentSearch> search = {};
    std::optional<CycleSearch> cycle = {};
    std::vector<std::pair<ProcessorId, Searching>> early = {};  ///< Of a step not begun here.
    std::map<ProcessorId, Behind> behind = {};                  ///< Before it was done here.
  };

  void handle(ProcessorId from, const Searching& m, Outbox& out);
  void handle(ProcessorId from, const Begin& m, Outbox& out);
  void handle(ProcessorId from, const Step& m, Outbox& out);
  void handle(ProcessorId from, const Recover& m, Outbox& out);
  void handle(ProcessorId from, const Exchange& m, Outbox& out);
  void handle(ProcessorId from, const Done& m, Outbox& out);
  void handle(ProcessorId from, const Offer& m, Outbox& out);
  void handle(ProcessorId from, const OfferTaken& m, Outbox& out);
  void handle(ProcessorId from, const Seek& m, Outbox& out);
  void handle(ProcessorId from, const SeekReply& m, Outbox& out);
  void handle(ProcessorId from, const Behind& m, Outbox& out);

  void say_ready(Outbox& out);
  [[nodiscard]] Change change_of(Duration reference, Duration agreed) const;
  void classify(ProcessorId other, Duration reference, Duration agreed, Classified& result);
  void classify_all(bool forgets, Outbox& out);
  void search(StepKind kind, Outbox& out);
  /// False: it is of another round, or of an older step.
  bool enter(const Stamp& stamp);
  void settle();
  void begin_round(Outbox& out);
  /// From here to `to`, which may be this processor.
  void send(ProcessorId to, Message message, Outbox& out);
  void deliver(ProcessorId from, const Message& message, Outbox& out);
  void pass(FragmentSearch::Outbox& from, Outbox& out);
  void pass(CycleSearch::Outbox& from, Outbox& out);
  void pass(SideSearch::Outbox& from, Outbox& out);
  void begin_views(Outbox& out);
  void pass(Conductor::Outbox& from, Outbox& out);
  void drain_own(Outbox& out);

  ProcessorId self_;
  SpanningTreeOptions options_;
  Conductor conductor_;
  ProcessorSet live_;
  std::map<ProcessorId, Channel> channels_;
  std::set<ProcessorId> tree_;
  Version version_;
  Round round_;
  std::optional<SideSearch> side_search_;  ///< In the tree of `version_`.
  TreeSides sides_;                        ///< As last known of all neighbours.
  RoundId sides_round_;
  std::deque<Message> own_;  ///< From this processor to itself.
  bool again_ = false;       ///< A round is wanted after this one.
};

}  // namespace phx::mst
