#pragma once

#include <span>
#include <string>

namespace phx::tcp {

/// The folder with the names under which programs look for MPICH's library, of the installation
/// that the program at `self` (.../bin/NAME) belongs to; empty: there is none.
[[nodiscard]] std::string mpi_folder(const std::string& self);
/// The same for this program.
[[nodiscard]] std::string mpi_folder();

/// "LD_LIBRARY_PATH=...", in which `folder` comes first; then what `environment` ("NAME=value", the
/// last one counts), or else this process has.
[[nodiscard]] std::string library_path(const std::string& folder,
                                       std::span<const std::string> environment);

}  // namespace phx::tcp
