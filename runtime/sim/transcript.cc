#include "runtime/sim/transcript.h"

namespace phx::sim {

std::string in_milliseconds(Instant at) {
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch());
  return std::to_string(whole.count()) + "ms";
}

void Transcript::mix(std::uint64_t value) {
  constexpr std::uint64_t kPrime = 0x100000001b3ULL;
  hash_ = (hash_ ^ value) * kPrime;
  hash_ ^= hash_ >> 29U;
}

void Transcript::add(Instant at, std::string_view who, std::string_view event,
                     std::string_view detail) {
  mix(static_cast<std::uint64_t>(at.time_since_epoch().count()));
  for (const std::string_view part : {who, event, detail}) {
    for (const char c : part) mix(static_cast<unsigned char>(c));
  }
  if (!keeps_lines_) return;
  std::string line = '[' + in_milliseconds(at) + ']';
  for (const std::string_view part : {who, event, detail}) {
    if (!part.empty()) line.append(1, ' ').append(part);
  }
  lines_.push_back(std::move(line));
}

}  // namespace phx::sim
