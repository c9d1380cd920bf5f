#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "overlay/base/result.h"

namespace phx::tcp {

/// The secret that all processes of one mesh share. Whoever can read it is a member.
using MeshKey = std::array<std::byte, 32>;

/// Writes a fresh random key to `path` as 64 hexadecimal digits and a line end, readable by its
/// owner alone (mode 0600). Fails if the file exists already (kBusy), and never overwrites one. Of
/// several who do so at once one succeeds, and the others may read what it has made.
[[nodiscard]] Result<MeshKey> create_key(const std::string& path);

/// Reads a key made by create_key(). Fails if it is missing (kNotFound), damaged (kBadInput), or
/// readable by anybody but its owner (kDenied); the error says what to do.
[[nodiscard]] Result<MeshKey> read_key(const std::string& path);

/// A key as text, 64 hexadecimal digits, e.g. from a pipe. kBadInput if it is none.
[[nodiscard]] Result<MeshKey> parse_key(const std::string& text);

}  // namespace phx::tcp
