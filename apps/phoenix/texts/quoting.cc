#include "apps/phoenix/texts/quoting.h"

#include <cctype>
#include <cstddef>
#include <cstdint>

namespace phx::app {
namespace {

constexpr std::string_view kUnknown = "\xEF\xBF\xBD";  // U+FFFD

/// Of the character that begins the text: its bytes, or 0 if they are no character of XML.
std::size_t length_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC0 || byte(0) >= 0xF8 || text.size() < length) return 0;
  std::uint32_t value = byte(0) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
    value = value << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xD800 && value < 0xE000;
  const bool is_none = value == 0xFFFE || value == 0xFFFF || value > 0x10FFFF;
  return value < kLeast[length] || is_surrogate || is_none ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = length_of_character(text);
    const char first = text.front();
    if (length == 0) {
      result += kUnknown;
    } else if (first == '&') {
      result += "&amp;";
    } else if (first == '<') {
      result += "&lt;";
    } else if (static_cast<unsigned char>(first) >= ' ') {
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "_-+./,:=@%";
  bool is_plain = !text.empty();
  for (const char c : text) {
    const bool is_letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    is_plain = is_plain && (is_letter || kPlain.find(c) != std::string_view::npos);
  }
  if (is_plain) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace phx::app
