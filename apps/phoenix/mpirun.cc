#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/phoenix/job_environment.h"
#include "apps/phoenix/ranks.h"
#include "apps/phoenix/run.h"
#include "apps/phoenix/verb.h"

namespace phx::app {
namespace {

constexpr const char* kHelp =
    "Usage: phoenix mpirun [OPTIONS] PROGRAM [ARGUMENTS] [: [OPTIONS] PROGRAM [ARGUMENTS]]...\n\n"
    "Runs an MPI program: -n processes on this machine, each with a daemon inside, or one on each\n"
    "of as many processors of a mesh. Also called mpiexec.\n\n"
    "  -n, -np N              processes (default: 1)\n"
    "  --mesh NAME            on the processors of this mesh, see phoenix up\n"
    "  -x NAME[=VALUE]        for the environment of the processes; also -env, -genv NAME VALUE\n"
    "  -wdir DIR              their folder\n"
    "  -l, --tag-output       the rank in front of each line\n"
    "  --tcp                  messages over TCP also where all ranks are on this machine\n"
    "  --timeout SECONDS      ends the job then, with exit code 124\n"
    "  --help                 this\n\n"
    "Options before the first program hold for all, but for -n and -env. Standard input goes to\n"
    "rank 0. When one process ends badly, or calls MPI_Abort, all are ended, and its code is the\n"
    "exit code.\n";

/// What stands between two colons.
struct Part {
  std::size_t count = 1;
  MpiProcess spec;
};

struct Command {
  std::vector<Part> parts;
  MpiOptions options;
  std::string mesh;
  std::vector<std::string> environment;  ///< of all
  std::string folder;
  bool wants_help = false;
};

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  /// An error says which word is wrong.
  Result<Command> parse() {
    while (at_ < words_.size() && error_.empty()) part();
    if (error_.empty() && command_.parts.empty() && !command_.wants_help) {
      error_ = "mpirun: which program?";
    }
    if (!error_.empty()) return Error{ErrorCode::kBadInput, error_};
    for (Part& part : command_.parts) {
      auto& own = part.spec.environment;
      own.insert(own.begin(), command_.environment.begin(), command_.environment.end());
      own = environment_of(own);
      if (part.spec.folder.empty()) part.spec.folder = command_.folder;
    }
    return std::move(command_);
  }

 private:
  void part() {
    Part part;
    while (at_ < words_.size() && words_[at_].starts_with("-") && error_.empty()) option(part);
    while (at_ < words_.size() && words_[at_] != ":") part.spec.command.push_back(words_[at_++]);
    ++at_;  // the colon
    if (part.spec.command.empty()) {
      if (error_.empty() && !command_.wants_help) error_ = "mpirun: a program is missing";
      return;
    }
    command_.parts.push_back(std::move(part));
  }

  std::string value() {
    if (at_ < words_.size()) return words_[at_++];
    error_ = "mpirun: " + words_.back() + " needs a value";
    return "";
  }

  void option(Part& part) {
    std::string word = words_[at_++];
    if (word.starts_with("--")) word.erase(0, 1);  // both ways are in use
    const auto is = [&](std::initializer_list<const char*> names) {
      return std::find(names.begin(), names.end(), word) != names.end();
    };
    if (is({"-n", "-np", "-c"})) return count(part);
    if (is({"-l", "-tag-output", "-prepend-rank"}))
      return void(command_.options.tags_output = true);
    if (is({"-h", "-help"})) return void(command_.wants_help = true);
    if (is({"-tcp"})) return void(command_.options.shares_memory = false);
    if (is({"-oversubscribe", "-allow-run-as-root", "-bind-to-none"})) return;
    if (is({"-mesh"})) return void(command_.mesh = value());
    if (is({"-timeout"})) return timeout();
    if (is({"-wdir", "-wd"})) return folder(part);
    if (is({"-x"})) return void(command_.environment.push_back(value()));
    if (is({"-genv", "-env"})) {
      const std::string name = value();
      auto& list = word == "-env" ? part.spec.environment : command_.environment;
      return void(list.push_back(name + "=" + value()));
    }
    error_ = "mpirun: there is no option " + words_[at_ - 1] + "; see phoenix mpirun --help";
  }

  void count(Part& part) {
    const std::string text = value();
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, part.count);
    const bool is_number = error == std::errc{} && at == end;
    if ((!is_number || part.count == 0) && error_.empty()) {
      error_ = "mpirun: " + text + " is no number of processes";
    }
  }

  void timeout() {
    const std::string text = value();
    const char* const end = text.data() + text.size();
    double& seconds = command_.options.timeout_s;
    const auto [at, error] = std::from_chars(text.data(), end, seconds);
    const bool is_number = error == std::errc{} && at == end;
    if ((!is_number || !(seconds > 0)) && error_.empty()) {
      error_ = "mpirun: " + text + " is no number of seconds";
    }
  }

  void folder(Part& part) {
    (command_.parts.empty() ? command_.folder : part.spec.folder) = value();
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  std::string error_;
  Command command_;
};

/// One process on each of as many processors of a mesh.
int run_on_mesh(const Command& command) {
  if (command.parts.size() > 1) return fail("mpirun: on a mesh there is one program", kUsage);
  const Part& part = command.parts.front();
  RunOptions options;
  options.mesh = command.mesh;
  options.vnodes = part.count;
  options.processors = static_cast<std::uint32_t>(part.count);
  options.fits = true;
  options.no_balance = true;
  options.passes_input = true;  // As mpirun does.
  options.no_tags = !command.options.tags_output;
  options.timeout_s = command.options.timeout_s;
  options.environment = part.spec.environment;
  options.directory = part.spec.folder;
  options.command = part.spec.command;
  return run_job(options);
}

int mpirun(const std::vector<std::string>& words) {
  const auto command = Parser(words).parse();
  if (!command.ok()) return fail(command.error().what, kUsage);
  if (command.value().wants_help) {
    std::fputs(kHelp, stdout);
    return kOk;
  }
  if (!command.value().mesh.empty()) return run_on_mesh(command.value());
  std::vector<MpiProcess> ranks;
  for (const Part& part : command.value().parts) ranks.insert(ranks.end(), part.count, part.spec);
  return run_ranks(ranks, command.value().options);
}

}  // namespace

void add_mpirun(CLI::App& tool, Action& chosen) {
  CLI::App* verb = tool.add_subcommand("mpirun", "Run an MPI program");
  verb->set_help_flag();  // it is one of the words that stand before a program
  verb->prefix_command();
  verb->callback([verb, &chosen] { chosen = [verb] { return mpirun(verb->remaining()); }; });
}

}  // namespace phx::app
