#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/phoenix/jobs/job_environment.h"
#include "apps/phoenix/jobs/run.h"
#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/launch.h"
#include "apps/phoenix/mesh/private_mesh.h"
#include "apps/phoenix/mesh/start.h"
#include "apps/phoenix/mpi/mpi_mesh.h"
#include "apps/phoenix/mpi/other_mpi.h"
#include "apps/phoenix/mpi/ranks.h"
#include "apps/phoenix/mpi/verbs.h"

namespace phx::app {
namespace {

constexpr const char* kHelp =
    "Usage: phoenix mpirun [OPTIONS] PROGRAM [ARGUMENTS] [: [OPTIONS] PROGRAM [ARGUMENTS]]...\n\n"
    "Runs an MPI program: -n processes on this machine, each with a daemon inside, or one on each\n"
    "of as many processors of a mesh. Also called mpiexec.\n\n"
    "  -n, -np N              processes (default: 1, or as many as --hosts says)\n"
    "  --hosts A,B:4          on these machines, B with four processes; also -H\n"
    "  --hostfile FILE        the same, a machine per line: HOST[:N] [slots=N]; also -f\n"
    "  --remote-shell CMD     runs a command on another machine (default: ssh ...)\n"
    "  --mesh NAME            on the processors of this mesh, see phoenix up\n"
    "  -x NAME[=VALUE]        for the environment of the processes; also -env, -genv NAME VALUE\n"
    "  -wdir DIR              their folder\n"
    "  -l, --tag-output       the rank in front of each line\n"
    "  --tcp                  messages over TCP also where all ranks are on this machine\n"
    "  --timeout SECONDS      ends the job then, with exit code 124; also $MPIEXEC_TIMEOUT\n"
    "  -V, --version          that of Phoenix\n"
    "  --help                 this\n\n"
    "Options before the first program hold for all, but for -n and -env; -x and -wdir before a\n"
    "later one are its own. -- ends the options. Standard input goes to rank 0. When one process\n"
    "ends badly, or calls MPI_Abort, all are ended, and its code is the exit code: of MPI_Abort\n"
    "the last eight bits, but 1 if these are 0. One that ends badly after MPI_Finalize ends "
    "nobody\n"
    "on this machine; its code is the exit code all the same. If all wait for each other, that is\n"
    "told after 10 s, and what for. SIGUSR1 and SIGUSR2 go on to all processes. Options of other\n"
    "launchers that say which cores and networks to use are passed over.\n";

/// Options of other launchers that change nothing here, and how many values each has.
constexpr std::pair<const char*, int> kPassedOver[] = {{"-oversubscribe", 0},
                                                       {"-allow-run-as-root", 0},
                                                       {"-bind-to-none", 0},
                                                       {"-envall", 0},
                                                       {"-genvall", 0},
                                                       {"-report-bindings", 0},
                                                       {"-q", 0},
                                                       {"-quiet", 0},
                                                       {"-v", 0},
                                                       {"-verbose", 0},
                                                       {"-bind-to", 1},
                                                       {"-map-by", 1},
                                                       {"-rank-by", 1},
                                                       {"-ppn", 1},
                                                       {"-perhost", 1},
                                                       {"-npernode", 1},
                                                       {"-N", 1},
                                                       {"-mca", 2},
                                                       {"-iface", 1},
                                                       {"-launcher", 1},
                                                       {"-print-all-exitcodes", 0}};

constexpr std::size_t kRanksMost = 10'000;  // As many as a mesh has members.

/// What stands between two colons. A count of 0 was not said.
using Part = MpiProgram;

struct Command {
  std::vector<Part> parts;
  MpiOptions options;
  std::string mesh;
  std::string hosts_file;
  std::string hosts;  ///< "a,b:2"
  LaunchOptions launch;
  std::vector<std::string> environment;  ///< of all
  std::string folder;
  bool wants_help = false;
  bool wants_version = false;
  [[nodiscard]] bool wants_words() const { return wants_help || wants_version; }
};

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  /// An error says which word is wrong.
  Result<Command> parse() {
    timeout_of_environment();
    while (at_ < words_.size() && error_.empty()) part();
    if (error_.empty() && command_.parts.empty() && !command_.wants_words()) {
      error_ = "mpirun: which program?";
    }
    if (!error_.empty()) return Error{ErrorCode::kBadInput, error_};
    for (std::size_t i = 0; i < command_.parts.size(); ++i) {
      Part& part = command_.parts[i];
      auto& own = part.spec.environment;
      own.insert(own.begin(), command_.environment.begin(), command_.environment.end());
      own = environment_of(own);
      own.push_back("PHOENIX_MPI_APPNUM=" + std::to_string(i));
      if (part.spec.folder.empty()) part.spec.folder = command_.folder;
    }
    return std::move(command_);
  }

 private:
  void part() {
    Part part{.count = 0, .spec = {}};
    const auto is_option = [&] { return at_ < words_.size() && words_[at_].starts_with("-"); };
    while (is_option() && words_[at_] != "--" && error_.empty()) option(part);
    if (is_option() && words_[at_] == "--") ++at_;
    while (at_ < words_.size() && words_[at_] != ":") part.spec.command.push_back(words_[at_++]);
    ++at_;  // the colon
    if (part.spec.command.empty()) {
      if (error_.empty() && !command_.wants_words()) error_ = "mpirun: a program is missing";
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
    if (is({"-V", "-version"})) return void(command_.wants_version = true);
    if (is({"-tcp"})) return void(command_.options.shares_memory = false);
    if (is({"-mesh"})) return where("--mesh", command_.mesh);
    if (is({"-H", "-host", "-hosts"})) return where("--hosts", command_.hosts);
    if (is({"-f", "-hostfile", "-machinefile"})) return where("--hostfile", command_.hosts_file);
    if (is({"-remote-shell"})) return void(command_.launch.remote_shell = value());
    if (is({"-timeout"})) return timeout(value());
    if (is({"-wdir", "-wd"})) return folder(part);
    if (is({"-x"})) {
      auto& list = command_.parts.empty() ? command_.environment : part.spec.environment;
      return void(list.push_back(value()));
    }
    if (is({"-genv", "-env"})) {
      const std::string name = value();
      auto& list = word == "-env" ? part.spec.environment : command_.environment;
      return void(list.push_back(name + "=" + value()));
    }
    if (is({"-genvlist"})) return names(value(), command_.environment);
    if (is({"-envlist"})) return names(value(), part.spec.environment);
    for (const auto& [name, values] : kPassedOver) {
      if (word != name) continue;
      for (int i = 0; i < values; ++i) static_cast<void>(value());
      return;
    }
    error_ = "mpirun: there is no option " + words_[at_ - 1] + "; see phoenix mpirun --help";
  }

  void count(Part& part) {
    const std::string text = value();
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, part.count);
    const bool is_number = error == std::errc{} && at == end;
    if ((!is_number || part.count == 0 || part.count > kRanksMost) && error_.empty()) {
      error_ = "mpirun: " + text + " is no number of processes";
    }
  }

  static void names(const std::string& list, std::vector<std::string>& environment) {
    std::stringstream all(list);
    for (std::string name; std::getline(all, name, ',');) environment.push_back(name);
  }

  /// Where all of the job runs.
  void where(const std::string& option, std::string& said) {
    const std::string before = std::exchange(said, value());
    if (command_.parts.empty() || before == said || !error_.empty()) return;
    const std::string all = option == "--hosts" && !before.empty() ? before + "," + said : said;
    error_ =
        "mpirun: where a job runs is said once, before its first program, and holds for all: " +
        option + " " + all;
  }

  /// As with other launchers nothing, and what is not above 0, is no limit.
  void timeout_of_environment() {
    const char* const text = std::getenv("MPIEXEC_TIMEOUT");
    char* end = nullptr;
    if (text == nullptr || (!(std::strtod(text, &end) > 0) && *end == '\0')) return;
    timeout(text);
  }

  void timeout(const std::string& text) {
    const char* const end = text.data() + text.size();
    double& seconds = command_.options.timeout_s;
    const auto [at, error] = std::from_chars(text.data(), end, seconds);
    const bool is_number = error == std::errc{} && at == end;
    if ((!is_number || !(seconds > 0) || seconds > kSecondsMost) && error_.empty()) {
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

std::string names_of(const std::vector<Part>& parts) {
  std::string name;
  for (const Part& part : parts) {
    name += (name.empty() ? "" : ":") +
            std::filesystem::path(part.spec.command.front()).filename().string();
  }
  return name;
}

/// One process on each of as many processors of a mesh as the parts have.
int run_on_mesh(const Command& command) {
  const std::vector<Part>& parts = command.parts;
  const Part& first = parts.front();
  std::size_t count = 0;
  for (const Part& part : parts) count += part.count;
  RunOptions options;
  options.mesh = command.mesh;
  options.vnodes = count;
  options.processors = static_cast<std::uint32_t>(count);
  options.fits = true;
  options.is_mpi = true;
  options.no_balance = true;
  options.passes_input = true;  // As mpirun does.
  options.no_tags = !command.options.tags_output;
  options.timeout_s = command.options.timeout_s;
  options.name = names_of(parts);
  if (parts.size() == 1) {
    options.environment = first.spec.environment;
    options.directory = first.spec.folder;
    options.command = first.spec.command;
  } else {
    options.command = one_command(parts);
  }
  if (const Status room = has_room(command.mesh, count); !room.ok()) return fail(room.error().what);
  options.environment.push_back(network_setting(command.mesh));
  if (Interrupts::count() > 0) return fail("interrupted before the job was begun", kInterrupted);
  return run_job(options);
}

Result<std::vector<Place>> places_named(const Command& command) {
  std::vector<Place> places;
  if (!command.hosts_file.empty()) {
    auto read = read_hosts(command.hosts_file);
    if (!read.ok()) return read;
    places = std::move(read).value();
  }
  std::stringstream list(command.hosts);
  for (std::string host; std::getline(list, host, ',');) {
    const auto more = slots_of({.host = host, .listen = {}});
    if (!more.ok()) return Error{ErrorCode::kBadInput, "mpirun: " + more.error().what};
    places.insert(places.end(), more.value().begin(), more.value().end());
  }
  for (const Place& place : places) {
    // The remote shell would take it for an option.
    if (place.host.empty() || place.host.starts_with('-')) {
      return Error{ErrorCode::kBadInput, "mpirun: '" + place.host + "' is no name of a machine"};
    }
  }
  return places;
}

/// On a mesh of these machines that goes with the job. More processes than slots take turns.
int run_on_hosts(Command command) {
  auto slots = places_named(command);
  if (!slots.ok()) return fail(slots.error().what, kUsage);
  Part& first = command.parts.front();
  if (first.count == 0) {
    first.count = command.parts.size() == 1 ? slots.value().size() : 1;
  }
  std::size_t count = 0;
  for (Part& part : command.parts) count += part.count = std::max<std::size_t>(part.count, 1);
  std::vector<Place> places;
  for (std::size_t i = 0; i < count; ++i) places.push_back(slots.value()[i % slots.value().size()]);
  remove_abandoned();
  const auto own = PrivateMesh::make(PrivateMesh::Use::kRanks);
  if (!own.ok()) return fail(own.error().what, kUsage);
  command.mesh = own.value().name();
  command.launch.quiet = ::isatty(STDERR_FILENO) == 0;
  command.launch.lifeline = lifeline();
  // On other machines nothing else tells the daemons that this process was killed. No tool comes
  // back to a job that is over.
  command.launch.daemon_options = {"--idle-max", "15"};
  const Interrupts interrupts;  // Until the mesh is gone.
  const auto members = start_mesh(command.mesh, places, command.launch);
  if (!members.ok()) {
    const bool is_interrupted = members.error().code == ErrorCode::kAborted;
    return fail(members.error().what, is_interrupted ? kInterrupted : kFailed);
  }
  const int code = run_on_mesh(command);
  const Status ended = end_mesh(command.mesh);
  return ended.ok() ? code : fail(ended.error().what);
}

/// Where a bare name leads to, as for a shell.
std::filesystem::path program_file(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const folders = std::getenv("PATH");
  std::stringstream all(folders == nullptr ? "" : folders);
  for (std::string folder; std::getline(all, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

/// Processes of another MPI know nothing of each other here, and each would do all of the work.
/// Whether there is one.
bool warn_of_other_mpi(const std::vector<Part>& parts) {
  constexpr std::size_t kMost = std::size_t{4} << 20U;
  std::set<std::filesystem::path> seen;
  bool any = false;
  for (const Part& part : parts) {
    const std::string& name = part.spec.command.front();
    const auto path = std::filesystem::path(part.spec.folder) / program_file(name);
    std::error_code failure;  // A pipe would have to be waited for.
    if (!seen.insert(path).second || !std::filesystem::is_regular_file(path, failure)) continue;
    std::ifstream file(path, std::ios::binary);
    std::string begin(kMost, '\0');
    file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    const std::string other = other_mpi(begin);
    if (other.empty()) continue;
    any = true;
    std::fprintf(stderr,
                 "phoenix: %s is linked with another MPI (%s), so each process is alone: compile "
                 "it with the mpicc beside phoenix, or start it with that MPI's mpirun\n",
                 name.c_str(), other.c_str());
  }
  return any;
}

int mpirun(const std::vector<std::string>& words) {
  auto command = Parser(words).parse();
  if (!command.ok()) return fail(command.error().what, kUsage);
  if (command.value().wants_words()) {
    std::fputs(command.value().wants_help ? kHelp : "mpirun (Phoenix) " PHX_VERSION "\n", stdout);
    return kOk;
  }
  const bool has_hosts = !command.value().hosts.empty() || !command.value().hosts_file.empty();
  const bool is_here = command.value().mesh.empty() && !has_hosts;
  if (!command.value().mesh.empty() && has_hosts) {
    return fail("mpirun: --mesh or --hosts, not both; phoenix add adds machines to a mesh", kUsage);
  }
  command.value().options.is_of_other_mpi = warn_of_other_mpi(command.value().parts);
  if (has_hosts) return run_on_hosts(command.value());
  for (Part& part : command.value().parts) part.count = std::max<std::size_t>(part.count, 1);
  if (!is_here) return run_on_mesh(command.value());
  std::vector<MpiProcess> ranks;
  for (const Part& part : command.value().parts) {
    ranks.insert(ranks.end(), part.count, part.spec);
  }
  return run_ranks(ranks, command.value().options);
}

}  // namespace

void add_mpirun(const options::Parser& tool, Action& chosen) {
  const options::Parser verb = tool.add_subcommand("mpirun", "Run an MPI program");
  verb.no_help();  // it is one of the words that stand before a program
  verb.prefix_command();
  verb.callback([verb, &chosen] { chosen = [verb] { return mpirun(verb.remaining()); }; });
}

}  // namespace phx::app
