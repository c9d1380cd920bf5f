#include "apps/phoenix/jobs/demo.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "apps/phoenix/jobs/run.h"
#include "apps/phoenix/jobs/verbs.h"

namespace phx::app {
namespace {

struct Demo {
  const char* name;
  const char* what;
  std::uint64_t vnodes;
};
constexpr std::array kDemos = {
    Demo{"broadcast", "messages of all sizes from every vnode to all, every checksum verified", 16},
    Demo{"reduce", "every operator over arrays of every type, against sequential results", 16},
    Demo{"heat", "a Jacobi iteration over an image, against a sequential run", 16},
    Demo{"queens", "N queens, by vnodes that steal work from each other", 64},
};

/// Runs the demo as a job, in the running mesh or in one of its own.
int run_demo(const RunOptions& options, const std::vector<std::string>& arguments,
             bool wants_help) {
  const std::string program = demo_path(options.name);
  if (wants_help && std::filesystem::exists(program)) {
    std::fflush(stdout);
    ::execl(program.c_str(), options.name.c_str(), "--help", nullptr);
    return fail(program + ": " + std::strerror(errno));
  }
  if (const int code = check_demo_options(options.name, arguments); code != kOk) return code;
  RunOptions job = options;
  job.command = {program};
  job.command.insert(job.command.end(), arguments.begin(), arguments.end());
  return run_job(job);
}

void add_demo_as_job(const options::Parser& verb, const Demo& demo, Action& chosen) {
  auto options = std::make_shared<RunOptions>();
  auto wants_help = std::make_shared<bool>(false);
  options->name = demo.name;
  options->vnodes = demo.vnodes;
  const options::Parser one = verb.add_subcommand(demo.name, demo.what);
  one.no_help();
  one.add_flag("--help", *wants_help, "Options of the demo");
  one.add_option("-n,--vnodes", options->vnodes, "Number of virtual nodes")
      .check(options::range(std::uint64_t{1}, std::uint64_t{1} << 20U))
      .capture_default_str();
  one.add_option("--on", options->processors, "On at most so many processors; 0: on all (default)");
  add_mesh_option(one, options->mesh);
  one.allow_extras();
  one.footer("");
  one.callback([options, wants_help, one, &chosen] {
    const std::vector<std::string> arguments = one.remaining();
    if (*wants_help) {
      std::printf(
          "phoenix demo %s [-n VNODES] [--on PROCESSORS] [--mesh NAME] [OPTIONS]\n"
          "  VNODES: %llu, PROCESSORS: all, NAME: default; OPTIONS are those of the demo:\n\n",
          one.get_name().c_str(), static_cast<unsigned long long>(options->vnodes));
    }
    options->must_be_there = one.count("--mesh") > 0;
    chosen = [=] { return run_demo(*options, arguments, *wants_help); };
  });
}

void add_demo_elastic(const options::Parser& verb, Action& chosen) {
  auto options = std::make_shared<ElasticOptions>();
  const options::Parser one = verb.add_subcommand(
      "elastic", "the show-piece: broadcasts and sums go on while processors come and go");
  one.add_option("--processors", options->processors, "Local daemons at the beginning")
      .check(options::range(2U, 256U))
      .capture_default_str();
  one.add_option("--change", options->change, "How many join at 3/10, and are drained at 6/10")
      .check(options::range(1U, 256U))
      .capture_default_str();
  one.add_option("-n,--vnodes", options->vnodes, "Number of virtual nodes")
      .check(options::range(std::uint64_t{1}, std::uint64_t{1} << 20U))
      .capture_default_str();
  one.add_option("--seconds", options->seconds, "How long")
      .check(options::range(2.0, 3600.0))
      .capture_default_str();
  one.add_option("--size", options->size, "Of one broadcast: 64K, 1M").capture_default_str();
  one.add_option("--output", options->output, "Folder for phoenix-elastic.{svg,png}");
  one.footer("Always in a mesh of its own, which is removed afterwards.");
  one.callback([options, &chosen] { chosen = [options] { return demo_elastic(*options); }; });
}

int list_demos() {
  std::printf("Bundled demos; each verifies its result, and fails loudly if it is wrong:\n\n");
  std::printf("  phoenix demo %-10s %s\n", "elastic",
              "the show-piece: broadcasts and sums go on while processors come and go");
  for (const Demo& demo : kDemos) std::printf("  phoenix demo %-10s %s\n", demo.name, demo.what);
  std::printf(
      "\nThey run in the mesh that `phoenix up` started, or in a private one. Options: "
      "phoenix demo NAME --help\n");
  return kOk;
}

}  // namespace

std::string demo_path(const std::string& name) {
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  return self.parent_path().parent_path() / "libexec" / "phoenix" / name;
}

int check_demo_options(const std::string& name, std::vector<std::string> words) {
  const std::string program = demo_path(name);
  if (!std::filesystem::exists(program)) {
    return fail("the demo's program is missing: " + program + " (is Phoenix built completely?)",
                kUsage);
  }
  words.insert(words.begin(), program);
  words.emplace_back("--check-options");
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t process = 0;
  const int failure =
      ::posix_spawn(&process, program.c_str(), nullptr, nullptr, argv.data(), environ);
  if (failure != 0) return fail(program + ": " + std::strerror(failure));
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kFailed;
}

void add_demo(const options::Parser& tool, Action& chosen) {
  const options::Parser verb =
      tool.add_subcommand("demo", "Run a bundled demo: elastic, heat, queens ...");
  verb.require_subcommand(0, 1);
  verb.callback([verb, &chosen] {
    if (verb.chosen_subcommands().empty()) chosen = list_demos;
  });
  add_demo_elastic(verb, chosen);
  for (const Demo& demo : kDemos) add_demo_as_job(verb, demo, chosen);
}

}  // namespace phx::app
