#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "overlay/adaptive_tree.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/rng.h"
#include "overlay/base/time.h"
#include "overlay/base/tree_view.h"
#include "overlay/link_stats.h"
#include "overlay/messages.h"
#include "overlay/tree_forest_options.h"

namespace phx::overlay {

/// All trees at one processor: opens, feeds and retires them, and measures the network for them.
/// [Saito08 B, C, D, G17, G22]; the protocol is in the README.
///
/// Guarantees: parent pointers of one tree never form a cycle, whatever is delayed. Some time after
/// the last change of the membership nothing is sent and no timer is set, but the one of `idle`.
/// Does not guarantee: that views of different processors agree. Views are hints [Saito08 G9].
/// Thread rule: one owner.
class TreeForest {
 public:
  using Message = overlay::Message;
  struct Timer {
    enum class Kind : std::uint8_t {
      kProbeRound,
      kProbeLost,
      kAttach,
      kUpdate,
      kUpdateSet,
      kRelabel,
      kLineUp,
      kLinger,
      kIdle,
      kPatience,
      kTurn,
      kQuiet
    };
    Kind kind = Kind::kProbeRound;
    TreeId tree;        ///< Of timers of one tree.
    friend constexpr auto operator<=>(const Timer&, const Timer&) = default;
  };
  /// The view of `tree` is another one now, or gone.
  struct TreeChanged {
    TreeId tree;
    friend bool operator==(const TreeChanged&, const TreeChanged&) = default;
  };
  using Outbox = phx::Outbox<Message, Timer, TreeChanged>;

  /// `seed` and the inputs alone decide what happens.
  TreeForest(ProcessorId self, const TreeForestOptions& options, std::uint64_t seed);

  // Inputs. `now` never goes back. Stale messages and timers change nothing.
  /// The whole set of processors that may be used, self included, after every change of it. Those
  /// who leave or died are not in it. An id that left never comes back.
  void on_members(Instant now, const ProcessorSet& live, Outbox& out);
  void on_message(Instant now, ProcessorId from, const Message& message, Outbox& out);
  void on_timer(Instant now, const Timer& timer, Outbox& out);
  /// What was sent and taken by all, as it is at the message that follows.
  void on_traffic(const Traffic& traffic) { downloads_.on_traffic(traffic); }
  void on_bulk(Instant now) { downloads_.on_bulk(now); }  ///< Part of a long message came.

  // Commands.
  /// A collective uses this tree: its root opens it if need be; elsewhere nothing happens.
  void use(Instant now, TreeId id, Outbox& out);
  /// Hands the children over, detaches, closes the own trees. Afterwards probes are answered
  /// without adverts, everything else is refused.
  void leave(Instant now, Outbox& out);

  // Queries.
  /// Null: unknown. Valid until the next input.
  [[nodiscard]] const TreeView* view(TreeId id) const;
  [[nodiscard]] std::size_t size() const { return trees_.size(); }  ///< Trees known.
  [[nodiscard]] const LinkStats& links() const { return links_; }
  [[nodiscard]] const AdaptiveTree* tree(TreeId id) const {
    const auto at = trees_.find(id);
    return at == trees_.end() ? nullptr : &at->second;
  }
  void check_invariants() const;

 private:
  using Trees = std::map<TreeId, AdaptiveTree>;
  struct Place {
    std::optional<ProcessorId> parent;
    Instant since;  ///< It is the parent.
  };

  void handle(Instant now, ProcessorId from, const Probe& m, Outbox& out);
  void handle(Instant now, ProcessorId from, const ProbeReply& m, Outbox& out);
  void handle(Instant now, ProcessorId from, const TreeOpen& m, Outbox& out);
  void handle(Instant now, ProcessorId from, const TreeClose& m, Outbox& out);
  void handle(Instant now, ProcessorId from, const Attach& m, Outbox& out);
  void handle(Instant now, ProcessorId from, const AttachReply& m, Outbox& out);
  void handle_bulk(Instant now, ProcessorId from, const auto& m, Outbox& out);
  template <class M>
  void to_tree(Instant now, ProcessorId from, TreeId id, const M& m, Outbox& out);
  void on_probed(Instant now, const Prober::Probed& probed, Outbox& out);
  void on_round_over(Instant now, Outbox& out);
  void pump(Instant now, Prober::Outbox& from, Outbox& out);
  void pump(Instant now, TreeId id, AdaptiveTree::Outbox& from, Outbox& out);
  void pump(Instant now, Downloads::Outbox& from, Outbox& out);
  void on_measured(Instant now, ProcessorId peer, Outbox& out);
  void on_failed(Instant now, ProcessorId peer, Outbox& out);
  void on_worth(Instant now, TreeId id, const AdaptiveTree::WorthProbing& worth, Outbox& out);
  void join_widest(Instant now, TreeId id, Outbox& out);

  [[nodiscard]] std::vector<ProcessorId> recommended_to(ProcessorId asker);
  [[nodiscard]] ProcessorSet roots_to_ask(Instant now);
  void note_place(Instant now, TreeId id);
  [[nodiscard]] bool may_expect(TreeId id) const;
  [[nodiscard]] AdaptiveTree* find(TreeId id);
  [[nodiscard]] AdaptiveTree* create(TreeId id, std::uint64_t seq);
  [[nodiscard]] TreeOpen announcement(TreeId id) const;
  void welcome(ProcessorId newcomer, Outbox& out) const;
  void close(TreeId id, Outbox& out);
  Trees::iterator drop(Trees::iterator at, Outbox& out);
  [[nodiscard]] Horizon horizon(Instant now) const {
    return {now, live_, links_, downloads_.rates()};
  }

  ProcessorId self_;
  TreeForestOptions options_;
  Rng rng_;
  ProcessorSet live_;
  LinkStats links_;
  Prober prober_;
  Downloads downloads_;
  Trees trees_;
  /// The lowest seq that a new life of a closed tree can have. Live roots only.
  std::map<TreeId, std::uint64_t> floors_;
  /// Announcements of roots that this processor has not met yet [limit: trees_max].
  std::map<TreeId, TreeOpen> early_;
  std::map<TreeId, Place> places_;
  TreeId asked_last_;               ///< Whose turn it was.
  std::map<TreeId, Instant> used_;  ///< When the own trees were used last.
  std::uint64_t lives_ = 0;         ///< Trees created so far.
  std::size_t rounds_left_ = 0;     ///< That may follow measurements of parents.
  bool leaving_ = false;
};

}  // namespace phx::overlay
