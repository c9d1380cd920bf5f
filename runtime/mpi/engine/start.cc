#include "runtime/mpi/engine/start.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <thread>
#include <utility>

namespace phx::mpi {
namespace {

int number_of(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

VnodeSet one(int rank) {
  VnodeSet set;
  set.insert(VnodeId{static_cast<std::uint64_t>(rank)});
  return set;
}

/// Until this process holds vnodes.
void settle(SessionCore& core) {
  if (core.steps.pass_alone()) return;
  throw phx::Failure(ErrorCode::kAborted,
                     "the job was over before MPI_Init: there are more processes than ranks; start "
                     "it by `phoenix mpirun`, or by `phoenix run --fit`");
}

/// Of a job on this machine. Its ranks are given, and the system tells of each that ends: silence
/// is no death, but a process that is stopped, or halted in a debugger.
phx::Options inside() {
  constexpr Duration kNever = std::chrono::hours(24 * 365);
  phx::Options options;
  options.peer_timeout = kNever;
  options.shares_memory = launched().near >= 0;
  return options;
}

/// Founds the mesh, and gives all vnodes but its own up, so that the others can take theirs.
std::unique_ptr<SessionCore> found(const Launched& as) {
  phx::Options options = inside();
  options.vnodes = static_cast<std::uint64_t>(as.size);
  options.balance = false;
  options.listen = "127.0.0.1:0";
  auto core = std::make_unique<SessionCore>(options);
  settle(*core);
  core->engine.call(
      [&](runtime::Endpoint& endpoint) { endpoint.release(endpoint.held().minus(one(as.rank))); });
  settle(*core);
  tell_launcher("at " + core->engine.endpoints().front());
  return core;
}

/// On a busy machine rank 0 may take long to let all others in. Who waits in vain is ended by the
/// launcher, when rank 0 has ended.
std::unique_ptr<SessionCore> be_let_in(const phx::Options& options) {
  using Clock = std::chrono::steady_clock;
  constexpr Duration kPatience = std::chrono::seconds(60);
  const auto until = Clock::now() + kPatience;
  while (true) {
    try {
      return std::make_unique<SessionCore>(options);
    } catch (const phx::Failure& failure) {
      using enum ErrorCode;
      const ErrorCode code = failure.code();
      const bool is_slow = code == kTimeout || code == kUnavailable || code == kBusy;
      if (!is_slow || Clock::now() >= until) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

std::unique_ptr<SessionCore> join(const Launched& as) {
  phx::Options options = inside();
  options.join = hear_launcher();
  if (options.join.empty()) {
    throw phx::Failure(ErrorCode::kUnavailable, "the process of rank 0 has ended, or the launcher");
  }
  auto core = be_let_in(options);
  core->engine.call([&](runtime::Endpoint& endpoint) { endpoint.assume(one(as.rank)); });
  settle(*core);
  return core;
}

/// Another MPI's launcher has started several processes, of which each would be alone: the one with
/// rank 1, which there is then, says so for all.
void warn_of_other_launcher() {
  struct Other {
    const char* rank;
    const char* name;
  };
  constexpr Other kOthers[] = {
      {"OMPI_COMM_WORLD_RANK", "the mpirun of Open MPI"},
      {"PMI_RANK", "the mpiexec of MPICH, or another launcher that speaks PMI,"},
      {"PMIX_RANK", "a launcher that speaks PMIx"}};
  const auto* const other =
      std::ranges::find_if(kOthers, [](const Other& one) { return number_of(one.rank, 0) == 1; });
  if (other == std::end(kOthers)) return;
  std::fprintf(
      stderr,
      "phoenix: %s has started this program, which is linked with Phoenix: each process is "
      "alone, a rank 0 of 1; start it by `phoenix mpirun`\n",
      other->name);
}

}  // namespace

const Launched& launched() {
  static const Launched as = [] {
    Launched read;
    read.rank = number_of("PHOENIX_MPI_RANK", 0);
    read.size = number_of("PHOENIX_MPI_SIZE", 0);
    read.control = number_of("PHOENIX_MPI_CONTROL", -1);
    read.program = number_of("PHOENIX_MPI_APPNUM", 0);
    read.near = number_of("PHOENIX_MPI_NEAR", -1);
    for (const int descriptor : {read.control, read.near}) {
      if (descriptor >= 0) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    }
    return read;
  }();
  return as;
}

namespace {

/// One line: names and texts are the program's.
bool send_line(std::string line, int how) {
  if (launched().control < 0) return false;
  std::ranges::replace(line, '\n', ' ');
  line += '\n';
  return ::send(launched().control, line.data(), line.size(), MSG_NOSIGNAL | how) > 0;
}

}  // namespace

bool tell_launcher(const std::string& line) {
  return send_line(line, 0);
}

bool note_to_launcher(const std::string& line) {
  return send_line(line, MSG_DONTWAIT);
}

std::string hear_launcher() {
  std::string line;
  char byte = 0;
  while (::recv(launched().control, &byte, 1, 0) == 1) {
    if (byte == '\n') return line;
    line += byte;
  }
  return "";
}

Started start() {
  const Launched& as = launched();
  tell_launcher("begins");
  if (as.size > 0) return {as.rank == 0 ? found(as) : join(as), as.rank, as.size, false};
  Started started{std::make_unique<SessionCore>(phx::Options{}), 0, 0, true};
  settle(*started.core);
  const auto held = started.core->held();
  started.size = static_cast<int>(started.core->vnodes());
  started.rank = static_cast<int>(held.front());
  if (held.size() != 1) {
    throw phx::Failure(ErrorCode::kBadInput, "a rank is one process, and this one would be " +
                                                 std::to_string(held.size()) +
                                                 ": the mesh has too few processors");
  }
  if (started.size == 1 && started.core->engine.has_daemon_inside()) warn_of_other_launcher();
  return started;
}

}  // namespace phx::mpi
