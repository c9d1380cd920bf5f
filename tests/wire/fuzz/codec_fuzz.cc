#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/wire/families.h"

namespace {

/// What can be decoded must come back the same after being encoded again.
template <class Top>
void check(phx::wire::Decoder::Header header, const phx::Payload& payload) {
  using phx::wire::FamilyOf;
  phx::wire::Encoder encoder;
  phx::wire::Decoder decoder;
  const auto first = FamilyOf<Top>::decode(decoder, header, payload);
  if (!first.ok()) return;
  const phx::wire::Encoded encoded = encoder.encode(first.value());
  const auto second =
      FamilyOf<Top>::decode(decoder, phx::wire::header_of(encoded), phx::wire::payload_of(encoded));
  if (!second.ok() || !(second.value() == first.value())) std::abort();
}

}  // namespace

/// Byte 0 chooses the family, bytes 1 and 2 are the size of the header, the rest is header and
/// payload.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  using namespace phx;
  if (size < 3) return 0;
  const auto bytes = std::as_bytes(std::span(input, size)).subspan(3);
  const std::size_t wanted = input[1] + std::size_t{256} * input[2];
  const auto header = bytes.first(std::min(wanted, bytes.size()));
  const Payload payload = Payload::copy_of(bytes.subspan(header.size()));
  switch (input[0] % 5) {
    case 0:
      check<runtime::Frame>(header, payload);
      break;
    case 1:
      check<runtime::ToDaemon>(header, payload);
      break;
    case 2:
      check<runtime::ToApplication>(header, payload);
      break;
    case 3:
      check<runtime::ClientRequest>(header, payload);
      break;
    default:
      check<runtime::ClientReply>(header, payload);
      break;
  }
  return 0;
}
