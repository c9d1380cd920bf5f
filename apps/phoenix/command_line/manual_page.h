#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace phx::app {

/// What a manual page says about a program, its commands and options: the descriptions that --help
/// shows, in the macros of man(7). `name` and `section` as in phoenix(1); `synopsis` and `closing`
/// (the heading of what stands in the footer of `program`) as they are shown.
struct ManualPage {
  std::string name;
  int section = 1;
  std::string synopsis;
  std::string closing;
};
[[nodiscard]] std::string manual_page(const CLI::App& program, const ManualPage& page);

}  // namespace phx::app
