#include "apps/phoenix/networks.h"

#include <fstream>
#include <iterator>

namespace phx::app {

Result<sim::Topology> read_topology(const std::string& file) {
  std::string text(kThreeSites);
  if (!file.empty()) {
    std::ifstream stream(file);
    if (!stream) return Error{ErrorCode::kNotFound, "cannot read " + file};
    text.assign(std::istreambuf_iterator<char>(stream), {});
  }
  auto topology = sim::Topology::parse(text);
  if (!topology.ok()) return Error{topology.error().code, file + ": " + topology.error().what};
  return topology;
}

}  // namespace phx::app
