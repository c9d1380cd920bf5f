#include "runtime/tcp/library_path.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "runtime/tcp/own_file.h"

namespace phx::tcp {

std::string mpi_folder(const std::string& self) {
  if (self.empty()) return {};
  const std::filesystem::path prefix = std::filesystem::path(self).parent_path().parent_path();
  std::error_code failure;
  for (const char* const libraries : {"lib", PHX_LIBRARIES}) {
    const std::filesystem::path folder = prefix / libraries / "phoenix-mpi";
    if (std::filesystem::exists(folder / "libmpi.so.12", failure)) return folder;
  }
  return {};
}

std::string mpi_folder() {
  return mpi_folder(own_file());
}

std::string library_path(const std::string& folder, std::span<const std::string> environment) {
  constexpr std::string_view kName = "LD_LIBRARY_PATH=";
  const char* const ours = std::getenv("LD_LIBRARY_PATH");
  std::string rest = ours == nullptr ? "" : ours;
  for (const std::string& one : environment) {
    if (one.starts_with(kName)) rest = one.substr(kName.size());
  }
  // What is empty in such a list means the current folder.
  return std::string(kName) + folder + (rest.empty() ? "" : ":" + rest);
}

}  // namespace phx::tcp
