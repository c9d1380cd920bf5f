#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "overlay/base/ids.h"

// What a process says to its daemon of its waits.
namespace phx::runtime {

/// The application sits in a call that waits; `what` says for what ("" = not any more). Sent once
/// per wait that lasts over a second; shown by `phoenix status`.
struct AppWaiting {
  std::string what;
  std::optional<VnodeId> at{};  ///< It receives at this one.
  std::uint64_t waited_us = 0;  ///< Until now.
  friend bool operator==(const AppWaiting&, const AppWaiting&) = default;
};
/// How long calls of the application have waited since the last of these; told about once per
/// second. A wait counts when it is over.
struct AppWaited {
  struct One {
    VnodeId vnode;
    std::uint64_t us = 0;
    friend bool operator==(const One&, const One&) = default;
  };
  std::vector<One> vnodes;      ///< In calls that receive at one vnode.
  std::uint64_t others_us = 0;  ///< In calls of the whole process: barriers, safe points.
  friend bool operator==(const AppWaited&, const AppWaited&) = default;
};

}  // namespace phx::runtime
