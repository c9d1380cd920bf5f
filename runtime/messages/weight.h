#pragma once

#include <cstdint>

#include "runtime/messages/delivery.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// About how many bytes something takes, in memory and in a frame; never less in a frame, unless
/// its numbers are larger than anybody counts. The one estimate of sizes: whatever has a limit in
/// bytes counts with it. Cheap: looks at payloads and lengths of lists, not at every field.
struct Weight {
  std::uint64_t header = 0;   ///< All but contents.
  std::uint64_t payload = 0;  ///< Contents: what the application gave.
  Weight& operator+=(const Weight& other) {
    header += other.header;
    payload += other.payload;
    return *this;
  }
  [[nodiscard]] std::uint64_t total() const { return header + payload; }
};

[[nodiscard]] Weight weight_of(const Delivery& delivery);
[[nodiscard]] Weight weight_of(const VnodeBundle::Inbound& inbound);
[[nodiscard]] Weight weight_of(const VnodeBundle& bundle);
[[nodiscard]] Weight weight_of(const VnodeParcel& parcel);
[[nodiscard]] Weight weight_of(const Envelope& envelope);

}  // namespace phx::runtime
