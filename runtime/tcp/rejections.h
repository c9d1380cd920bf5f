#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "overlay/base/result.h"
#include "overlay/base/time.h"

namespace phx::tcp {

/// Counts what was refused, and decides what is worth a line of the log: one per kind and address
/// in a minute, so that somebody who knocks all day does not fill the disk. Not thread-safe.
class Rejections {
 public:
  /// Remembered pairs of kind and address [limit]; beyond it things are counted, but not logged.
  static constexpr std::size_t kPairsMax = 256;
  static constexpr Duration kQuiet = 60s;

  /// How many of this kind came from `address` since the last line, this one included; empty: no
  /// line now.
  [[nodiscard]] std::optional<std::uint64_t> count(Instant now, ErrorCode kind,
                                                   const std::string& address);
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  struct Entry {
    Instant logged_at;
    std::uint64_t unlogged = 0;
  };
  std::map<std::pair<ErrorCode, std::string>, Entry> entries_;
  std::uint64_t total_ = 0;
};

}  // namespace phx::tcp
