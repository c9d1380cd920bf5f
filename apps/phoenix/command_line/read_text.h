#pragma once

#include <string>

#include "overlay/base/result.h"

namespace phx::app {

/// All of a file. kNotFound: it cannot be read, and why.
[[nodiscard]] Result<std::string> read_text(const std::string& path);

}  // namespace phx::app
