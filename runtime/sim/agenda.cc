#include "runtime/sim/agenda.h"

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"

namespace phx::sim {

void Agenda::schedule(Instant at, Action action) {
  std::size_t slot = slots_.size();
  if (free_.empty()) {
    slots_.push_back(std::move(action));
  } else {
    slot = free_.back();
    free_.pop_back();
    slots_[slot] = std::move(action);
  }
  heap_.push_back({std::max(at, now_), next_number_++, slot});
  std::push_heap(heap_.begin(), heap_.end(), is_later);
}

void Agenda::step() {
  PHX_CHECK(!heap_.empty());
  std::pop_heap(heap_.begin(), heap_.end(), is_later);
  const Entry entry = heap_.back();
  heap_.pop_back();
  now_ = entry.at;
  ++steps_;
  const Action action = std::exchange(slots_[entry.slot], nullptr);
  free_.push_back(entry.slot);
  action();
}

void Agenda::advance_to(Instant at) {
  PHX_CHECK(at >= now_ && (heap_.empty() || heap_.front().at >= at));
  now_ = at;
}

}  // namespace phx::sim
