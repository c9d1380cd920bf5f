#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "overlay/base/time.h"

namespace phx::sim {

/// What happened, as lines of the form `[1004ms] p1 event key=value`, and their hash: two runs
/// with equal hashes went the same way. Not thread-safe.
class Transcript {
 public:
  /// `keeps_lines`: else only the hash is computed.
  explicit Transcript(bool keeps_lines) : keeps_lines_(keeps_lines) {}

  /// `who`: p1, or a machine that is no member yet; empty: the network, or the script.
  void add(Instant at, std::string_view who, std::string_view event, std::string_view detail);
  /// Mixes a number into the hash: what is too frequent for lines.
  void mix(std::uint64_t value);

  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  bool keeps_lines_;
  std::vector<std::string> lines_;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

/// "1004ms": whole milliseconds, rounded down.
[[nodiscard]] std::string in_milliseconds(Instant at);

}  // namespace phx::sim
