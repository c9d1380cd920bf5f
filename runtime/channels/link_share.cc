#include "runtime/channels/link_share.h"

#include <algorithm>
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

/// A link with nothing to carry is not slow: so the time counts in which it was full. What one part
/// took says little, so the share goes a quarter of the way each time.
LinkShare::Left LinkShare::on_drained(Instant now, const ChannelOptions& options) {
  if (parts_.empty()) return {};
  const std::uint64_t part = parts_.front();
  Left left;
  if (is_full()) {
    left = {part, now - changed_at_, all_};
  }
  // A driver may tell of two parts together: the second one took no time.
  constexpr Duration kTogether = 100us;
  if (left.time >= kTogether) {
    const auto time = static_cast<double>(left.time.count());
    const double carried =
        static_cast<double>(part) * static_cast<double>(options.share_time.count()) / time;
    const double target = std::clamp(carried, static_cast<double>(options.share_min),
                                     static_cast<double>(options.share_max));
    constexpr std::uint64_t kSlowness = 4;
    bytes_ = (bytes_ * (kSlowness - 1) + static_cast<std::uint64_t>(target)) / kSlowness;
  }
  parts_.erase(parts_.begin());
  given_ -= part;
  changed_at_ = now;
  return left;
}

}  // namespace phx::runtime
