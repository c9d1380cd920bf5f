#include "apps/phoenix/mesh/network_text.h"

#include <doctest/doctest.h>

#include <string>

#include "overlay/network/placing.h"
#include "overlay/network/topology.h"

namespace phx::app::network_text_test {

TEST_SUITE_BEGIN("tool/network_text");

TEST_CASE("what is known is read back from the topology file, narrow ways and interfaces, too") {
  const auto topology = overlay::Topology::parse(
      "site A 4 100\nsite B 2 20.5\nsite C 1 100\nlatency * * 3000\nlatency A B 0.4\n"
      "link * * 300\nlink A B 0.4\nlink A C 0\nnic 0.000008\noverhead 7");
  REQUIRE(topology.ok());
  const auto placing = overlay::placed_by_site(topology.value());
  const overlay::KnownNetwork network = known_network(topology.value(), placing);

  const auto read = overlay::Topology::parse(as_topology(network));

  REQUIRE(read.ok());
  CHECK(known_network(read.value(), placing) == network);
  CHECK(as_topology(network).find("link A B 0.4\n") != std::string::npos);
}

TEST_CASE("narrow rates have digits") {
  CHECK(spell_rate(117'500'000) == "940");
  CHECK(spell_rate(1'250'000'000) == "10000+");
  CHECK(spell_rate(50'000) == "0.40");
  CHECK(spell_rate(4'000) == "0.032");
  CHECK(spell_rate(1) == "0.000008");
}

TEST_SUITE_END();

}  // namespace phx::app::network_text_test
