#pragma once

#include <compare>
#include <cstdint>
#include <map>

#include "overlay/base/check.h"
#include "overlay/base/ids.h"

namespace phx::runtime {

/// What several vnodes of a process have in common of broadcasts, and what it takes: each counts
/// once, however many hold it. Not thread-safe.
class SharedPayloads {
 public:
  /// A piece, or a message by its last piece, or the result of a reduction towards `root`.
  struct Key {
    VnodeId root;
    bool is_result = false;
    std::uint64_t number = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  /// One more holds it. Returns the bytes that this takes: 0 if somebody held it already.
  std::uint64_t add(const Key& key, std::uint64_t size) {
    Held& held = held_[key];
    if (held.holders++ > 0) return 0;
    held.size = size;
    bytes_ += size;
    return size;
  }
  /// One less. Returns the bytes that are free now. REQUIRES that it was added.
  std::uint64_t remove(const Key& key) {
    const auto at = held_.find(key);
    PHX_CHECK(at != held_.end());
    if (--at->second.holders > 0) return 0;
    const std::uint64_t size = at->second.size;
    held_.erase(at);
    bytes_ -= size;
    return size;
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Held {
    std::uint64_t holders = 0;
    std::uint64_t size = 0;
  };
  std::map<Key, Held> held_;
  std::uint64_t bytes_ = 0;
};

}  // namespace phx::runtime
