#pragma once

#include <string>

namespace phx::phoenixd {

/// Where the installation of this program has phoenix-keeper; empty: nowhere.
[[nodiscard]] std::string keeper_path();

/// What is missing for processes that outlive a job to be found and killed [runtime/tcp/README.md,
/// "Processes"]; empty: nothing. `keeper` is as keeper_path() says.
[[nodiscard]] std::string lack_for_keeping(const std::string& keeper);

}  // namespace phx::phoenixd
