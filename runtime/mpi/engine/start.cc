#include "runtime/mpi/engine/start.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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
  throw phx::Failure(ErrorCode::kAborted, "the job was over before MPI_Init");
}

/// Founds the mesh, and gives all vnodes but its own up, so that the others can take theirs.
std::unique_ptr<SessionCore> found(const Launched& as) {
  phx::Options options;
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

std::unique_ptr<SessionCore> join(const Launched& as) {
  phx::Options options;
  options.join = hear_launcher();
  if (options.join.empty()) {
    throw phx::Failure(ErrorCode::kUnavailable, "the process of rank 0 has ended, or the launcher");
  }
  auto core = std::make_unique<SessionCore>(options);
  core->engine.call([&](runtime::Endpoint& endpoint) { endpoint.assume(one(as.rank)); });
  settle(*core);
  return core;
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

bool tell_launcher(const std::string& line) {
  if (launched().control < 0) return false;
  const std::string text = line + "\n";
  return ::send(launched().control, text.data(), text.size(), MSG_NOSIGNAL) > 0;
}

bool note_to_launcher(std::string line) {
  if (launched().control < 0) return false;
  std::ranges::replace(line, '\n', ' ');  // names are the program's
  line += '\n';
  return ::send(launched().control, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
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
  return started;
}

}  // namespace phx::mpi
