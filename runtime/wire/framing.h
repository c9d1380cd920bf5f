#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "overlay/base/payload.h"
#include "overlay/base/result.h"

namespace phx::wire {

/// Raised by every change that the other side must know of. Both sides must speak the same one.
inline constexpr std::uint16_t kWireVersion = 13;

/// Who talks to whom; tells which top-level protobuf message the header is.
enum class Family : std::uint8_t {
  kFrame = 1,
  kToDaemon = 2,
  kToApplication = 3,
  kClientRequest = 4,
  kClientReply = 5,
};

/// Between an application and its daemon the state of a vnode travels as a whole; between daemons
/// everything goes in small pieces.
inline constexpr std::uint64_t kLocalPayloadMax = std::uint64_t{64} << 30U;
inline constexpr std::uint64_t kPayloadMax = std::uint64_t{1} << 30U;

/// What a receiver accepts, in bytes. Only what has really arrived costs memory.
struct Limits {
  /// A view of 10,000 members and the counters of some 1,000 busy vnodes fit.
  std::uint32_t header_max = std::uint32_t{64} << 20U;
  /// Empty: kLocalPayloadMax or kPayloadMax, as the family is.
  std::optional<std::uint64_t> payload_max{};
  /// Whether the payload may be a reference: only between two processes of one machine.
  bool references = false;
};

/// In front of every message: fixed size, little-endian [README.md "Bytes"].
inline constexpr std::size_t kPrefixBytes = 16;
struct Prefix {
  Family family = Family::kFrame;
  std::uint16_t version = kWireVersion;
  // Too large ones are written as the largest there are, which no receiver accepts.
  std::uint64_t header_size = 0;   ///< Below 2^27.
  std::uint64_t payload_size = 0;  ///< Below 2^37.
  std::uint16_t header_check = 0;  ///< check_of() the header.
  /// The payload is not the message's own, but tells where that lies.
  bool is_reference = false;
  friend bool operator==(const Prefix&, const Prefix&) = default;
};

/// Finds damage and loss of synchronisation, not malice.
[[nodiscard]] std::uint16_t check_of(std::span<const std::byte> bytes);
/// Writes kPrefixBytes to the front of `to`. REQUIRES that many.
void write_prefix(const Prefix& prefix, std::span<std::byte> to);
/// kBadInput: not our bytes, or damaged, or a reference where none is expected; kBadVersion;
/// kLimit: header or payload too large.
[[nodiscard]] Result<Prefix> read_prefix(std::span<const std::byte, kPrefixBytes> bytes,
                                         Family expected, const Limits& limits);

/// Room for a payload of so many bytes; null: the reader finds some itself.
using PayloadMemory = std::function<std::shared_ptr<std::byte[]>(std::size_t)>;

/// Takes messages of one family out of a stream of bytes. It does no I/O: it says where the next
/// bytes belong. A driver either reads straight into space() (long payloads are never copied) or
/// hands over what it has read by consume(). Not thread-safe.
///
/// Guarantees: nothing is allocated before the prefix was found good; memory follows what has
/// arrived, not what was announced; after an error the reader stays in it, and if there is no
/// memory for a long payload, that is one (kLimit).
class FrameReader {
 public:
  explicit FrameReader(Family expected, Limits limits = {}, PayloadMemory memory = {});

  /// Where the next bytes of this message belong. Empty if is_complete() or after an error. Valid
  /// until the next call of advance(), consume() or next().
  [[nodiscard]] std::span<std::byte> space();
  /// The first `count` bytes of space() were filled. Errors: those of read_prefix().
  /// REQUIRES count <= space().size().
  [[nodiscard]] Status advance(std::size_t count);
  /// Takes bytes from the front of `bytes`, at most up to the end of this message, and removes them
  /// from it. Errors: those of read_prefix().
  [[nodiscard]] Status consume(std::span<const std::byte>& bytes);

  /// header() and payload() are there; next() goes on with the next message.
  [[nodiscard]] bool is_complete() const { return stage_ == Stage::kComplete; }
  /// Valid until next(). REQUIRES is_complete().
  [[nodiscard]] std::span<const std::byte> header() const;
  /// May be taken once. REQUIRES is_complete().
  [[nodiscard]] Payload take_payload();
  /// What take_payload() gives is a reference. REQUIRES is_complete().
  [[nodiscard]] bool is_reference() const { return prefix_.is_reference; }
  /// REQUIRES is_complete().
  void next();

  /// Between two messages: the end of the stream here is a regular one.
  [[nodiscard]] bool is_between() const { return stage_ == Stage::kPrefix && filled_ == 0; }
  /// Bytes held for the message that is being read, for tests of the limits.
  [[nodiscard]] std::size_t allocated() const { return header_.capacity() + payload_capacity_; }

 private:
  enum class Stage : std::uint8_t { kPrefix, kHeader, kPayload, kComplete, kFailed };

  Status on_prefix();
  Status on_header();
  Status begin_payload();
  Status grow_payload();
  Status give_room(std::size_t capacity);
  Status fail(Error error);

  Family expected_;
  Limits limits_;
  PayloadMemory memory_;
  Stage stage_ = Stage::kPrefix;
  std::size_t filled_ = 0;  ///< Bytes of the current part.
  std::array<std::byte, kPrefixBytes> prefix_bytes_{};
  Prefix prefix_;
  Bytes header_;  ///< Kept from message to message; its size is what may be filled now.
  std::shared_ptr<std::byte[]> payload_;
  std::size_t payload_capacity_ = 0;
  Error error_;  ///< Of kFailed.
};

}  // namespace phx::wire
