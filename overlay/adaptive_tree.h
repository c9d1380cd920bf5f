#pragma once

#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "overlay/adaptive_tree_options.h"
#include "overlay/base/outbox.h"
#include "overlay/base/rng.h"
#include "overlay/base/time.h"
#include "overlay/base/tree_view.h"
#include "overlay/child_table.h"
#include "overlay/messages.h"
#include "overlay/tree_place.h"

namespace phx::overlay {

/// One processor's part of ONE root's latency or bandwidth tree, by the kind of its id: it hangs
/// below a parent, knows who is below each of its children, and moves below a better parent when it
/// meets one. [Saito08 C, D, G3-G8]; states and messages are drawn in the README.
///
/// Guarantees: label(parent) < label(self) at every instant, whatever is delayed or stale, hence no
/// cycle of parent pointers [Saito08 G5]; at most one parent at any moment.
/// Does not guarantee: that child entries are up to date or disjoint [Saito08 G8].
/// Thread rule: one owner.
class AdaptiveTree {
 public:
  enum class Timer : std::uint8_t { kAttach, kUpdate, kUpdateSet, kRelabel, kLineUp, kLinger };
  /// The view is another one now.
  struct Changed {};
  /// A probe of `peer` may show a better parent; or a download from there, first.
  struct WorthProbing {
    ProcessorId peer;
    bool by_download = false;
  };
  /// The root knows nothing of this tree.
  struct Gone {};
  using Report = std::variant<Changed, WorthProbing, Gone>;
  using Outbox = phx::Outbox<Message, Timer, Report>;

  /// `label` is the largest label this processor may have: {seq, kForever} for a tree whose seq
  /// is at least `seq`. `attachment` is above all numbers of its attachments used before.
  AdaptiveTree(ProcessorId self, TreeId id, const AdaptiveTreeOptions& options, std::uint64_t seq,
               std::uint64_t attachment, Rng rng);

  // Inputs.
  void on_members(const Horizon& horizon, Outbox& out);
  /// What a probed processor says.
  void on_candidate(const Horizon& horizon, ProcessorId from, const TreeAdvert& m, Outbox& out);
  /// A round of probes is over: what was measured counts from now on.
  void on_round_over(const Horizon& horizon, Outbox& out);
  /// How fast `peer` sends here is known now.
  void on_rate(const Horizon& horizon, ProcessorId peer, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const Attach& m, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const AttachReply& m, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const Detach& m, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const Bye& m, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const Update& m, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const UpdateSet& m, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const Relabel& m, Outbox& out);
  void on_timer(const Horizon& horizon, Timer timer, Outbox& out);

  // Commands.
  /// The tree is at `seq` at least. If join() does not come soon, looks for a parent anyway.
  void expect(const Horizon& horizon, std::uint64_t seq, Outbox& out);
  /// Looks for a first parent, `proposed` before the root.
  void join(const Horizon& horizon, std::uint64_t seq, ProcessorId proposed, Outbox& out);
  /// Hands the children over and detaches. The tree is of no use afterwards.
  void leave(Outbox& out);

  // Queries. References are valid until the next input.
  [[nodiscard]] const TreeView& view() const { return view_; }
  [[nodiscard]] TreeAdvert advert() const;
  [[nodiscard]] bool is_root() const { return id_.root == self_; }
  [[nodiscard]] bool is_for_bandwidth() const { return id_.kind == TreeKind::kBandwidth; }
  [[nodiscard]] bool is_connected() const;
  [[nodiscard]] std::optional<ProcessorId> parent() const;
  [[nodiscard]] bool has_child(ProcessorId child) const { return children_.contains(child); }
  [[nodiscard]] const Label& label() const { return label_; }
  /// Nothing is under way here.
  [[nodiscard]] bool is_settled() const;
  void check_invariants() const;

 private:
  // adaptive_tree_parent.cc:
  void seek(const Horizon& horizon, ProcessorId first, Outbox& out);
  void try_next(const Horizon& horizon, Outbox& out);
  void attach(const Horizon& horizon, TreeAttempt attempt, Outbox& out);
  void on_attach_timer(const Horizon& horizon, Outbox& out);
  void pause(const Horizon& horizon, Outbox& out);
  void on_refused(const Horizon& horizon, ProcessorId from, const AttachReply& m, Outbox& out);
  void adopt(const Horizon& horizon, const TreeAdvert& advert, Outbox& out);
  void weigh(const Horizon& horizon, ProcessorId from, const TreeAdvert& m, Outbox& out);
  [[nodiscard]] bool relieves(const TreeAdvert& candidate, Duration round_trip);
  void on_starved(const Horizon& horizon, const TreeWish& wish, Outbox& out);
  // adaptive_tree_line.cc, of bandwidth trees:
  void weigh_width(const Horizon& horizon, ProcessorId from, const TreeAdvert& m, Outbox& out);
  [[nodiscard]] Duration time_from(const Horizon& horizon, ProcessorId from, const TreeAdvert& m,
                                   std::uint32_t children) const;
  [[nodiscard]] bool is_fit(const Horizon& horizon, const TreeAdvert& m) const;
  [[nodiscard]] ProcessorId line_before(const Horizon& horizon, ProcessorId asker, const Attach& m);
  void starve(const Horizon& horizon, TreeWish wish, Outbox& out);
  void watch_line(const Horizon& horizon, Outbox& out);
  [[nodiscard]] bool has_slow_parent(const Horizon& horizon) const;
  void watch_width(const Horizon& horizon, Outbox& out);
  void watch_lingering(Outbox& out);
  void line_up(const Horizon& horizon, Outbox& out);
  void walk_on(const Horizon& horizon, const AttachReply& m, const TreeAttempt& was, Outbox& out);
  [[nodiscard]] bool holds_back(const Horizon& horizon, const TreeAdvert& advert, Outbox& out);
  void hold_on(const Horizon& horizon, const TreeWish& wish, Outbox& out);
  void on_hold_over(const Horizon& horizon, Outbox& out);
  void let_through(const Horizon& horizon, Outbox& out);
  // adaptive_tree.cc:
  void hear(const Horizon& horizon, const TreeAdvert& advert, Outbox& out);
  void recompute();
  [[nodiscard]] Duration hop() const;
  void raise(const Horizon& horizon, Outbox& out);
  void finish(const Horizon& horizon, Outbox& out);
  void reply(const Horizon& horizon, ProcessorId to, const Attach& m, Outbox& out);
  [[nodiscard]] std::vector<ProcessorId> redirection(ProcessorId asker, const ProcessorSet& below);
  void push_update(Outbox& out);
  void push_set(Outbox& out);
  [[nodiscard]] bool is_news() const;
  void refresh_view(Outbox& out);

  ProcessorId self_;
  TreeId id_;
  AdaptiveTreeOptions options_;
  Rng rng_;
  Label label_;                         ///< Never grows.
  Duration distance_ = kForever;        ///< kForever exactly while not connected.
  Duration cost_ = kForever;            ///< What the label is about: distance, or time of a MiB.
  std::optional<TreeParent> parent_;    ///< Empty at the root and while seeking.
  std::optional<TreeAttempt> attempt_;  ///< The one Attach in the air.
  TreeSearch search_;                   ///< While there is no parent.
  ChildTable children_;
  bool children_changed_ = false;          ///< Since the last refresh of view_ and below_.
  ProcessorSet below_;                     ///< This processor and everybody below it.
  std::map<ProcessorId, Attach> waiting_;  ///< Want to be children, once connected here.
  TreeAdvert told_;                        ///< What the children know.
  std::uint64_t attachments_;              ///< Number of the last Attach.
  TreeDues due_;
  std::optional<Instant> last_relabel_;  ///< Sent (elsewhere) or granted (root).
  TreeHold hold_;
  TreeLine line_;  ///< Of bandwidth trees.
  TreeView view_;
};

}  // namespace phx::overlay
