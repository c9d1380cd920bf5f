#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "overlay/base/payload.h"
#include "overlay/base/result.h"
#include "runtime/messages/client_messages.h"
#include "runtime/messages/local_messages.h"
#include "runtime/messages/messages.h"
#include "runtime/wire/framing.h"

namespace phx::wire {

/// A message ready to be written: `head`, then every part of `tail`, which shares the bytes of the
/// message's payloads.
struct Encoded {
  Bytes head;  ///< Prefix and header.
  std::vector<Payload> tail;

  [[nodiscard]] std::size_t payload_size() const;
  [[nodiscard]] std::size_t size() const { return head.size() + payload_size(); }
};

/// Whether a receiver with these limits would take it. One that is not accepted must not be sent:
/// the receiver would close the connection.
[[nodiscard]] bool is_within(const Encoded& message, const Limits& limits);

/// The receiver gets `reference` and is told that it is one [framing.h].
void replace_payload(Encoded& message, Payload reference);

/// Appends the whole message to `to`, if it is of those that there are most of [README.md
/// "Records"] and its payload has at most `most` bytes. Whether it did; else see Encoder.
[[nodiscard]] bool append_short(const runtime::Frame& message, std::size_t most, Bytes& to);
[[nodiscard]] bool append_short(const runtime::ToDaemon& message, std::size_t most, Bytes& to);
[[nodiscard]] bool append_short(const runtime::ToApplication& message, std::size_t most, Bytes& to);

/// Makes bytes of messages. Keeps its working memory, so one per connection is best.
/// Texts longer than kTextMax are cut. Not thread-safe.
class Encoder {
 public:
  Encoder();
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  [[nodiscard]] Encoded encode(const runtime::Frame& message);
  [[nodiscard]] Encoded encode(const runtime::ToDaemon& message);
  [[nodiscard]] Encoded encode(const runtime::ToApplication& message);
  [[nodiscard]] Encoded encode(const runtime::ClientRequest& message);
  [[nodiscard]] Encoded encode(const runtime::ClientReply& message);
  /// encode(message).size(), without making the bytes.
  [[nodiscard]] std::uint64_t size(const runtime::Frame& message);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Makes messages of bytes; `header` and `payload` are what a FrameReader of that family gives.
/// Payloads of the result are slices of `payload`. Any bytes are safe: what is not the encoding of
/// a message within the limits is kBadInput, and the error names the field. Keeps its working
/// memory, so one per connection is best. Not thread-safe.
class Decoder {
 public:
  Decoder();
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  using Header = std::span<const std::byte>;
  [[nodiscard]] Result<runtime::Frame> frame(Header header, Payload payload);
  [[nodiscard]] Result<runtime::ToDaemon> to_daemon(Header header, Payload payload);
  [[nodiscard]] Result<runtime::ToApplication> to_application(Header header, Payload payload);
  [[nodiscard]] Result<runtime::ClientRequest> client_request(Header header, Payload payload);
  [[nodiscard]] Result<runtime::ClientReply> client_reply(Header header, Payload payload);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What a field may hold; beyond it a message is refused.
inline constexpr std::uint64_t kVnodeIdEnd = std::uint64_t{1} << 24U;  ///< Ids are below.
inline constexpr std::size_t kTextMax = std::size_t{128} << 10U;       ///< Bytes of one text.
inline constexpr std::size_t kListMax = std::size_t{1} << 20U;         ///< Entries, ranges.

}  // namespace phx::wire
