#pragma once

#include <string>

namespace phx::tcp {

/// The file of this program, as its full path; without /proc: of what it was called by. Empty: it
/// cannot be told.
[[nodiscard]] std::string own_file();

}  // namespace phx::tcp
