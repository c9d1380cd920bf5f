#include "apps/options/option_values.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace phx::options {
namespace {

/// What is wrong with a value of this type; empty: nothing.
std::string fault(const std::string& type, const std::string& value) {
  if (value.empty()) return "the value is empty";
  if (type.starts_with("UINT")) {
    errno = 0;
    static_cast<void>(std::strtoull(value.c_str(), nullptr, 0));
    if (value.front() == '-') return "'" + value + "' is below 0";
    if (errno == ERANGE) return "'" + value + "' is too large";
  }
  const bool is_real = type.starts_with("FLOAT") || type.starts_with("SECONDS");
  if (is_real && !std::isfinite(std::strtod(value.c_str(), nullptr))) {
    return "'" + value + "' is no number";
  }
  return {};
}

}  // namespace

void check_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const bool is_named = option->nonpositional();
    if (!is_named || option->get_items_expected_max() == 0) continue;  // words for others; flags
    for (const std::string& value : option->results()) {
      const std::string what = fault(option->get_type_name(), value);
      if (!what.empty()) throw CLI::ValidationError(option->get_name(), what);
    }
  }
  for (const CLI::App* verb : app.get_subcommands()) check_values(*verb);
}

std::string in_words(const std::string& what) {
  constexpr std::string_view kNoNumber = "Could not convert: ";
  if (what.starts_with(kNoNumber)) {
    const std::string rest = what.substr(kNoNumber.size());
    const std::size_t between = rest.find(" = ");
    if (between == std::string::npos) return what;
    return rest.substr(0, between) + ": '" + rest.substr(between + 3) + "' is no number";
  }
  // "--timeout: 1 required FLOAT missing"
  if (const std::size_t name = what.find(": "); name != std::string::npos) {
    const std::size_t number_end = what.find_first_not_of("0123456789", name + 2);
    const bool is_missing = number_end != std::string::npos && what.ends_with(" missing") &&
                            what.substr(number_end).starts_with(" required ");
    if (is_missing) return what.substr(0, name) + " needs a value";
  }
  if (what.starts_with("A subcommand is required")) return "a command is missing";
  if (what == "--vnodes is required") return what + ", as -n 8, in front of the program";
  return what;
}

}  // namespace phx::options
