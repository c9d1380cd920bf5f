#pragma once

#include <vector>

#include "overlay/base/payload.h"
#include "runtime/messages/delivery.h"

// The contents of a vnode: what the application gave, wherever in its bundle that lies. They can go
// another way than the rest [runtime/vnodes/README.md, "Pieces"].
namespace phx::runtime {

/// All contents, in an order that follows from the rest alone. They share the bytes.
[[nodiscard]] std::vector<Payload> contents_of(const VnodeBundle& bundle);

/// Leaves each of them empty.
void drop_contents(VnodeBundle& bundle);

/// Puts back what contents_of() gave. False: there are not as many; nothing is changed.
[[nodiscard]] bool put_contents(VnodeBundle& bundle, std::vector<Payload> contents);

}  // namespace phx::runtime
