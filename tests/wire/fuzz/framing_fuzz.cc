#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/wire/framing.h"

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

/// Sets the checks right, so that what lies behind them is reached: of a prefix, and of a header
/// that is there completely.
void correct_checks(phx::Bytes& bytes) {
  using namespace phx::wire;
  if (bytes.size() < kPrefixBytes) return;
  Prefix prefix;
  std::memcpy(&prefix.header_size, bytes.data() + 4, sizeof prefix.header_size);
  std::memcpy(&prefix.payload_size, bytes.data() + 8, sizeof prefix.payload_size);
  const std::span<const std::byte> rest = std::span(bytes).subspan(kPrefixBytes);
  if (prefix.header_size <= rest.size())
    prefix.header_check = check_of(rest.first(prefix.header_size));
  write_prefix(prefix, bytes);
}

}  // namespace

/// The first byte says whether checks are corrected, the second how the stream is cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  using namespace phx::wire;
  if (size < 2) return 0;
  phx::Bytes bytes(size - 2);
  if (!bytes.empty()) std::memcpy(bytes.data(), input + 2, bytes.size());
  if ((input[0] & 1U) != 0) correct_checks(bytes);
  const std::size_t cut = 1 + input[1];

  const Limits limits{.header_max = 1U << 20U, .payload_max = 1U << 22U};
  FrameReader reader(Family::kFrame, limits);
  std::span<const std::byte> left = bytes;
  while (!left.empty()) {
    std::span<const std::byte> piece = left.first(std::min(cut, left.size()));
    left = left.subspan(piece.size());
    while (!piece.empty()) {
      const std::size_t before = piece.size();
      if (!reader.consume(piece).ok()) {
        demand(reader.space().empty());
        return 0;
      }
      demand(piece.size() < before && (piece.empty() || reader.is_complete()));
      demand(reader.allocated() <= 2 * (limits.header_max + *limits.payload_max));
      if (!reader.is_complete()) continue;
      demand(reader.header().size() <= limits.header_max);
      demand(reader.take_payload().size() <= limits.payload_max);
      reader.next();
    }
  }
  return 0;
}
