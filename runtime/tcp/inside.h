#pragma once

#include <vector>

#include "overlay/base/ids.h"
#include "runtime/messages/local_messages.h"

namespace phx::tcp {

/// What a driver knows of the application around it, if its daemon is inside one: that needs no
/// connection.
struct Inside {
  ApplicationId id{};  ///< 0: it has not attached.
  bool is_open = true;
  bool is_held_up = false;  ///< As all applications: a neighbour does not keep up.
  std::vector<runtime::ToApplication> waiting;  ///< What it has to hear, in order.
};

}  // namespace phx::tcp
