#include "apps/options/option_values.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <regex>

namespace phx::options {
namespace {

/// "2" of "2.000000".
std::string without_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

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
  static const std::regex range(R"((.*): Value (.*) not in range (\S+) (?:to|-) (\S+))");
  static const std::regex number(R"(Could not convert: (\S+) = (.*))");
  static const std::regex missing(R"((\S+): \d+ required .* missing)");
  std::smatch found;
  if (std::regex_match(what, found, range)) {
    constexpr std::size_t kDigitsMax = 20;  // More has the greatest number of all.
    const std::string least = without_zeros(found[3]);
    const bool is_open = found[4].length() > static_cast<std::ptrdiff_t>(kDigitsMax);
    const std::string wanted =
        is_open ? "above " + least : "from " + least + " to " + without_zeros(found[4]);
    return found[1].str() + ": '" + found[2].str() + "' is no number " + wanted;
  }
  if (std::regex_match(what, found, number)) {
    return found[1].str() + ": '" + found[2].str() + "' is no number";
  }
  if (std::regex_match(what, found, missing)) return found[1].str() + " needs a value";
  if (what.starts_with("A subcommand is required")) return "a command is missing";
  if (what == "--vnodes is required") return what + ", as -n 8, in front of the program";
  return what;
}

}  // namespace phx::options
