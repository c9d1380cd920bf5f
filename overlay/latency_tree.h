#pragma once

#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "overlay/base/outbox.h"
#include "overlay/base/rng.h"
#include "overlay/base/time.h"
#include "overlay/base/tree_view.h"
#include "overlay/child_table.h"
#include "overlay/horizon.h"
#include "overlay/latency_tree_options.h"
#include "overlay/messages.h"

namespace phx::overlay {

/// One processor's part of ONE root's latency tree: it hangs below a parent, knows who is below
/// each of its children, and moves below a better parent when it meets one. [Saito08 C, G3-G8];
/// states and messages are drawn in the README.
///
/// Guarantees: label(parent) < label(self) at every instant, whatever is delayed or stale, hence no
/// cycle of parent pointers [Saito08 G5]; at most one parent at any moment.
/// Does not guarantee: that child entries are up to date or disjoint [Saito08 G8].
/// Thread rule: one owner.
class LatencyTree {
 public:
  enum class Timer : std::uint8_t { kAttach, kUpdate, kUpdateSet, kRelabel };
  /// The view is another one now.
  struct Changed {};
  /// A probe of `peer` may show a better parent.
  struct WorthProbing {
    ProcessorId peer;
  };
  /// The root knows nothing of this tree.
  struct Gone {};
  using Report = std::variant<Changed, WorthProbing, Gone>;
  using Outbox = phx::Outbox<Message, Timer, Report>;

  /// `label` is the largest label this processor may have: {seq, kForever} for a tree whose seq
  /// is at least `seq`. `attachment` is above all numbers of its attachments used before.
  LatencyTree(ProcessorId self, TreeId id, const LatencyTreeOptions& options, std::uint64_t seq,
              std::uint64_t attachment, Rng rng);

  // Inputs.
  void on_members(const Horizon& horizon, Outbox& out);
  /// What a probed processor says.
  void on_candidate(const Horizon& horizon, ProcessorId from, const TreeAdvert& m, Outbox& out);
  /// A round of probes is over: what was measured counts from now on.
  void on_round_over(const Horizon& horizon, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const Attach& m, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const AttachReply& m, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const Detach& m, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const Bye& m, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const Update& m, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const UpdateSet& m, Outbox& out);
  void on_message(const Horizon& horizon, ProcessorId from, const Relabel& m, Outbox& out);
  void on_timer(const Horizon& horizon, Timer timer, Outbox& out);

  // Commands.
  /// Others know of the tree: if join() does not come soon, looks for a parent anyway.
  void expect(const Horizon& horizon, Outbox& out);
  /// Looks for a first parent, `proposed` before the root. The tree is at `seq` at least.
  void join(const Horizon& horizon, std::uint64_t seq, ProcessorId proposed, Outbox& out);
  /// Hands the children over and detaches. The tree is of no use afterwards.
  void leave(Outbox& out);

  // Queries. References are valid until the next input.
  [[nodiscard]] const TreeView& view() const { return view_; }
  [[nodiscard]] TreeAdvert advert() const;
  [[nodiscard]] bool is_root() const { return id_.root == self_; }
  [[nodiscard]] bool is_connected() const;
  [[nodiscard]] std::optional<ProcessorId> parent() const;
  [[nodiscard]] bool has_child(ProcessorId child) const { return children_.contains(child); }
  [[nodiscard]] const Label& label() const { return label_; }
  /// Nothing is under way here.
  [[nodiscard]] bool is_settled() const;
  void check_invariants() const;

 private:
  struct Parent {
    ProcessorId id;
    std::uint64_t attachment = 0;
    TreeAdvert advert;         ///< As last heard.
    Duration round_trip{};     ///< As well as known.
    bool provisional = false;  ///< Not measured: counts double, see the README.
    ProcessorSet told;         ///< What it believes to be below this processor.
    std::uint64_t version = 0;
  };
  struct Attempt {
    ProcessorId to;
    std::uint64_t attachment = 0;
    std::uint32_t children_seen = 0;
    Instant sent;
    ProcessorSet told;
  };

  // latency_tree_parent.cc:
  void seek(const Horizon& horizon, ProcessorId first, Outbox& out);
  void try_next(const Horizon& horizon, Outbox& out);
  void attach(const Horizon& horizon, ProcessorId to, std::uint32_t children_seen, Outbox& out);
  void on_attach_timer(const Horizon& horizon, Outbox& out);
  void pause(const Horizon& horizon, Outbox& out);
  void on_refused(const Horizon& horizon, ProcessorId from, const AttachReply& m, Outbox& out);
  void adopt(const Horizon& horizon, const TreeAdvert& advert, Outbox& out);
  void weigh(const Horizon& horizon, ProcessorId from, const TreeAdvert& m, Outbox& out);
  [[nodiscard]] bool is_better(const TreeAdvert& candidate, Duration round_trip) const;
  [[nodiscard]] bool relieves(const TreeAdvert& candidate, Duration round_trip);
  void on_starved(const Horizon& horizon, ProcessorId wanted, const TreeAdvert& m, Outbox& out);
  // latency_tree.cc:
  void hear(const Horizon& horizon, const TreeAdvert& advert, Outbox& out);
  void recompute();
  [[nodiscard]] Duration hop() const;
  void raise(const Horizon& horizon, Outbox& out);
  void finish(const Horizon& horizon, Outbox& out);
  void reply(ProcessorId to, const Attach& m, Outbox& out);
  [[nodiscard]] std::vector<ProcessorId> redirection(ProcessorId asker);
  void push_update(Outbox& out);
  void push_set(Outbox& out);
  [[nodiscard]] bool is_news() const;
  void refresh_view(Outbox& out);

  ProcessorId self_;
  TreeId id_;
  LatencyTreeOptions options_;
  Rng rng_;
  Label label_;                     ///< Never grows.
  Duration distance_ = kForever;    ///< kForever exactly while not connected.
  std::optional<Parent> parent_;    ///< Empty at the root and while seeking.
  std::optional<Attempt> attempt_;  ///< The one Attach in the air.
  std::vector<ProcessorId> tries_;  ///< Whom to ask next while there is no parent; last first.
  ProcessorSet tried_;              ///< Asked since the parent was lost.
  std::uint32_t setbacks_ = 0;      ///< Times that even the root refused since then.
  ChildTable children_;
  bool children_changed_ = false;          ///< Since the last refresh of view_ and below_.
  ProcessorSet below_;                     ///< This processor and everybody below it.
  std::map<ProcessorId, Attach> waiting_;  ///< Want to be children, once connected here.
  TreeAdvert told_;                        ///< What the children know.
  std::uint64_t attachments_;              ///< Number of the last Attach.
  std::optional<Instant> attach_due_;
  std::optional<Instant> update_due_;
  std::optional<Instant> set_due_;
  std::optional<Instant> relabel_due_;
  std::optional<Instant> last_relabel_;  ///< Sent (elsewhere) or granted (root).
  ProcessorId wanted_;                   ///< Refused by its label; worth a probe after a raise.
  TreeView view_;
};

}  // namespace phx::overlay
