#include "apps/experiments/networks.h"

#include <cstdint>

#include "apps/phoenix/command_line/read_text.h"

namespace phx::app {

Result<std::string> topology_text(const std::string& file) {
  if (file.empty()) return std::string(kThreeSites);
  return read_text(file);
}

Result<overlay::Topology> topology_of(const std::string& text, const std::string& file) {
  auto topology = overlay::Topology::parse(text);
  if (!topology.ok()) return Error{topology.error().code, file + ": " + topology.error().what};
  return topology;
}

Result<overlay::Topology> read_topology(const std::string& file) {
  const auto text = topology_text(file);
  if (!text.ok()) return text.error();
  return topology_of(text.value(), file);
}

std::string topology_mark(std::string_view text) {
  std::uint32_t hash = 2'166'136'261;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16'777'619;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string mark;
  for (int i = 0; i < 6; ++i, hash >>= 4U) mark += kDigits[hash & 0xFU];
  return mark;
}

}  // namespace phx::app
