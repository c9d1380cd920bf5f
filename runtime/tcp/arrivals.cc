#include "runtime/tcp/arrivals.h"

#include <algorithm>

namespace phx::tcp {

void Arrivals::on_sent(Instant now, ClientId to) {
  const bool is_first = awaited_.empty();
  awaited_.insert(to);
  since_ = now;
  if (!is_first && pause_ == kSoon) return;  // It is due in a moment.
  pause_ = kSoon;
  due_ = now + pause_;
}

void Arrivals::on_look(Instant now, const std::vector<ClientId>& settled) {
  for (const ClientId id : settled) awaited_.erase(id);
  if (!settled.empty()) since_ = now;
  pause_ = std::clamp((now - since_) / 8, kSoon, kSeldom);
  due_ = now + pause_;
}

bool Arrivals::asks(Instant now) {
  if (now - asked_ < kSeldom) return false;
  asked_ = now;
  return true;
}

std::optional<Instant> Arrivals::next_deadline() const {
  if (awaited_.empty()) return std::nullopt;
  return due_;
}

}  // namespace phx::tcp
