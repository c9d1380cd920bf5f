#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "overlay/base/time.h"
#include "runtime/channels/channel_options.h"

namespace phx::runtime {

/// How much one link is given before it has told what has left: as little as keeps it busy,
/// because whatever comes later stands behind that. It is what the link carries in a certain time,
/// the same for all links, because they share an interface. It tells in parts, and each part that
/// has left makes room for as much. README.md, "Classes".
class LinkShare {
 public:
  LinkShare() = default;
  /// Begins with so much, as a link that is known; 0: with the most.
  explicit LinkShare(std::uint64_t bytes) : bytes_(bytes) {}
  /// An envelope of so many bytes is given; all links together have been given `all`. Whether the
  /// driver has to tell when it has left.
  [[nodiscard]] bool give(Instant now, std::uint64_t bytes, std::uint64_t all,
                          const ChannelOptions& options);
  /// So many parts have left. How much, and in what time, at most, while the link was full.
  struct Left {
    std::uint64_t bytes = 0;
    Duration time{};
    std::uint64_t all = 0;  ///< Given to all links until that time began.
  };
  Left on_drained(Instant now, std::size_t parts, std::uint64_t all, const ChannelOptions& options);

  /// It takes nothing more until it tells.
  [[nodiscard]] bool is_full() const { return bytes_ > 0 && given_ >= bytes_; }
  /// What it takes; 0: nothing was given yet.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  static constexpr std::uint64_t kParts = 2;  ///< Of a share.

  std::uint64_t bytes_ = 0;
  std::uint64_t given_ = 0;           ///< And nothing told of it.
  std::uint64_t begun_ = 0;           ///< Of that, of the part that is not complete.
  std::vector<std::uint64_t> parts_;  ///< The driver is going to tell of these; a few.
  std::uint64_t all_ = 0;             ///< As it was then: ...
  Instant changed_at_;                ///< The last time that something was given, or told.
};

}  // namespace phx::runtime
