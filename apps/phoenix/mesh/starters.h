#pragma once

#include <string>

#include "apps/phoenix/mesh/mesh_dir.h"
#include "runtime/tcp/descriptor.h"

namespace phx::app {

/// While one lives, `phoenix down` finds that this tool starts daemons of a mesh: it holds a file
/// in the folder of the mesh locked. A hint: where no file can be made, there is none.
class Starter {
 public:
  explicit Starter(const MeshDir& dir);
  ~Starter();
  Starter(const Starter&) = delete;
  Starter& operator=(const Starter&) = delete;

 private:
  std::string path_;
  tcp::Descriptor file_;
};

/// Interrupts the tools of this machine that start daemons of the mesh, and waits until they have
/// cleared away what they had begun, 10 s at most. False: there were none.
bool end_starters(const MeshDir& dir);

/// A tool is just starting daemons of the mesh on this machine, or a daemon is on its way into it.
[[nodiscard]] bool is_being_started(const MeshDir& dir);

}  // namespace phx::app
