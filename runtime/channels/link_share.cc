#include "runtime/channels/link_share.h"

#include <utility>

namespace phx::runtime {

bool LinkShare::give(Instant now, std::uint64_t bytes, std::uint64_t all) {
  given_ += bytes;
  begun_ += bytes;
  all_ = all;
  changed_at_ = now;
  if (begun_ < share_ / kParts) return false;
  parts_.push_back(std::exchange(begun_, 0));
  return true;
}

/// A link with nothing to carry is not slow: so the time counts in which it was full.
LinkShare::Left LinkShare::on_drained(Instant now) {
  if (parts_.empty()) return {};
  const std::uint64_t bytes = parts_.front();
  const Left left = is_full() ? Left{bytes, now - changed_at_, all_} : Left{};
  parts_.erase(parts_.begin());
  given_ -= bytes;
  changed_at_ = now;
  return left;
}

}  // namespace phx::runtime
