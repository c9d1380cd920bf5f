#pragma once

#include <cstdint>
#include <vector>

#include "overlay/tree_store.h"
#include "runtime/messages/status_messages.h"

namespace phx::runtime {

/// What a processor knows of the trees that somebody asks for: each of those whose turn it may be.
/// Those that it does not know are left out. `style`: of learned trees.
[[nodiscard]] std::vector<TreeStatus> known_trees(const overlay::TreeStore& trees,
                                                  std::uint32_t style,
                                                  const TreeQuestion& question);

}  // namespace phx::runtime
