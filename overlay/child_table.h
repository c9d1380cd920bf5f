#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
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
  /// The same, but copies that are under way still find it for twice the time `linger`; who is
  /// above takes it for below this processor for half of that, until it is known elsewhere.
  void let_linger(ProcessorId child, std::uint64_t attachment, Instant now);
  void let_linger(ProcessorId child, Instant now);
  /// Forgets those that have lingered.
  bool age(Instant now, Duration linger);
  bool update(ProcessorId child, const UpdateSet& m);
  /// Removes everybody who is not in `live`.
  bool keep_only(const ProcessorSet& live);

  // Queries.
  // Those who linger are no children any more, but for children() and below().
  [[nodiscard]] bool contains(ProcessorId child) const;
  [[nodiscard]] std::size_t size() const;
  /// When age() has something to do.
  [[nodiscard]] std::optional<Instant> next(Duration linger) const;
  [[nodiscard]] std::vector<ProcessorId> ids() const;
  /// Those of the same site, as far as they know, without `child`.
  [[nodiscard]] std::size_t beside(ProcessorId child) const;
  /// In the order in which they are to be served: who has most below it first; of equal ones the
  /// newest, and who lingers last. Their sets are disjoint: who is below two of them counts for the
  /// newer one, and for one that lingers only if it is below no other.
  [[nodiscard]] std::vector<TreeChild> children() const;
  /// All children and all below them.
  [[nodiscard]] ProcessorSet below() const;

 private:
  struct Entry {
    std::uint64_t attachment = 0;
    std::uint64_t version = 0;  ///< Of the last UpdateSet.
    std::uint64_t arrival = 0;  ///< Greater: attached later.
    bool is_far = false;
    std::optional<Instant> left = {};  ///< Since when it lingers.
    bool is_told = true;               ///< Counts in below().
    ProcessorSet below = {};
  };

  std::map<ProcessorId, Entry> entries_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace phx::overlay
