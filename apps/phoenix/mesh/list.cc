#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/phoenix/mesh/mesh_dir.h"
#include "apps/phoenix/mesh/private_mesh.h"
#include "apps/phoenix/mesh/verbs.h"
#include "apps/phoenix/texts/table.h"
#include "runtime/tcp/mesh_folder.h"

namespace phx::app {
namespace {

/// MESH, DAEMONS HERE, FOLDER.
std::string as_table(const std::vector<MeshDir>& meshes) {
  Table table({"MESH", "DAEMONS HERE", "FOLDER"});
  for (const MeshDir& mesh : meshes) {
    table.add({mesh.name(), std::to_string(mesh.daemons().size()), mesh.path()});
  }
  return table.text();
}

std::string as_json(const std::vector<MeshDir>& meshes) {
  nlohmann::json all = nlohmann::json::array();
  for (const MeshDir& mesh : meshes) {
    all.push_back(
        {{"mesh", mesh.name()}, {"daemons_here", mesh.daemons().size()}, {"folder", mesh.path()}});
  }
  return all.dump(2) + "\n";
}

int list(bool json) {
  remove_abandoned();
  std::vector<MeshDir> meshes;
  for (const std::string& name : MeshDir::names()) {
    auto mesh = MeshDir::open(name);
    if (!mesh.ok()) return fail(mesh.error().what);
    meshes.push_back(std::move(mesh).value());
  }
  if (meshes.empty() && !json) {
    std::printf("no mesh of yours on this machine (in %s); start one: phoenix up --local 4\n",
                tcp::meshes_folder().c_str());
    return kOk;
  }
  std::printf("%s", (json ? as_json(meshes) : as_table(meshes)).c_str());
  return kOk;
}

}  // namespace

void add_list(const options::Parser& tool, Action& chosen) {
  const options::Parser verb = tool.add_subcommand("list", "List your meshes on this machine");
  verb.footer("Asks nobody: a mesh with no daemon here may run on other machines.");
  auto json = std::make_shared<bool>(false);
  verb.add_flag("--json", *json, "Machine-readable: an array of meshes");
  verb.callback([json, &chosen] { chosen = [json] { return list(*json); }; });
}

void add_version(const options::Parser& tool, Action& chosen) {
  const options::Parser verb = tool.add_subcommand("version", "Print the version");
  verb.callback([&chosen] {
    chosen = [] {
      std::printf("phoenix " PHX_VERSION "\n");
      return static_cast<int>(kOk);
    };
  });
}

}  // namespace phx::app
