#include "runtime/channels/stream.h"

#include <utility>

#include "overlay/base/check.h"
#include "runtime/messages/weight.h"

namespace phx::runtime {
std::uint64_t Stream::push(Envelope&& envelope) {
  const std::uint64_t bytes = weight_of(envelope).total();
  kept_bytes_ += bytes;
  pushed_bytes_ += bytes;
  kept_.emplace_back(std::move(envelope), bytes, pushed_bytes_);
  return last_sent();
}

bool Stream::on_acknowledged(std::uint64_t received) {
  if (received > last_sent()) return false;
  while (acknowledged_ < received) {
    kept_bytes_ -= kept_.front().bytes;
    kept_.pop_front();
    ++acknowledged_;
  }
  return true;
}

Frame Stream::frame(std::uint64_t seq) const {
  PHX_CHECK(seq > acknowledged_ && seq <= last_sent());
  return Frame{seq, received_, kept_[seq - acknowledged_ - 1].envelope};
}

std::vector<Envelope> Stream::take_unacknowledged() {
  std::vector<Envelope> result;
  result.reserve(kept_.size());
  acknowledged_ = last_sent();
  for (; !kept_.empty(); kept_.pop_front()) result.push_back(std::move(kept_.front().envelope));
  kept_bytes_ = 0;
  return result;
}

Stream::Arrival Stream::on_arrived(std::uint64_t seq) {
  if (seq <= received_) return Arrival::kDuplicate;
  if (seq != received_ + 1) return Arrival::kGap;
  received_ = seq;
  return Arrival::kNext;
}

}  // namespace phx::runtime
