#include "runtime/channels/link_share.h"

#include <algorithm>

namespace phx::runtime {

bool LinkShare::give(Instant now, std::uint64_t bytes, std::uint64_t all,
                     const ChannelOptions& options) {
  if (bytes_ == 0) bytes_ = options.share_start;
  if (given_ == 0) begun_at_ = now;
  given_ += bytes;
  is_full_ = given_ >= bytes_;
  full_at_ = now;
  all_ = all;
  return is_full_;
}

/// Time in which nothing was there to be given makes the whole share take long, and not its end. So
/// a link grows only if it was busy from the beginning, and shrinks only if it is slow.
LinkShare::Left LinkShare::on_drained(Instant now, const ChannelOptions& options) {
  if (!is_full_) return {};
  const Left left{given_, now - full_at_, all_};
  if (now - begun_at_ < options.share_time_min) {
    bytes_ = std::min(2 * bytes_, options.share_max);
  } else if (now - full_at_ > options.share_time_max) {
    bytes_ = std::max(bytes_ / 2, options.share_min);
  }
  is_full_ = false;
  given_ = 0;
  return left;
}

}  // namespace phx::runtime
