#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "overlay/base/payload.h"
#include "overlay/base/result.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/tcp/outgoing.h"
#include "runtime/tcp/ring.h"
#include "runtime/wire/codec.h"

namespace phx::tcp {

/// One end's part in moving the stream between an application and its daemon from their socket into
/// memory that both have mapped, one ring for each direction [runtime/local/README.md "Rings"]. The
/// same bytes come, in the same order. The daemon offers, with the first bytes that it writes;
/// whoever does not know of it never sees the offer, and all goes on through the socket. Thread
/// rule: one thread at a time, but for may_sleep_for_bytes() and bell(): any.
///
/// Guarantees: nothing that the other process does makes this end reach beyond the rings, nor the
/// daemon's end block.
class Rings {
 public:
  static constexpr std::size_t kRingBytes = std::size_t{128} << 10U;  ///< Of each direction.
  /// What is offered: the memory, the application's bell, the daemon's bell.
  static constexpr std::size_t kOffered = 3;

  /// The daemon's end. Null if the system refuses.
  [[nodiscard]] static std::unique_ptr<Rings> make();
  /// The application's end. Null if that was no offer, or the system refuses.
  [[nodiscard]] static std::unique_ptr<Rings> open(std::vector<Descriptor> offered);
  Rings(const Rings&) = delete;
  Rings& operator=(const Rings&) = delete;
  ~Rings();

  /// Puts the mark at the end of `queue`: what is queued from now on goes through the ring.
  void move(Outgoing& queue);
  /// Whether a frame without header, with this payload, is the other end's mark.
  [[nodiscard]] static bool is_mark(const Payload& payload);
  /// The other end's mark has come: what follows is in the ring. kBadInput: it must not.
  [[nodiscard]] Status on_mark();
  [[nodiscard]] bool is_writing() const { return is_writing_; }
  [[nodiscard]] bool is_reading() const { return is_reading_; }

  /// Puts a message into the ring, to be shown by write(). False: it has to be queued.
  /// REQUIRES that nothing is queued.
  [[nodiscard]] bool put(const wire::Encoded& message);
  /// Writes what there is room for, where the stream is now, and wakes the other end, if it sleeps.
  /// Returns 0, or why it is not all written: EAGAIN (the bell will ring when there is room; or
  /// the socket is full), EPROTO (the other end lies), or what else is wrong with the socket.
  [[nodiscard]] int write(Outgoing& queue, int socket);

  /// As RingReader. REQUIRES is_reading().
  [[nodiscard]] Result<std::span<const std::byte>> peek() { return reader_.peek(); }
  void take(std::size_t size);
  /// Forgets what has come; as much as the ring holds at most.
  void discard();
  /// Whether the bell will ring when something comes. False: something has.
  [[nodiscard]] bool may_sleep_for_bytes() const { return reader_.may_sleep(); }
  /// The same of room. REQUIRES is_writing().
  [[nodiscard]] bool may_sleep_for_room() const { return writer_.may_sleep(); }

  /// Readable, and said to be so anew, whenever the other end rings.
  [[nodiscard]] int bell() const { return own_bell_.get(); }
  /// Ends that. For the application; of the daemon's bell every ring is an event of its own.
  void hush() const;

 private:
  enum class End : std::uint8_t { kDaemon, kApplication };
  Rings(End end, std::byte* memory);
  void ring() const;
  [[nodiscard]] int write_to_socket(Outgoing& queue, int socket);

  std::byte* memory_;
  mutable RingWriter writer_;
  mutable RingReader reader_;
  Descriptor own_bell_;
  Descriptor other_bell_;
  // The daemon's, for the application: the memory, until it was offered; and the end of a pipe that
  // stays open here, too, for a signal would end the one who writes to a pipe that nobody reads.
  Descriptor file_;
  Descriptor application_bell_;
  bool is_offered_ = false;
  std::size_t before_ring_ = 0;  ///< Bytes queued that belong to the socket still, if it moves.
  bool is_writing_ = false;  ///< Through the ring.
  bool is_reading_ = false;  ///< From the ring.
};

}  // namespace phx::tcp
