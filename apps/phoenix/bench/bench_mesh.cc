#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "apps/phoenix/bench/bench.h"
#include "apps/phoenix/bench/bench_job.h"
#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/mesh/start.h"

namespace phx::app {
namespace {

constexpr std::chrono::milliseconds kLook{50};

/// The CPUs that this process may use.
std::vector<std::size_t> usable_cpus() {
  std::vector<std::size_t> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace

std::string fresh_bench_name() {
  static std::uint32_t count = 0;
  return "bench-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

bool bench_is_interrupted() {
  return Interrupts::count() > 0;
}

Error bench_interrupted() {
  return Error{ErrorCode::kAborted, "interrupted"};
}

Status bench_pause(std::chrono::duration<double> time) {
  const double end = bench_clock_s() + time.count();
  while (!bench_is_interrupted()) {
    const std::chrono::duration<double> left(end - bench_clock_s());
    if (left.count() <= 0) return success();
    std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(left, kLook));
  }
  return bench_interrupted();
}

int fail_bench(const Error& error) {
  if (error.code != ErrorCode::kAborted) return fail(error);
  return fail(error.what, kInterrupted);
}

double bench_clock_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

Result<BenchMesh> BenchMesh::start(std::uint32_t daemons, std::vector<std::string> daemon_options) {
  if (bench_is_interrupted()) return bench_interrupted();
  BenchMesh mesh(fresh_bench_name());
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
  // What could not be started is taken down already.
  const bool is_none = !ended.ok() && ended.error().code == ErrorCode::kNotFound;
  if (!ended.ok() && !is_none) std::fprintf(stderr, "phoenix: %s\n", ended.error().what.c_str());
}

Result<Said> BenchMesh::run(std::uint64_t vnodes, const std::vector<std::string>& arguments,
                            bool balance) const {
  return run_bench_in(name_, vnodes, arguments, balance);
}

Result<Said> run_bench_in(const std::string& mesh, std::uint64_t vnodes,
                          const std::vector<std::string>& arguments, bool balance,
                          const OnFigure& on_figure) {
  auto job = BenchJob::start_in(mesh, vnodes, arguments, {.balance = balance});
  if (!job.ok()) return job.error();
  return job.value().wait(on_figure);
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
  const std::vector<std::size_t> cpus = usable_cpus();
  bool is_bound = !cpus.empty();
  std::size_t next = 0;
  for (const auto& daemon : dir.value().daemons()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (!cpus.empty()) CPU_SET(cpus[next++ % cpus.size()], &set);
    const auto process = static_cast<pid_t>(daemon.process);
    is_bound = is_bound && ::sched_setaffinity(process, sizeof(set), &set) == 0;
  }
  if (is_bound) return;
  std::fprintf(stderr, "phoenix: the daemons cannot be bound to CPUs, so figures vary more: %s\n",
               std::strerror(errno));
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

}  // namespace phx::app
