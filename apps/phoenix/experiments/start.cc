#include "apps/phoenix/experiments/start.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "apps/phoenix/experiments/verbs.h"
#include "apps/phoenix/mesh/launch.h"

namespace phx::app {
namespace {

int start(const std::vector<std::string>& words) {
  constexpr const char* kProgram = "phoenix-experiments";
  const std::string path = program_path(kProgram);
  std::vector<std::string> all{kProgram};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  const bool is_there = errno != ENOENT;
  const std::string reason = std::strerror(errno);
  return fail(
      "cannot start " + path + ": " + reason +
          (is_there ? "" : "; the target phx_programs builds it, and it is installed with phoenix"),
      kUsage);
}

}  // namespace

void add_experiments(const options::Parser& tool, Action& chosen,
                     const std::vector<std::string>& words) {
  const auto run = [&words](const auto&) { return start(words); };
  add_plan(tool, chosen, run);
  add_experiment(tool, chosen, run);
  add_sim(tool, chosen, run);
}

}  // namespace phx::app
