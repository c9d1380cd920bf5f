#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/phoenix/bench/bench.h"
#include "apps/phoenix/jobs/child.h"
#include "apps/phoenix/jobs/run.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/mesh/start.h"
#include "runtime/tcp/key.h"

namespace phx::app {
namespace fs = std::filesystem;
namespace {

constexpr const char* kProgram = "phoenix-bench";

void read_said(std::istream& stream, Said& said) {
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string first;
    std::string name;
    double value = 0;
    if (words >> first >> name >> value && first == "figure") said[name].push_back(value);
  }
}

std::string fresh_name() {
  static std::uint32_t count = 0;
  return "bench-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

Error failed(const std::vector<std::string>& arguments) {
  std::string text = kProgram;
  for (const std::string& argument : arguments) text += " " + argument;
  return Error{ErrorCode::kUnavailable, text + " failed; see above"};
}

}  // namespace

double bench_clock_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

Result<BenchMesh> BenchMesh::start(std::uint32_t daemons, std::vector<std::string> daemon_options) {
  BenchMesh mesh(fresh_name());
  LaunchOptions options;
  options.quiet = true;
  options.lifeline = lifeline();
  options.daemon_options = std::move(daemon_options);
  const double begin = bench_clock_s();
  const auto members = start_mesh(mesh.name_, std::vector<Place>(daemons), options);
  mesh.start_seconds_ = bench_clock_s() - begin;
  if (!members.ok()) return members.error();
  return mesh;
}

BenchMesh::BenchMesh(BenchMesh&& other) noexcept
    : name_(std::exchange(other.name_, {})), start_seconds_(other.start_seconds_) {}

BenchMesh::~BenchMesh() {
  if (name_.empty()) return;
  const Status ended = end_mesh(name_);
  if (!ended.ok()) std::fprintf(stderr, "phoenix: %s\n", ended.error().what.c_str());
}

Result<Said> BenchMesh::run(std::uint64_t vnodes, const std::vector<std::string>& arguments,
                            bool balance) const {
  return run_bench_in(name_, vnodes, arguments, balance);
}

Result<Said> run_bench_in(const std::string& mesh, std::uint64_t vnodes,
                          const std::vector<std::string>& arguments, bool balance) {
  const auto dir = MeshDir::open(mesh);
  if (!dir.ok()) return dir.error();
  RunOptions options;
  options.mesh = mesh;
  options.vnodes = vnodes;
  options.no_balance = !balance;
  options.command = {program_path(kProgram)};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  options.output_folder = dir.value().path() / fresh_name();
  const int code = run_job(options);
  Said said;
  std::error_code failure;
  for (const auto& file : fs::directory_iterator(options.output_folder, failure)) {
    std::ifstream stream(file.path());
    if (code != 0)
      std::fprintf(stderr, "%s", (std::ostringstream() << stream.rdbuf()).str().c_str());
    read_said(stream, said);
  }
  fs::remove_all(options.output_folder, failure);
  if (code != 0) return failed(arguments);
  return said;
}

Result<Said> BenchMesh::run_beside(std::uint64_t vnodes,
                                   const std::vector<std::string>& arguments) const {
  std::vector<std::string> words = {"run",
                                    "--mesh",
                                    name_,
                                    "-n",
                                    std::to_string(vnodes),
                                    "--no-tags",
                                    "--",
                                    program_path(kProgram)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto child = Child::start(words);
  if (!child.ok()) return child.error();
  std::stringstream lines;
  const auto keep = [&](const std::string& line) { lines << line << '\n'; };
  pollfd readable{child.value().descriptor(), POLLIN, 0};
  while (child.value().take(keep)) ::poll(&readable, 1, -1);
  if (child.value().exit_code() != 0) {
    std::fprintf(stderr, "%s", lines.str().c_str());
    return failed(arguments);
  }
  Said said;
  read_said(lines, said);
  return said;
}

std::string BenchMesh::file(const std::string& name) const {
  const auto dir = MeshDir::open(name_);
  return dir.ok() ? (dir.value().path() / name).string() : name;
}

Result<double> BenchMesh::add_one() const {
  auto session = connect(name_);
  if (!session.ok()) return session.error();
  LaunchOptions options;
  options.quiet = true;
  options.lifeline = lifeline();
  const auto daemons = session.value().dir.daemons();
  const double begin = bench_clock_s();
  const auto members =
      launch(session.value().dir, std::vector<Place>(1), {daemons.front().endpoint}, options);
  if (!members.ok()) return members.error();
  return begin;
}

void BenchMesh::bind_to_cpus() const {
  const auto dir = MeshDir::open(name_);
  if (!dir.ok()) return;
  const auto cpus = static_cast<std::size_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  std::size_t next = 0;
  for (const auto& daemon : dir.value().daemons()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(next++ % cpus, &set);
    ::sched_setaffinity(static_cast<pid_t>(daemon.process), sizeof(set), &set);
  }
}

std::vector<pid_t> BenchMesh::daemons() const {
  std::vector<pid_t> processes;
  const auto dir = MeshDir::open(name_);
  if (!dir.ok()) return processes;
  for (const auto& daemon : dir.value().daemons()) {
    processes.push_back(static_cast<pid_t>(daemon.process));
  }
  return processes;
}

double BenchMesh::cpu_seconds() const {
  constexpr int kUserTime = 14;  // proc(5): the 14th and 15th field of stat
  double ticks = 0;
  const auto dir = MeshDir::open(name_);
  if (!dir.ok()) return 0;
  for (const auto& daemon : dir.value().daemons()) {
    std::ifstream stream("/proc/" + std::to_string(daemon.process) + "/stat");
    std::string word;
    for (int field = 1; field <= kUserTime + 1 && stream >> word; ++field) {
      if (field >= kUserTime) ticks += std::strtod(word.c_str(), nullptr);
    }
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double BenchMesh::resident_bytes() const {
  double most = 0;
  const auto dir = MeshDir::open(name_);
  if (!dir.ok()) return 0;
  for (const auto& daemon : dir.value().daemons()) {
    std::ifstream stream("/proc/" + std::to_string(daemon.process) + "/statm");
    double size = 0;
    double resident = 0;
    if (stream >> size >> resident) most = std::max(most, resident);
  }
  return most * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

Result<Said> run_embedded(const std::vector<std::string>& arguments) {
  const auto dir = MeshDir::make(fresh_name());
  if (!dir.ok()) return dir.error();
  const Status key = dir.value().make_key();
  if (!key.ok()) return key.error();
  std::string command =
      "PHOENIX_KEY_FILE='" + dir.value().key_file() + "' '" + program_path(kProgram) + "'";
  for (const std::string& argument : arguments) command += " " + argument;
  std::FILE* output = ::popen(command.c_str(), "r");
  if (output == nullptr) return failed(arguments);
  std::string text;
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) {
    text += static_cast<char>(c);
  }
  const int code = ::pclose(output);
  dir.value().remove();
  if (code != 0) return failed(arguments);
  Said said;
  std::istringstream stream(text);
  read_said(stream, said);
  return said;
}

}  // namespace phx::app
