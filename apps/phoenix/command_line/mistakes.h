#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace phx::app {

/// "; did you mean 'status'?", if one of `all` is near enough to `word`; or empty.
[[nodiscard]] std::string nearest(const std::string& word, const std::vector<std::string>& all);

/// What the user is told about a command line that cannot be understood: what is wrong, what may
/// have been meant, and where to read on.
[[nodiscard]] std::string what_is_wrong(const CLI::App* tool, const CLI::Error& error);

}  // namespace phx::app
