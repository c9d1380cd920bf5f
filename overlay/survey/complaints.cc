#include "overlay/survey/complaints.h"

#include <algorithm>

namespace phx::overlay {

bool Complaints::take(Instant now, ProcessorId from, ProcessorId to) {
  Last& last = last_[to];
  if (now < last.next) return false;
  Complainer& complainer = complainers_[from];
  if (now - complainer.since >= options_.pause) complainer = {now, 0};
  if (complainer.taken >= options_.each) return false;
  ++complainer.taken;
  const bool is_new = now >= last.next + last.pause;
  last.pause = is_new ? options_.pause : std::min(2 * last.pause, options_.pause_most);
  last.next = now + last.pause;
  return true;
}

void Complaints::keep_only(const ProcessorSet& live) {
  const auto is_gone = [&](const auto& one) { return !live.contains(one.first); };
  std::erase_if(last_, is_gone);
  std::erase_if(complainers_, is_gone);
}

}  // namespace phx::overlay
