#pragma once

#include <string>

#include "apps/phoenix/mesh/mesh_dir.h"
#include "overlay/base/result.h"
#include "runtime/tcp/descriptor.h"

namespace phx::app {

/// The folder of a mesh that this tool makes for itself. As long as this lives the mesh counts as
/// wanted: a file in its folder is locked.
class PrivateMesh {
 public:
  enum class Use { kJob, kRanks };

  /// Takes a name that nobody has: "run-PID", "run-PID-2" ... Tools of several containers may have
  /// the same number.
  [[nodiscard]] static Result<PrivateMesh> make(Use use);
  [[nodiscard]] const MeshDir& dir() const { return dir_; }
  [[nodiscard]] const std::string& name() const { return dir_.name(); }

 private:
  PrivateMesh(MeshDir dir, tcp::Descriptor held) : dir_(std::move(dir)), held_(std::move(held)) {}

  MeshDir dir_;
  tcp::Descriptor held_;
};

/// Removes private meshes without daemons here whose tool was killed.
void remove_abandoned();

}  // namespace phx::app
