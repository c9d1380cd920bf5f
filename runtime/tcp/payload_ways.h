#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/tcp/loans.h"
#include "runtime/tcp/rings.h"
#include "runtime/wire/codec.h"

namespace phx::tcp {

/// Where one system call puts what it brings beyond the frame that is being read. One for all
/// connections of a thread: an idle connection costs no buffer.
using ReadBuffer = std::vector<std::byte>;
inline constexpr std::size_t kReadBufferBytes = std::size_t{128} << 10U;

/// How what a connection carries comes and goes; by itself through the socket, to the heap.
struct PayloadWays {
  wire::PayloadMemory memory = {};
  std::unique_ptr<Loans> loans = {};
  std::unique_ptr<Rings> rings = {};  ///< To be offered. REQUIRES loans.
};

}  // namespace phx::tcp
