#include "runtime/sim/wire_hop.h"

#include <span>

namespace phx::sim {
namespace {

/// `decode` makes a message of a header and a payload.
template <class M, class Decode>
Result<M> pass_through(const M& message, wire::Encoder& encoder, wire::Family family,
                       Decode decode) {
  const wire::Encoded encoded = encoder.encode(message);
  wire::FrameReader reader(family);
  std::span<const std::byte> head(encoded.head);
  if (const Status read = reader.consume(head); !read.ok()) return read.error();
  for (const Payload& part : encoded.tail) {
    std::span<const std::byte> bytes = part.bytes();
    while (!bytes.empty()) {
      if (const Status read = reader.consume(bytes); !read.ok()) return read.error();
    }
  }
  if (!reader.is_complete()) return Error{ErrorCode::kBadInput, "bytes are missing"};
  Result<M> decoded = decode(reader.header(), reader.take_payload());
  if (decoded.ok() && !(decoded.value() == message)) {
    return Error{ErrorCode::kBadInput, "another message came out"};
  }
  return decoded;
}

}  // namespace

Result<runtime::Frame> WireHop::pass(const runtime::Frame& message) {
  return pass_through(message, encoder_, wire::Family::kFrame, [&](auto header, Payload payload) {
    return decoder_.frame(header, std::move(payload));
  });
}

Result<runtime::ToDaemon> WireHop::pass(const runtime::ToDaemon& message) {
  return pass_through(
      message, encoder_, wire::Family::kToDaemon,
      [&](auto header, Payload payload) { return decoder_.to_daemon(header, std::move(payload)); });
}

Result<runtime::ToApplication> WireHop::pass(const runtime::ToApplication& message) {
  return pass_through(message, encoder_, wire::Family::kToApplication,
                      [&](auto header, Payload payload) {
                        return decoder_.to_application(header, std::move(payload));
                      });
}

}  // namespace phx::sim
