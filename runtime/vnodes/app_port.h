#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/messages/delivery.h"
#include "runtime/messages/local_messages.h"

namespace phx::runtime {

/// The daemon's end of one application's attachment: numbers what is delivered and keeps it until
/// the application has acknowledged it, so that deliveries that crossed the release of their vnode
/// can go after it. Not thread-safe.
class AppPort {
 public:
  explicit AppPort(ApplicationId application) : application_(application) {}

  [[nodiscard]] ApplicationId application() const { return application_; }
  /// The message that carries `delivery` to the application.
  [[nodiscard]] AppDeliver deliver(Delivery&& delivery);
  /// Forgets deliveries up to `received`.
  void acknowledge(std::uint64_t received);
  /// Per vnode of `vnodes`: what was delivered after number `received`, in order.
  [[nodiscard]] std::map<VnodeId, std::vector<Delivery>> delivered_after(
      std::uint64_t received, const VnodeSet& vnodes) const;
  /// Bytes delivered and not acknowledged.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t delivered() const { return next_ - 1; }

 private:
  ApplicationId application_;
  std::uint64_t next_ = 1;
  std::deque<AppDeliver> kept_;  ///< Delivered, not acknowledged; ascending seq.
  std::uint64_t bytes_ = 0;
};

}  // namespace phx::runtime
