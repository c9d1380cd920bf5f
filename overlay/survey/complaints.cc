#include "overlay/survey/complaints.h"

#include <algorithm>

namespace phx::overlay {

bool Complaints::take(Instant now, ProcessorId to) {
  const auto [found, is_first] = last_.try_emplace(to);
  Last& last = found->second;
  if (!is_first && now < last.next) return false;
  const bool is_new = is_first || now > last.next + last.pause;
  last.pause = is_new ? options_.pause : std::min(2 * last.pause, options_.pause_most);
  last.next = now + last.pause;
  return true;
}

void Complaints::keep_only(const ProcessorSet& live) {
  std::erase_if(last_, [&](const auto& one) { return !live.contains(one.first); });
}

}  // namespace phx::overlay
