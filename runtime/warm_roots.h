#pragma once

#include <set>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/tree_store.h"

namespace phx::runtime {

/// The roots in whose collectives a processor takes part. What is long may come along their trees
/// for long messages next, so the ways there shall be warm before [overlay/survey, "Warm ways"].
class WarmRoots {
 public:
  /// A tree was drawn here, because it is used. Further roots than `kMost` count as not used.
  void on_drawn(TreeId id);
  void on_members(const ProcessorSet& members) { used_ = used_.common(members); }
  /// Parents and children, in trees for long messages, of roots whose trees were drawn since.
  [[nodiscard]] std::set<ProcessorId> take_partners(const overlay::TreeStore& trees);

 private:
  static constexpr std::uint64_t kMost = 8;  ///< [limit]

  ProcessorSet used_;
  std::vector<ProcessorId> drawn_;
};

}  // namespace phx::runtime
