#pragma once

#include <string>
#include <vector>

#include "overlay/base/time.h"
#include "runtime/tcp/address.h"
#include "runtime/tcp/names.h"

namespace phx::tcp {

/// Where a daemon of this machine is.
struct Here {
  Address bound;                       ///< Where it listens. Port 0: nowhere.
  std::vector<std::string> endpoints;  ///< By which the others reach it.
};

/// Those of `all` ("name:port") that do not lead there. Names that may are looked up, all at once;
/// one for which that fails, or takes longer than `patience`, is somebody else's. Blocks so long.
[[nodiscard]] std::vector<std::string> without_own(const std::vector<std::string>& all,
                                                   const Here& here, Duration patience,
                                                   const LookUp& look_up = ask_system);

}  // namespace phx::tcp
