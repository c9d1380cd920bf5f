#include "runtime/wire/codec.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <array>
#include <limits>

#include "runtime/messages/weight.h"
#include "runtime/wire/codec_tops.h"
#include "runtime/wire/records.h"

namespace phx::wire {
namespace {

/// Protobuf objects of one message; the first block is kept, so that small messages allocate none.
class Workshop {
 public:
  /// Valid until the next call.
  template <class P>
  P* make() {
    arena_.Reset();
    return google::protobuf::Arena::CreateMessage<P>(&arena_);
  }

 private:
  static constexpr std::size_t kKept = std::size_t{8} << 10U;

  static google::protobuf::ArenaOptions options(std::span<char> block) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block.data();
    options.initial_block_size = block.size();
    return options;
  }

  alignas(std::max_align_t) std::array<char, kKept> block_;
  google::protobuf::Arena arena_{options(block_)};
};

constexpr std::size_t kShortBytes = 128;

/// The same without protobuf, if the message has a record.
template <class Message>
bool encode_record(Family family, const Message& message, Encoded& encoded) {
  const std::size_t size = record_size(message);
  if (size == 0) return false;
  // With room for a short payload, which will be joined to it in front of the system call.
  encoded.head.reserve(kPrefixBytes + size + kShortBytes);
  encoded.head.resize(kPrefixBytes + size);
  const auto record = std::span(encoded.head).subspan(kPrefixBytes);
  Payload payload = write_record(message, record);
  write_prefix({.family = family,
                .header_size = size,
                .payload_size = payload.size(),
                .header_check = check_of(record)},
               encoded.head);
  if (!payload.empty()) encoded.tail.push_back(std::move(payload));
  return true;
}

template <class Message>
bool append_record(Family family, const Message& message, std::size_t most, Bytes& to) {
  const std::size_t size = record_size(message);
  if (size == 0) return false;
  const std::size_t begin = to.size();
  to.resize(begin + kPrefixBytes + size);
  const auto record = std::span(to).subspan(begin + kPrefixBytes);
  const Payload payload = write_record(message, record);
  if (payload.size() > most) {
    to.resize(begin);
    return false;
  }
  write_prefix({.family = family,
                .header_size = size,
                .payload_size = payload.size(),
                .header_check = check_of(record)},
               std::span(to).subspan(begin));
  to.insert(to.end(), payload.bytes().begin(), payload.bytes().end());
  return true;
}

template <class P, class Message>
Encoded encode_as(Family family, const Message& message, Workshop& workshop) {
  if constexpr (requires { record_size(message); }) {
    Encoded encoded;
    if (encode_record(family, message, encoded)) return encoded;
  }
  P& header = *workshop.make<P>();
  Sink sink;
  write_top(message, header, sink);

  Encoded encoded;
  encoded.tail = sink.take();
  const std::size_t size = header.ByteSizeLong();
  Prefix prefix{.family = family,
                .version = kWireVersion,
                .header_size = size,
                .payload_size = encoded.payload_size(),
                .header_check = 0};
  if (size > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    // Protocol Buffers cannot write it: is_within() says so, and no receiver would take it.
    prefix.header_size = std::numeric_limits<std::uint64_t>::max();
    encoded.head.resize(kPrefixBytes);
  } else {
    encoded.head.resize(kPrefixBytes + size);
    auto* at = reinterpret_cast<std::uint8_t*>(encoded.head.data() + kPrefixBytes);
    header.SerializeWithCachedSizesToArray(at);
    prefix.header_check = check_of(std::span(encoded.head).subspan(kPrefixBytes));
  }
  write_prefix(prefix, encoded.head);
  return encoded;
}

template <class Message, class P>
Result<Message> decode_as(std::span<const std::byte> header, Payload payload, Workshop& workshop) {
  if constexpr (requires(Message & record) { {record_size(record)}; }) {
    if (is_record(header)) {
      Result<Message> message{Message()};
      const Status status = read_record(header, std::move(payload), message.value());
      if (!status.ok()) return status.error();
      return message;
    }
  }
  P& parsed = *workshop.make<P>();
  if (header.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !parsed.ParseFromArray(header.data(), static_cast<int>(header.size()))) {
    return Error{ErrorCode::kBadInput, "a message whose header is not Protocol Buffers"};
  }
  Source source(std::move(payload));
  Result<Message> message = read_top(parsed, source);
  const Status status = source.finish();
  if (!status.ok()) return status.error();
  return message;
}

}  // namespace

bool append_short(const runtime::Frame& message, std::size_t most, Bytes& to) {
  return append_record(Family::kFrame, message, most, to);
}
bool append_short(const runtime::ToDaemon& message, std::size_t most, Bytes& to) {
  return append_record(Family::kToDaemon, message, most, to);
}
bool append_short(const runtime::ToApplication& message, std::size_t most, Bytes& to) {
  return append_record(Family::kToApplication, message, most, to);
}

std::size_t Encoded::payload_size() const {
  std::size_t size = 0;
  for (const Payload& part : tail) size += part.size();
  return size;
}

bool is_within(const Encoded& message, const Limits& limits) {
  PHX_CHECK(message.head.size() >= kPrefixBytes);
  const auto prefix = std::span(message.head).first<kPrefixBytes>();
  const auto family = static_cast<Family>(std::to_integer<std::uint8_t>(prefix[1]));
  return read_prefix(prefix, family, limits).ok();
}

void replace_payload(Encoded& message, Payload reference) {
  const auto bytes = std::span(message.head).first<kPrefixBytes>();
  const auto family = static_cast<Family>(std::to_integer<std::uint8_t>(bytes[1]));
  const Result<Prefix> read = read_prefix(bytes, family, {});
  PHX_CHECK(read.ok());
  Prefix prefix = read.value();
  prefix.payload_size = reference.size();
  prefix.is_reference = true;
  write_prefix(prefix, message.head);
  message.tail = {std::move(reference)};
}

struct Encoder::State {
  Workshop workshop;
};

Encoder::Encoder() : state_(std::make_unique<State>()) {}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

Encoded Encoder::encode(const runtime::Frame& message) {
  return encode_as<pb::Frame>(Family::kFrame, message, state_->workshop);
}
Encoded Encoder::encode(const runtime::ToDaemon& message) {
  return encode_as<pb::ToDaemon>(Family::kToDaemon, message, state_->workshop);
}
Encoded Encoder::encode(const runtime::ToApplication& message) {
  return encode_as<pb::ToApplication>(Family::kToApplication, message, state_->workshop);
}
Encoded Encoder::encode(const runtime::ClientRequest& message) {
  return encode_as<pb::ClientRequest>(Family::kClientRequest, message, state_->workshop);
}
Encoded Encoder::encode(const runtime::ClientReply& message) {
  return encode_as<pb::ClientReply>(Family::kClientReply, message, state_->workshop);
}
std::uint64_t Encoder::size(const runtime::Frame& message) {
  if (const std::size_t record = record_size(message); record != 0) {
    return kPrefixBytes + record + runtime::weight_of(*message.envelope).payload;
  }
  pb::Frame& header = *state_->workshop.make<pb::Frame>();
  Sink sink;
  write_top(message, header, sink);
  std::uint64_t size = kPrefixBytes + header.ByteSizeLong();
  for (const Payload& part : sink.take()) size += part.size();
  return size;
}

struct Decoder::State {
  Workshop workshop;
};

Decoder::Decoder() : state_(std::make_unique<State>()) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Result<runtime::Frame> Decoder::frame(Header header, Payload payload) {
  return decode_as<runtime::Frame, pb::Frame>(header, std::move(payload), state_->workshop);
}
Result<runtime::ToDaemon> Decoder::to_daemon(Header header, Payload payload) {
  return decode_as<runtime::ToDaemon, pb::ToDaemon>(header, std::move(payload), state_->workshop);
}
Result<runtime::ToApplication> Decoder::to_application(Header header, Payload payload) {
  return decode_as<runtime::ToApplication, pb::ToApplication>(header, std::move(payload),
                                                              state_->workshop);
}
Result<runtime::ClientRequest> Decoder::client_request(Header header, Payload payload) {
  return decode_as<runtime::ClientRequest, pb::ClientRequest>(header, std::move(payload),
                                                              state_->workshop);
}
Result<runtime::ClientReply> Decoder::client_reply(Header header, Payload payload) {
  return decode_as<runtime::ClientReply, pb::ClientReply>(header, std::move(payload),
                                                          state_->workshop);
}

}  // namespace phx::wire
