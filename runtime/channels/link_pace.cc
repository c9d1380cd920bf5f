#include "runtime/channels/link_pace.h"

#include <algorithm>

namespace phx::runtime {
namespace {

std::uint64_t per_second(std::uint64_t bytes, Duration time) {
  const double seconds = static_cast<double>(std::max<Duration::rep>(time.count(), 1)) / 1e9;
  return static_cast<std::uint64_t>(static_cast<double>(bytes) / seconds);
}

}  // namespace

/// A link that had nothing to carry is not slow: so only the time counts in which it was full, and
/// all bytes of a part, of which some may have left before. The rate is never less than it was.
std::optional<LinkPace::Sample> LinkPace::on_left(Instant now, const LinkShare::Left& left,
                                                  std::uint64_t all,
                                                  const ChannelOptions& options) {
  const bool is_old = now - begun_at_ > options.pace_together;
  if (time_ == Duration{} || is_old) {
    *this = {};
    begun_at_ = now - left.time;
    all_ = left.all;
  }
  bytes_ += left.bytes;
  time_ += left.time;
  if (time_ < options.pace_time) return std::nullopt;
  const Sample sample{per_second(bytes_, time_), per_second(all - all_, now - begun_at_)};
  *this = {};
  return sample;
}

}  // namespace phx::runtime
