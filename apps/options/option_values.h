#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace phx::options {

/// Refuses what the parser lets pass and nobody means: an empty value, a number below 0 or beyond
/// 64 bits where neither is possible, and what is not finite. After parse(); throws
/// CLI::ValidationError, which names the option.
void check_values(const CLI::App& app);

/// What the parser says, as a person would say it.
[[nodiscard]] std::string in_words(const std::string& what);

}  // namespace phx::options
