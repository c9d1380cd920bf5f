#include "apps/phoenix/command_line/read_text.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <system_error>

namespace phx::app {

Result<std::string> read_text(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) {
    return Error{ErrorCode::kNotFound, "cannot read " + path + ": it is a folder"};
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const std::string why = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
    return Error{ErrorCode::kNotFound, "cannot read " + path + why};
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace phx::app
