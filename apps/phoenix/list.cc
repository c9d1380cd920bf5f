#include <cstdio>

#include "apps/phoenix/mesh_dir.h"
#include "apps/phoenix/table.h"
#include "apps/phoenix/verb.h"
#include "runtime/tcp/mesh_folder.h"

namespace phx::app {
namespace {

int list() {
  MeshDir::remove_abandoned();
  const auto names = MeshDir::names();
  if (names.empty()) {
    std::printf("no mesh of yours on this machine (in %s); start one: phoenix up --local 4\n",
                tcp::meshes_folder().c_str());
    return kOk;
  }
  Table table({"MESH", "DAEMONS HERE", "FOLDER"});
  for (const std::string& name : names) {
    const auto dir = MeshDir::open(name);
    if (!dir.ok()) return fail(dir.error().what);
    table.add({name, std::to_string(dir.value().daemons().size()), dir.value().path()});
  }
  std::printf("%s", table.text().c_str());
  return kOk;
}

}  // namespace

void add_list(CLI::App& tool, Action& chosen) {
  CLI::App* verb = tool.add_subcommand("list", "List your meshes on this machine");
  verb->footer("Asks nobody: a mesh with no daemon here may run on other machines.");
  verb->callback([&chosen] { chosen = list; });
}

void add_version(CLI::App& tool, Action& chosen) {
  CLI::App* verb = tool.add_subcommand("version", "Print the version");
  verb->callback([&chosen] {
    chosen = [] {
      std::printf("phoenix " PHX_VERSION "\n");
      return static_cast<int>(kOk);
    };
  });
}

}  // namespace phx::app
