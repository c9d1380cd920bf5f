#pragma once

#include <cstdint>

#include "overlay/base/time.h"
#include "runtime/channels/channel_options.h"

namespace phx::runtime {

/// How much one link is given before it has told that it is empty: as little as keeps it busy,
/// because whatever comes later stands behind that. README.md, "Classes".
class LinkShare {
 public:
  /// An envelope of so many bytes is given; all links together have been given `all`. Whether the
  /// driver has to tell when it has left: the link takes nothing more until then.
  [[nodiscard]] bool give(Instant now, std::uint64_t bytes, std::uint64_t all,
                          const ChannelOptions& options);
  /// The driver has told. What has left; and in what time, at most, since the last was given.
  struct Left {
    std::uint64_t bytes = 0;
    Duration time{};
    std::uint64_t all = 0;  ///< Given to all links until then.
  };
  Left on_drained(Instant now, const ChannelOptions& options);

  [[nodiscard]] bool is_full() const { return is_full_; }
  /// What it will be given the next time; 0: nothing was given yet.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
  std::uint64_t given_ = 0;  ///< Since it has told.
  std::uint64_t all_ = 0;
  bool is_full_ = false;     ///< It was asked to tell, and has not done so.
  Instant begun_at_;         ///< The first envelope of this share was given.
  Instant full_at_;          ///< The last one.
};

}  // namespace phx::runtime
