#pragma once

#include <cstddef>
#include <map>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "overlay/network/known_network.h"

namespace phx::overlay {

/// Who stands still more than its neighbours: as the surveyor hears of it, and tells all.
/// [overlay/survey/README.md, "Standstills"]. Thread rule: one owner.
class Waits {
 public:
  static constexpr std::size_t kNamedMost = 64;  ///< The lowest ids [limit].

  /// Goes on from what is known, but for those that were heard since.
  void begin(const KnownNetwork& known);
  void keep_only(const ProcessorSet& live);
  /// A message waits so long at `who`. Whether that is news: 16 ms, or twice as much, and so on.
  bool set(ProcessorId who, Duration wait);
  /// Names those who stand still, but not where most of a site do.
  void fill(KnownNetwork& network) const;

 private:
  [[nodiscard]] Duration usual(const KnownNetwork::Site& site) const;

  std::map<ProcessorId, Duration> waits_;  ///< Of all who were heard; 0: none.
};

/// The same without what this class has filled in.
[[nodiscard]] KnownNetwork without_waits(KnownNetwork network);

}  // namespace phx::overlay
