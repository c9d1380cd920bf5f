#pragma once

#include <cstdint>
#include <optional>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/endpoint/cast_outflows.h"
#include "runtime/endpoint/outflows.h"
#include "runtime/messages/local_messages.h"

namespace phx::runtime {

/// Which vnodes keep so much for their receivers that they are heavy to move: what the daemon is
/// told of that. Not thread-safe: one owner.
class KeptNews {
 public:
  /// Vnodes that keep less than `least` bytes are not told of.
  explicit KeptNews(std::uint64_t least) : least_(least) {}

  /// News of `vnodes`, which are all here, when four times as much is kept by all, or a quarter:
  /// so seldom, whatever a stream does. At most 64 vnodes are named.
  [[nodiscard]] std::optional<AppKeeps> take(const Outflows& flows, const CastOutflows& casts,
                                             const VnodeSet& vnodes);
  /// Whether take() would have some. What is kept decides that alone.
  [[nodiscard]] bool has_news(const Outflows& flows, const CastOutflows& casts) const;

 private:
  std::uint64_t least_;
  std::uint64_t told_ = 0;  ///< Kept by all when it was told last; 0: less than `least_`.
};

/// Of these vnodes, those that keep more than can move, until some of it has been received.
[[nodiscard]] VnodeSet immovable(const Outflows& flows, const CastOutflows& casts,
                                 const VnodeSet& vnodes);

}  // namespace phx::runtime
