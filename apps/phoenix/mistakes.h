#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace phx::app {

/// What the user is told about a command line that cannot be understood: what is wrong, what may
/// have been meant, and where to read on.
[[nodiscard]] std::string what_is_wrong(const CLI::App* tool, const CLI::Error& error);

}  // namespace phx::app
