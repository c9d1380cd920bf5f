#include "runtime/wire/framing.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/wire/numbers.h"

namespace phx::wire {
namespace {

/// Not ASCII, not the start of anything common.
constexpr std::byte kMagic{0xf5};

// Offsets of the fields; integers are little-endian.
constexpr std::size_t kFamilyAt = 1;
constexpr std::size_t kVersionAt = 2;
constexpr std::size_t kHeaderSizeAt = 4;  // With the highest bits of the payload's.
constexpr std::size_t kPayloadSizeAt = 8;
constexpr std::size_t kPrefixCheckAt = 12;
constexpr std::size_t kHeaderCheckAt = 14;

/// In the byte of the family: the payload is a reference.
constexpr std::uint8_t kReferenceBit = 0x80;

/// So many bits of its word are the header's size.
constexpr unsigned kHeaderSizeBits = 27;
constexpr std::uint64_t kHeaderSizeEnd = std::uint64_t{1} << kHeaderSizeBits;
constexpr std::uint64_t kPayloadSizeEnd = std::uint64_t{1} << (64U - kHeaderSizeBits);
static_assert(Limits{}.header_max < kHeaderSizeEnd - 1);
static_assert(kLocalPayloadMax < kPayloadSizeEnd - 1);

/// A header is given room in steps: so much, then twice what has arrived.
constexpr std::size_t kHeaderStep = std::size_t{64} << 10U;
/// Room kept for the next header.
constexpr std::size_t kHeaderKept = std::size_t{1} << 20U;
/// Payloads up to this size get all their room at once. It is not written to before bytes arrive,
/// so the system gives memory only as they do; this bounds what is left of a liar's announcement.
constexpr std::size_t kPayloadStep = std::size_t{64} << 20U;

Error too_large(const char* what, std::uint64_t size, std::uint64_t limit) {
  return Error{ErrorCode::kLimit, std::string(what) + " of " + std::to_string(size) +
                                      " bytes announced; at most " + std::to_string(limit) +
                                      " are accepted"};
}

/// Between an application and its daemon.
bool is_local(Family family) {
  return family == Family::kToDaemon || family == Family::kToApplication;
}

}  // namespace

std::uint16_t check_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint16_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

void write_prefix(const Prefix& prefix, std::span<std::byte> to) {
  PHX_CHECK(to.size() >= kPrefixBytes);
  to[0] = kMagic;
  const auto reference = static_cast<std::uint8_t>(prefix.is_reference ? kReferenceBit : 0U);
  to[kFamilyAt] = static_cast<std::byte>(prefix.family) | std::byte{reference};
  write_number(to.subspan(kVersionAt), prefix.version);
  const std::uint64_t header = std::min(prefix.header_size, kHeaderSizeEnd - 1);
  const std::uint64_t payload = std::min(prefix.payload_size, kPayloadSizeEnd - 1);
  const std::uint64_t above = (payload >> 32U) << kHeaderSizeBits;
  write_number(to.subspan(kHeaderSizeAt), static_cast<std::uint32_t>(header | above));
  write_number(to.subspan(kPayloadSizeAt), static_cast<std::uint32_t>(payload));
  write_number(to.subspan(kPrefixCheckAt), check_of(to.first(kPrefixCheckAt)));
  write_number(to.subspan(kHeaderCheckAt), prefix.header_check);
}

Result<Prefix> read_prefix(std::span<const std::byte, kPrefixBytes> bytes, Family expected,
                           const Limits& limits) {
  if (bytes[0] != kMagic) return Error{ErrorCode::kBadInput, "not a Phoenix message"};
  if (read_number<std::uint16_t>(bytes.subspan(kPrefixCheckAt)) !=
      check_of(bytes.first(kPrefixCheckAt))) {
    return Error{ErrorCode::kBadInput, "prefix of a message is damaged"};
  }
  const auto version = read_number<std::uint16_t>(bytes.subspan(kVersionAt));
  if (version != kWireVersion) {
    return Error{ErrorCode::kBadVersion, "the other side speaks wire version " +
                                             std::to_string(version) + ", this one " +
                                             std::to_string(kWireVersion)};
  }
  const auto family_byte = std::to_integer<std::uint8_t>(bytes[kFamilyAt]);
  const bool is_reference = (family_byte & kReferenceBit) != 0;
  const auto family = limits.references ? family_byte & ~unsigned{kReferenceBit} : family_byte;
  if (family != static_cast<std::uint8_t>(expected)) {
    return Error{ErrorCode::kBadInput, "message of family " + std::to_string(family) +
                                           " on a connection of family " +
                                           std::to_string(static_cast<unsigned>(expected))};
  }
  const auto sizes = read_number<std::uint32_t>(bytes.subspan(kHeaderSizeAt));
  const std::uint64_t above = sizes >> kHeaderSizeBits;
  const auto below = read_number<std::uint32_t>(bytes.subspan(kPayloadSizeAt));
  const Prefix prefix{.family = expected,
                      .version = version,
                      .header_size = sizes & (kHeaderSizeEnd - 1),
                      .payload_size = (above << 32U) | below,
                      .header_check = read_number<std::uint16_t>(bytes.subspan(kHeaderCheckAt)),
                      .is_reference = is_reference};
  if (prefix.header_size > limits.header_max) {
    return too_large("a header", prefix.header_size, limits.header_max);
  }
  const std::uint64_t payload_max =
      limits.payload_max.value_or(is_local(expected) ? kLocalPayloadMax : kPayloadMax);
  if (prefix.payload_size > payload_max) {
    return too_large("a payload", prefix.payload_size, payload_max);
  }
  return prefix;
}

FrameReader::FrameReader(Family expected, Limits limits, PayloadMemory memory)
    : expected_(expected), limits_(limits), memory_(std::move(memory)) {}

std::span<std::byte> FrameReader::space() {
  switch (stage_) {
    case Stage::kPrefix:
      return std::span(prefix_bytes_).subspan(filled_);
    case Stage::kHeader:
      return std::span(header_).subspan(filled_);
    case Stage::kPayload:
      return {payload_.get() + filled_, payload_capacity_ - filled_};
    case Stage::kComplete:
    case Stage::kFailed:
      break;
  }
  return {};
}

Status FrameReader::advance(std::size_t count) {
  if (stage_ == Stage::kFailed) return error_;
  PHX_CHECK(count <= space().size());
  filled_ += count;
  switch (stage_) {
    case Stage::kPrefix:
      return filled_ == kPrefixBytes ? on_prefix() : success();
    case Stage::kHeader:
      if (filled_ == prefix_.header_size) return on_header();
      if (filled_ == header_.size()) {
        header_.resize(std::min<std::size_t>(prefix_.header_size, 2 * filled_));
      }
      break;
    case Stage::kPayload:
      if (filled_ == prefix_.payload_size) {
        stage_ = Stage::kComplete;
      } else if (filled_ == payload_capacity_) {
        return grow_payload();
      }
      break;
    case Stage::kComplete:
    case Stage::kFailed:
      break;
  }
  return success();
}

Status FrameReader::consume(std::span<const std::byte>& bytes) {
  if (stage_ == Stage::kFailed) return error_;
  while (!bytes.empty() && !is_complete()) {
    const std::span<std::byte> room = space();
    const std::size_t count = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), count);
    bytes = bytes.subspan(count);
    Status status = advance(count);
    if (!status.ok()) return status;
  }
  return success();
}

std::span<const std::byte> FrameReader::header() const {
  PHX_CHECK(is_complete());
  return header_;
}

Payload FrameReader::take_payload() {
  PHX_CHECK(is_complete());
  if (!payload_) return {};
  const std::span<const std::byte> view(payload_.get(), prefix_.payload_size);
  payload_capacity_ = 0;
  return {std::exchange(payload_, nullptr), view};
}

void FrameReader::next() {
  PHX_CHECK(is_complete());
  stage_ = Stage::kPrefix;
  filled_ = 0;
  payload_ = nullptr;
  payload_capacity_ = 0;
  header_.clear();
  if (header_.capacity() > kHeaderKept) header_ = Bytes();
}

Status FrameReader::on_prefix() {
  Result<Prefix> prefix = read_prefix(prefix_bytes_, expected_, limits_);
  if (!prefix.ok()) return fail(prefix.error());
  prefix_ = prefix.value();
  stage_ = Stage::kHeader;
  filled_ = 0;
  header_.resize(std::min<std::size_t>(prefix_.header_size, kHeaderStep));
  return header_.empty() ? on_header() : success();
}

Status FrameReader::on_header() {
  if (check_of(header_) != prefix_.header_check) {
    return fail(Error{ErrorCode::kBadInput, "header of a message is damaged"});
  }
  return begin_payload();
}

Status FrameReader::begin_payload() {
  stage_ = Stage::kComplete;
  filled_ = 0;
  if (prefix_.payload_size == 0) return success();
  stage_ = Stage::kPayload;
  // Applications are started here, and send what a vnode carries as a whole: who copied that while
  // it comes would do nothing else meanwhile.
  const auto size = static_cast<std::size_t>(prefix_.payload_size);
  const std::size_t capacity = is_local(expected_) ? size : std::min(size, kPayloadStep);
  if (memory_ && capacity == size) payload_ = memory_(capacity);
  if (!payload_) return give_room(capacity);
  payload_capacity_ = capacity;
  return success();
}

Status FrameReader::grow_payload() {
  return give_room(std::min<std::size_t>(prefix_.payload_size, 4 * filled_));
}

/// With what has come of the payload at its front.
Status FrameReader::give_room(std::size_t capacity) {
  const bool is_usual = capacity <= kPayloadStep;
  auto room = is_usual ? std::make_shared_for_overwrite<std::byte[]>(capacity)
                       : std::shared_ptr<std::byte[]>(new (std::nothrow) std::byte[capacity]);
  if (!room) {
    return fail(Error{ErrorCode::kLimit, "a payload of " + std::to_string(prefix_.payload_size) +
                                             " bytes announced; there is no memory for it here"});
  }
  if (filled_ > 0) std::memcpy(room.get(), payload_.get(), filled_);
  payload_ = std::move(room);
  payload_capacity_ = capacity;
  return success();
}

Status FrameReader::fail(Error error) {
  stage_ = Stage::kFailed;
  error_ = error;
  header_ = Bytes();
  payload_ = nullptr;
  payload_capacity_ = 0;
  return error;
}

}  // namespace phx::wire
