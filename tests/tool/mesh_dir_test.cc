#include "apps/phoenix/mesh/mesh_dir.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace phx::app::mesh_dir_test {
namespace fs = std::filesystem;

/// A folder of meshes of its own.
class Meshes {
 public:
  Meshes() {
    std::string pattern = fs::temp_directory_path() / "phx-tool-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    ::setenv("PHOENIX_DIR", pattern.c_str(), 1);
  }
  Meshes(const Meshes&) = delete;
  Meshes& operator=(const Meshes&) = delete;
  ~Meshes() {
    ::unsetenv("PHOENIX_DIR");
    std::error_code failure;
    fs::remove_all(path_, failure);
  }

 private:
  fs::path path_;
};

TEST_CASE("endpoints are remembered whole while another tool writes them") {
  const Meshes meshes;
  const auto dir = MeshDir::make("lab");
  REQUIRE(dir.ok());
  std::ofstream other(dir.value().path() / "mesh.json.new");
  other << "{\"endpoints\": [\"127.0" << std::flush;
  const std::vector<std::string> endpoints = {"127.0.0.1:4000"};
  dir.value().remember_endpoints(endpoints);
  other << ".0.1:5000\"]}" << std::flush;

  CHECK(dir.value().known_endpoints() == endpoints);
  CHECK(!dir.value().has_lost_endpoints());
}

TEST_CASE("endpoints that cannot be read are lost") {
  const Meshes meshes;
  const auto dir = MeshDir::make("lab");
  REQUIRE(dir.ok());
  CHECK(!dir.value().has_lost_endpoints());
  std::ofstream(dir.value().path() / "mesh.json") << "{\"endpoi";

  CHECK(dir.value().has_lost_endpoints());
}

}  // namespace phx::app::mesh_dir_test
