#include "runtime/channels/link_share.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace phx::runtime {

bool LinkShare::give(Instant now, std::uint64_t bytes, std::uint64_t all,
                     const ChannelOptions& options) {
  if (bytes_ == 0) bytes_ = options.share_max;
  given_ += bytes;
  begun_ += bytes;
  all_ = all;
  changed_at_ = now;
  if (begun_ < bytes_ / kParts) return false;
  parts_.push_back(std::exchange(begun_, 0));
  return true;
}

/// A link with nothing to carry is not slow: so the time counts in which it was full. What a part
/// took says little, so the share goes a quarter of the way each time.
LinkShare::Left LinkShare::on_drained(Instant now, std::size_t parts, std::uint64_t all,
                                      const ChannelOptions& options) {
  const auto end = parts_.begin() + static_cast<std::ptrdiff_t>(std::min(parts, parts_.size()));
  const std::uint64_t bytes = std::accumulate(parts_.begin(), end, std::uint64_t{0});
  if (bytes == 0) return {};
  Left left;
  if (is_full()) {
    left = {bytes, now - changed_at_, all_};
    const auto time = static_cast<double>(std::max<Duration::rep>(left.time.count(), 1));
    const double carried =
        static_cast<double>(bytes) * static_cast<double>(options.share_time.count()) / time;
    const double target = std::clamp(carried, static_cast<double>(options.share_min),
                                     static_cast<double>(options.share_max));
    constexpr std::uint64_t kSlowness = 4;
    bytes_ = (bytes_ * (kSlowness - 1) + static_cast<std::uint64_t>(target)) / kSlowness;
  }
  parts_.erase(parts_.begin(), end);
  given_ -= bytes;
  all_ = all;
  changed_at_ = now;
  return left;
}

}  // namespace phx::runtime
