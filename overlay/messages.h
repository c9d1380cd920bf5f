#pragma once

#include <cstdint>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/one_of.h"
#include "overlay/base/time.h"
#include "overlay/base/tree_view.h"
#include "overlay/survey_messages.h"

namespace phx::overlay {

/// How near to the root a processor has been; never grows. Parents have smaller labels than their
/// children at every instant, so parent pointers never form a cycle [Saito08 G5].
/// Smaller: a higher `seq` (only the root raises it), then a smaller `feasible` distance.
struct Label {
  std::uint64_t seq = 0;
  Duration feasible = kForever;
  friend bool operator==(const Label&, const Label&) = default;
  friend bool operator<(const Label& a, const Label& b) {
    return a.seq != b.seq ? a.seq > b.seq : a.feasible < b.feasible;
  }
};

/// One processor's place in one tree, as it tells others.
struct TreeAdvert {
  TreeId tree;
  bool connected = false;
  Duration distance = kForever;  ///< Sum of the round trips up to the root.
  Label label{};
  std::uint32_t children = 0;
  ProcessorId parent{};  ///< Where repairs and near processors should look next; kNobody: none.
  /// In a bandwidth tree: how long a MiB takes to come here, est of [Saito08 D] as a time.
  Duration mebibyte_time{};
  friend bool operator==(const TreeAdvert&, const TreeAdvert&) = default;
};

/// Asks for an answer at once: the round trip is measured by the asker.
struct Probe {
  std::uint64_t seq = 0;
  ProcessorSet roots = {};  ///< The answer is to tell the answerer's place in their trees.
  friend bool operator==(const Probe&, const Probe&) = default;
};
struct ProbeReply {
  std::uint64_t seq = 0;
  std::vector<TreeAdvert> adverts;       ///< Of the trees asked for; a bounded number.
  std::vector<ProcessorId> recommended;  ///< Other children of the answerer: worth a probe.
  friend bool operator==(const ProbeReply&, const ProbeReply&) = default;
};

/// From a root to all: this tree exists from now on. Proposed parent of every member: its parent in
/// the tree of `nearest` (which itself hangs below the root); without such a tree, the root
/// [Saito08 G17].
struct TreeOpen {
  TreeId tree;
  ProcessorId nearest;    ///< kNobody: nothing to inherit from.
  Duration distance{};    ///< Round trip between the root and `nearest`.
  std::uint64_t seq = 0;  ///< The root's; higher than any of an earlier life of this tree.
  friend bool operator==(const TreeOpen&, const TreeOpen&) = default;
};
/// From a root to all: this tree is out of use. Copies in flight fall back to point-to-point.
struct TreeClose {
  TreeId tree;
  std::uint64_t seq = 0;  ///< The highest of this life: what is not above it is out of date.
  friend bool operator==(const TreeClose&, const TreeClose&) = default;
};
/// Let me be your child. `children_seen` and `seen` are what the decision was based on [G7];
/// `attachment` counts the sender's changes of parent in this tree [G8].
struct Attach {
  TreeId tree;
  std::uint64_t attachment = 0;
  std::uint32_t children_seen = 0;
  Label own;
  ProcessorSet below;   ///< The sender and everybody below it.
  bool is_far = false;  ///< The sender is of another site, as far as it knows.
  friend bool operator==(const Attach&, const Attach&) = default;
};
struct AttachReply {
  std::uint64_t attachment = 0;
  bool accepted = false;
  TreeAdvert advert;                  ///< Fresh; `advert.tree` names the tree.
  std::vector<ProcessorId> redirect;  ///< Of a refusal for too many children: try these [G6].
  friend bool operator==(const AttachReply&, const AttachReply&) = default;
};
/// I am your child no more.
struct Detach {
  TreeId tree;
  std::uint64_t attachment = 0;
  friend bool operator==(const Detach&, const Detach&) = default;
};
/// From a leaver to its children: hang below my parent instead [G6].
struct Bye {
  TreeId tree;
  ProcessorId grandparent;  ///< kNobody: unknown, take the root.
  TreeAdvert advert;        ///< The grandparent's, as last heard.
  friend bool operator==(const Bye&, const Bye&) = default;
};
/// From parent to child: my place changed [G4].
struct Update {
  TreeAdvert advert;
  friend bool operator==(const Update&, const Update&) = default;
};
/// From child to parent: who is below me changed [G8].
struct UpdateSet {
  TreeId tree;
  std::uint64_t attachment = 0;
  std::uint64_t version = 0;
  ProcessorSet added;
  ProcessorSet removed;
  friend bool operator==(const UpdateSet&, const UpdateSet&) = default;
};
/// To the root: labels refuse moves I want; please raise the sequence number [G5 R5].
struct Relabel {
  TreeId tree;
  friend bool operator==(const Relabel&, const Relabel&) = default;
};

/// What the trees of one mesh, and those who measure for them, send between processors.
using Message =
    OneOf<Probe, ProbeReply, TreeOpen, TreeClose, Attach, AttachReply, Detach, Bye, Update,
          UpdateSet, Relabel, Ping, SurveyTask, SurveyReport, NetworkUpdate, Fetch, Load>;

}  // namespace phx::overlay
