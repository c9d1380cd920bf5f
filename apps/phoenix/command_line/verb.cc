#include "apps/phoenix/command_line/verb.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace phx::app {

int fail(const std::string& what, int code) {
  std::fprintf(stderr, "phoenix: %s\n", what.c_str());
  return code;
}

int fail(const Error& error) {
  return fail(error.what, error.code == ErrorCode::kBadInput ? kUsage : kFailed);
}

void add_mesh_option(const options::Parser& verb, std::string& mesh) {
  verb.add_option("--mesh", mesh, "Name of the mesh").capture_default_str().envname("PHOENIX_MESH");
}

options::Check seconds_above_0() {
  const auto check = [](const std::string& text) -> std::string {
    double seconds = 0;
    const bool is_number = CLI::detail::lexical_cast(text, seconds);
    if (!is_number || !(seconds > 0)) return "'" + text + "' is no number above 0";
    return seconds > kSecondsMost ? "'" + text + "' is more than thirty years" : "";
  };
  return options::Check(check, "SECONDS");
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace phx::app
