#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/tree_view.h"
#include "overlay/messages.h"

namespace phx::overlay {

/// The children of one processor in one tree, and everybody below them [Saito08 C, G8]. An entry
/// belongs to one attachment of the child; messages of its earlier attachments change nothing.
/// Bounded by the number of live processors: each has one entry. Thread rule: one owner.
class ChildTable {
 public:
  // Inputs. Each returns whether something changed.
  bool attach(ProcessorId child, const Attach& m);
  bool detach(ProcessorId child, std::uint64_t attachment);
  bool update(ProcessorId child, const UpdateSet& m);
  /// Removes everybody who is not in `live`.
  bool keep_only(const ProcessorSet& live);

  // Queries.
  [[nodiscard]] bool contains(ProcessorId child) const { return entries_.count(child) != 0; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::vector<ProcessorId> ids() const;
  /// In the order in which they are to be served: who has most below it first, then the newest.
  /// Their sets are disjoint.
  [[nodiscard]] std::vector<TreeChild> children() const;
  /// All children and all below them.
  [[nodiscard]] ProcessorSet below() const;

 private:
  struct Entry {
    std::uint64_t attachment = 0;
    std::uint64_t version = 0;  ///< Of the last UpdateSet.
    std::uint64_t arrival = 0;  ///< Greater: attached later.
    ProcessorSet below;
  };

  std::map<ProcessorId, Entry> entries_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace phx::overlay
