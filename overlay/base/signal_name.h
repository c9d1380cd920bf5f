#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace phx {

/// The signals of Linux by number, without "SIG"; real-time signals have no names.
inline constexpr std::array<std::string_view, 32> kSignalNames = {
    "",     "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
    "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
    "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "IO",   "PWR",  "SYS"};

/// For a person: "SIGSEGV (signal 11)", or "signal 40".
[[nodiscard]] inline std::string signal_name(int number) {
  const std::string plain = "signal " + std::to_string(number);
  if (number <= 0 || static_cast<std::size_t>(number) >= kSignalNames.size()) return plain;
  return "SIG" + std::string(kSignalNames[static_cast<std::size_t>(number)]) + " (" + plain + ")";
}

/// Of "SEGV", "SIGSEGV" or "11"; 0: there is no such signal.
[[nodiscard]] inline int signal_number(std::string_view text) {
  constexpr int kLast = 64;
  if (text.starts_with("SIG")) text.remove_prefix(3);
  int number = 0;
  for (std::size_t i = 1; i < kSignalNames.size(); ++i) {
    if (text == kSignalNames[i]) return static_cast<int>(i);
  }
  for (const char c : text) {
    if (c < '0' || c > '9' || number > kLast) return 0;
    number = number * 10 + (c - '0');
  }
  return number <= kLast ? number : 0;
}

}  // namespace phx
