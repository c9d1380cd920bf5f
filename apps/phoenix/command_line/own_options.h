#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace phx::app {

/// Those of these words that give options of `verb` itself, behind whose name they stand: neither
/// values, nor words of the program that the verb starts. `-np` counts as an option with a value.
[[nodiscard]] std::vector<std::string*> own_options(const CLI::App& verb, std::string* first,
                                                    std::string* last);

}  // namespace phx::app
