#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "runtime/messages/local_messages.h"

namespace phx {

/// A time-out as people write it: "5 s", "20 ms".
[[nodiscard]] std::string spell(Duration duration);

/// How long the calls of a process have waited since its daemon was told: at one vnode, or the
/// whole process. Without a clock of its own; not thread-safe.
class Waits {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Span = std::chrono::steady_clock::duration;

  /// A wait that is over; `at`: in a call that received at this vnode.
  void add(std::optional<VnodeId> at, Span waited) {
    (at ? vnodes_[*at] : others_) += waited;
    is_empty_ = false;
  }
  /// There is something to tell, and nothing was told for a second.
  [[nodiscard]] bool is_due(Time now) const { return !is_empty_ && now - told_ >= kPeriod; }
  /// What there is to tell, which is forgotten here.
  [[nodiscard]] runtime::AppWaited take(Time now) {
    told_ = now;
    is_empty_ = true;
    runtime::AppWaited result;
    for (const auto& [vnode, waited] : std::exchange(vnodes_, {})) {
      result.vnodes.push_back({vnode, us(waited)});
    }
    result.others_us = us(std::exchange(others_, {}));
    return result;
  }

 private:
  static constexpr Span kPeriod = std::chrono::seconds(1);
  static std::uint64_t us(Span span) {
    const auto count = std::chrono::duration_cast<std::chrono::microseconds>(span).count();
    return static_cast<std::uint64_t>(count);
  }

  std::map<VnodeId, Span> vnodes_;
  Span others_{};
  bool is_empty_ = true;
  Time told_;
};

}  // namespace phx
