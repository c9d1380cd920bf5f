#pragma once

#include <cstdint>
#include <optional>

#include "overlay/base/time.h"
#include "runtime/channels/channel_options.h"
#include "runtime/channels/link_share.h"

namespace phx::runtime {

/// How fast one link carries what it is given, while there is more. README.md, "Pace".
class LinkPace {
 public:
  /// Bytes per second, of this link at most, and of all links together in the same time.
  struct Sample {
    std::uint64_t one = 0;
    std::uint64_t all = 0;
  };
  /// What was given to the link has left; all links together were given `all`. Now and then what
  /// that says.
  [[nodiscard]] std::optional<Sample> on_left(Instant now, const LinkShare::Left& left,
                                              std::uint64_t all, const ChannelOptions& options);

 private:
  Instant begun_at_;         ///< The first part of those that are counted together had left.
  std::uint64_t bytes_ = 0;  ///< Since then, ...
  Duration time_{};          ///< while the link was full.
  std::uint64_t all_ = 0;    ///< At the beginning.
};

}  // namespace phx::runtime
