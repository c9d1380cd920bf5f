#pragma once

#include <cstddef>

#include "runtime/tcp/descriptor.h"

namespace phx::tcp {

/// A file in memory of so many zero bytes that can neither shrink nor grow, so who maps it need not
/// trust its owner. Closed: the system refuses it, or limits the size of files (ulimit -f) to less:
/// trying that would end a program with SIGXFSZ.
[[nodiscard]] Descriptor make_memory_file(const char* name, std::size_t bytes);

/// Whether it is such a file. For what another process offers.
[[nodiscard]] bool is_memory_file(const Descriptor& file, std::size_t bytes);

}  // namespace phx::tcp
