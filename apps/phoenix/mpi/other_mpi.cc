#include "apps/phoenix/mpi/other_mpi.h"

#include <algorithm>

namespace phx::app {

std::string other_mpi(std::string_view file) {
  // Names stand in the table of strings of an ELF file, each between two zeros.
  constexpr std::string_view kBegin("\0libmpi", 7);
  const auto is_version = [](std::string_view text) {
    return text.size() > 1 && text[0] == '.' &&
           std::all_of(text.begin() + 1, text.end(),
                       [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  };
  for (std::size_t at = file.find(kBegin); at != std::string_view::npos;
       at = file.find(kBegin, at + 1)) {
    const std::string_view rest = file.substr(at + 1);
    const std::string_view name = rest.substr(0, rest.find('\0'));
    const std::size_t end = name.find(".so.");
    if (end == std::string_view::npos) continue;
    const std::string_view version = name.substr(end + 3);
    if (is_version(version) && version != ".12" && !version.starts_with(".12.")) {
      return std::string(name);
    }
  }
  return {};
}

}  // namespace phx::app
