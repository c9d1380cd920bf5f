#pragma once

#include <cstddef>
#include <span>

#include "overlay/base/payload.h"
#include "overlay/base/result.h"
#include "runtime/messages/local_messages.h"
#include "runtime/messages/messages.h"
#include "runtime/wire/codec.h"

/// Inside of the codec: the messages that there are most of as fixed records, which stand where
/// others have a protobuf header [README.md "Records"]. The first byte of a record is 0, with which
/// no protobuf header begins.
namespace phx::wire {

[[nodiscard]] inline bool is_record(std::span<const std::byte> header) {
  return !header.empty() && header.front() == std::byte{0};
}

/// Of the record of this message, in bytes; 0: it has none, being of another kind, or because a
/// number does not fit.
[[nodiscard]] std::size_t record_size(const runtime::Frame& message);
[[nodiscard]] std::size_t record_size(const runtime::ToDaemon& message);
[[nodiscard]] std::size_t record_size(const runtime::ToApplication& message);

/// Writes it to `to`, whose size is record_size(). Returns the payload that goes with it.
[[nodiscard]] Payload write_record(const runtime::Frame& message, std::span<std::byte> to);
[[nodiscard]] Payload write_record(const runtime::ToDaemon& message, std::span<std::byte> to);
[[nodiscard]] Payload write_record(const runtime::ToApplication& message, std::span<std::byte> to);

/// Any bytes are safe. kBadInput: no such record, or a field out of its rules. REQUIRES
/// is_record().
[[nodiscard]] Status read_record(std::span<const std::byte> record, Payload payload,
                                 runtime::Frame& message);
[[nodiscard]] Status read_record(std::span<const std::byte> record, Payload payload,
                                 runtime::ToDaemon& message);
[[nodiscard]] Status read_record(std::span<const std::byte> record, Payload payload,
                                 runtime::ToApplication& message);

}  // namespace phx::wire
