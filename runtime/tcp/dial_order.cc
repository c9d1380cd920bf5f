#include "runtime/tcp/dial_order.h"

namespace phx::tcp {

std::optional<std::size_t> DialOrder::begin(Instant now) {
  if (!may_begin() || (now < due_ && under_way_ > 0)) return std::nullopt;
  due_ = now + options_.head_start;
  ++under_way_;
  return next_++;
}

void DialOrder::on_failed() {
  --under_way_;
  due_ = Instant{};
}

std::optional<Instant> DialOrder::next_deadline() const {
  if (!may_begin()) return std::nullopt;
  return due_;
}

}  // namespace phx::tcp
