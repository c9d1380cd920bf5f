#pragma once

#include <cstdint>
#include <utility>

#include "overlay/base/queue.h"
#include "overlay/base/time.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// Both directions of the numbered envelopes between this processor and one peer, for as long as
/// both live. Knows nothing of links: numbers, keeps, acknowledges, filters. Not thread-safe.
///
/// Guarantees: an envelope is kept until the peer has it; each arrives in order and once.
class Stream {
 public:
  // Outgoing: numbers 1, 2, ...
  /// Keeps `envelope`; returns its number.
  std::uint64_t push(Envelope&& envelope);
  /// The peer has everything up to `received`. False: it claims what was never sent.
  [[nodiscard]] bool on_acknowledged(std::uint64_t received);
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
  [[nodiscard]] std::uint64_t last_sent() const { return acknowledged_ + kept_.size(); }
  /// A frame with envelope `seq` and the current acknowledgement.
  /// REQUIRES acknowledged() < seq <= last_sent().
  [[nodiscard]] Frame frame(std::uint64_t seq) const;
  /// What that envelope weighs. REQUIRES the same.
  [[nodiscard]] std::uint64_t bytes(std::uint64_t seq) const {
    return kept_[seq - acknowledged_ - 1].bytes;
  }
  /// What weighs all that is not acknowledged up to that one, and with it. REQUIRES the same.
  [[nodiscard]] std::uint64_t bytes_until(std::uint64_t seq) const {
    return kept_[seq - acknowledged_ - 1].end - (pushed_bytes_ - kept_bytes_);
  }
  [[nodiscard]] bool all_acknowledged() const { return kept_.empty(); }
  /// What the peer has not acknowledged, in order; nothing is kept any more.
  [[nodiscard]] std::vector<Envelope> take_unacknowledged();
  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_bytes_; }
  /// Of the envelope that must be acknowledged next; 0 if none is kept.
  [[nodiscard]] std::uint64_t oldest_bytes() const {
    return kept_.empty() ? 0 : kept_.front().bytes;
  }

  // Incoming.
  enum class Arrival : std::uint8_t { kNext, kDuplicate, kGap };
  /// Envelope `seq` came: to be handed on only if it is the next one.
  [[nodiscard]] Arrival on_arrived(std::uint64_t seq);
  [[nodiscard]] std::uint64_t received() const { return received_; }
  /// A frame without envelope.
  [[nodiscard]] Frame acknowledgement() const { return Frame{0, received_, std::nullopt}; }

 private:
  struct Kept {
    Kept(Envelope&& kept, std::uint64_t weight, std::uint64_t all)
        : envelope(std::move(kept)), bytes(weight), end(all) {}
    Envelope envelope;
    std::uint64_t bytes;
    std::uint64_t end;  ///< Of all pushed bytes, these included.
  };

  Queue<Kept> kept_;                ///< Numbers acknowledged_ + 1 and following.
  std::uint64_t acknowledged_ = 0;  ///< The peer has everything up to here.
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t pushed_bytes_ = 0;
  std::uint64_t received_ = 0;  ///< This side has everything up to here.
};

}  // namespace phx::runtime
