#pragma once

#include <string>
#include <string_view>

namespace phx::app {

/// As text of an XML page: '&' and '<' in their long forms, no control characters, and U+FFFD for
/// what is not UTF-8, so that any program reads the page.
[[nodiscard]] std::string escaped(std::string_view text);
/// As one word of a shell, in quotes if it needs them.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace phx::app
