#include "apps/phoenix/mesh/private_mesh.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "apps/phoenix/mesh/starters.h"
#include "runtime/tcp/mesh_folder.h"

namespace phx::app {
namespace {

constexpr const char* kMaker = "maker";
constexpr int kNames = 1000;

/// Its maker may not have locked it yet.
bool is_young(const std::filesystem::path& folder) {
  constexpr auto kMaking = std::chrono::minutes(1);
  std::error_code failure;
  const auto made = std::filesystem::last_write_time(folder, failure);
  return failure || std::filesystem::file_time_type::clock::now() - made < kMaking;
}

}  // namespace

Result<PrivateMesh> PrivateMesh::make(Use use) {
  const std::string first = (use == Use::kJob ? "run-" : "mpirun-") + std::to_string(::getpid());
  for (int i = 1; i <= kNames; ++i) {
    const std::string name = i == 1 ? first : first + "-" + std::to_string(i);
    const auto before = MeshDir::open(name);
    if (!before.ok()) return before.error();
    std::error_code failure;
    if (std::filesystem::exists(before.value().path(), failure)) continue;
    auto dir = MeshDir::make(name);
    if (!dir.ok()) return dir.error();
    const std::string file = dir.value().path() / kMaker;
    tcp::Descriptor held(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!held.is_open()) {
      return Error{ErrorCode::kDenied, "cannot write " + file + ": " + std::strerror(errno)};
    }
    // Of two that have made the folder at once one has it. A file system without locks does
    // without.
    if (!tcp::lock_for_life(held).ok() && tcp::holder_of(held)) continue;
    return PrivateMesh(std::move(dir).value(), std::move(held));
  }
  return Error{ErrorCode::kLimit, tcp::meshes_folder() + " is full of meshes called " + first +
                                      "; those of jobs that have ended can be removed"};
}

void remove_abandoned() {
  for (const std::string& name : MeshDir::private_names()) {
    const auto dir = MeshDir::open(name);
    if (!dir.ok() || tcp::holder_of(dir.value().path() / kMaker)) continue;
    if (!dir.value().has_key() && is_young(dir.value().path())) continue;
    if (dir.value().daemons().empty() && !is_being_started(dir.value())) dir.value().remove();
  }
}

}  // namespace phx::app
