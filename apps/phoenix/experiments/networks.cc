#include "apps/phoenix/experiments/networks.h"

#include <utility>

#include "apps/phoenix/command_line/option_values.h"

namespace phx::app {

Result<sim::Topology> read_topology(const std::string& file) {
  std::string text(kThreeSites);
  if (!file.empty()) {
    auto read = read_text(file);
    if (!read.ok()) return read.error();
    text = std::move(read).value();
  }
  auto topology = sim::Topology::parse(text);
  if (!topology.ok()) return Error{topology.error().code, file + ": " + topology.error().what};
  return topology;
}

}  // namespace phx::app
