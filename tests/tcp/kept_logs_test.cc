#include "runtime/tcp/kept_logs.h"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/tcp/folder.h"

namespace phx::tcp::test {
namespace fs = std::filesystem;

/// Whether the log of a mesh of this name is kept when it ends.
bool is_kept(const Folder& meshes, const std::string& name) {
  const fs::path mesh = meshes / name;
  fs::create_directory(mesh);
  std::ofstream(mesh / "phoenixd-7.log") << "left\n";
  keep_logs(mesh, /*is_whole=*/true);
  return !logs_in(kept_logs_of(mesh)).empty();
}

TEST_CASE("logs of meshes that a tool made for itself are not kept") {
  const Folder meshes;
  CHECK(is_kept(meshes, "default"));
  CHECK(is_kept(meshes, "bench-lab"));
  CHECK(is_kept(meshes, "run-"));
  CHECK(!is_kept(meshes, "run-4711"));
  CHECK(!is_kept(meshes, "mpirun-4711-2"));
  CHECK(!is_kept(meshes, "elastic-4711"));
  CHECK(!is_kept(meshes, "bench-4711-1"));
}

TEST_CASE("logs of a mesh are kept for a week after its end") {
  const Folder meshes;
  REQUIRE(is_kept(meshes, "old"));
  REQUIRE(is_kept(meshes, "new"));
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(kept_logs_of(meshes / "old"), now - std::chrono::hours(24 * 8));
  fs::last_write_time(kept_logs_of(meshes / "new"), now - std::chrono::hours(24 * 6));
  keep_logs(meshes / "other", /*is_whole=*/true);

  CHECK(!fs::exists(kept_logs_of(meshes / "old")));
  CHECK(fs::exists(kept_logs_of(meshes / "new")));
}

}  // namespace phx::tcp::test
