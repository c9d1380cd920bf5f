#include "runtime/tcp/memory_kills.h"

#include <charconv>
#include <cstddef>
#include <fstream>
#include <iterator>

namespace phx::tcp {

std::uint64_t memory_kills_in(std::string_view vmstat) {
  constexpr std::string_view kName = "oom_kill ";
  std::size_t at = vmstat.find(kName);
  while (at != std::string_view::npos && at > 0 && vmstat[at - 1] != '\n') {
    at = vmstat.find(kName, at + 1);
  }
  std::uint64_t count = 0;
  if (at == std::string_view::npos) return count;
  const std::string_view number = vmstat.substr(at + kName.size());
  std::from_chars(number.data(), number.data() + number.size(), count);
  return count;
}

std::uint64_t memory_kills() {
  std::ifstream file("/proc/vmstat");
  return memory_kills_in(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::string memory_kill_hint(std::uint64_t before) {
  const std::uint64_t now = memory_kills();
  if (now <= before) return {};
  const std::uint64_t count = now - before;
  return "the kernel has ended " +
         (count == 1 ? std::string("a process") : std::to_string(count) + " processes") +
         " of this machine meanwhile because memory ran out (dmesg)";
}

}  // namespace phx::tcp
