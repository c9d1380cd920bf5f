#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/mpi/base/info.h"
#include "runtime/mpi/base/job_facts.h"
#include "runtime/mpi/calls/requests.h"
#include "runtime/mpi/collectives/collectives.h"

using namespace phx::mpi;

namespace {

struct Threads {
  int level = MPI_THREAD_SINGLE;
  std::thread::id first;
};
Threads& threads() {
  static Threads facts;
  return facts;
}

void abort_world(MPI_Comm /*comm*/, int code, const char* text) {
  Process::abort(code, text);
}

void make_communicator(MPI_Comm handle, const char* name, Communicator* comm) {
  comm->set_name(name);
  communicators().predefine(handle, comm);
}

std::vector<int> first(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = i;
  return all;
}

/// Everybody tells everybody at a distance of 1, 2, 4, ...
void meet_all() {
  Communicator& world = comm_of(MPI_COMM_WORLD);
  const Ref<Schedule> schedule(new Schedule(world.collective(), world.next_tag()));
  const Buffer nothing(schedule->memory(1), 0, MPI_BYTE);
  for (int distance = 1; distance < world.size(); distance *= 2) {
    schedule->receive((world.rank() - distance + world.size()) % world.size(), nothing);
    schedule->send((world.rank() + distance) % world.size(), nothing);
    schedule->then();
  }
  begin_schedule(schedule);
  wait_for(*schedule);
}

/// The same, and all know where all are.
void meet_and_locate() {
  Communicator& world = comm_of(MPI_COMM_WORLD);
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(world.size()));
  ids[static_cast<std::size_t>(world.rank())] = Process::current().processor().value;
  const Ref<Schedule> schedule(new Schedule(world.collective(), world.next_tag()));
  add_allgather_equal(*schedule, Area::of_bytes(reinterpret_cast<std::byte*>(ids.data()), 4));
  begin_schedule(schedule);
  wait_for(*schedule);
  std::vector<phx::ProcessorId> processors;
  for (const std::uint32_t id : ids) processors.push_back(phx::ProcessorId{id});
  JobNetwork::of_process().locate(std::move(processors));
}

/// What MPI_INFO_ENV says of how this process was started.
void describe_start(int processes) {
  Info& info = info_of(MPI_INFO_ENV);
  std::ifstream words("/proc/self/cmdline");
  std::string word;
  std::string rest;
  if (std::getline(words, word, '\0')) info.set("command", word);
  while (std::getline(words, word, '\0')) rest += (rest.empty() ? "" : " ") + word;
  info.set("argv", rest);
  info.set("maxprocs", std::to_string(processes));
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  ::gethostname(host.data(), host.size() - 1);
  info.set("host", host.data());
  std::error_code error;
  info.set("wdir", std::filesystem::current_path(error).string());
}

void begin(int level) {
  const Entering entering({"MPI_Init", MPI_COMM_WORLD});
  if (life() != Life::kBefore) throw Failure(MPI_ERR_OTHER, "MPI_Init is called a second time");
  set_abort(abort_world);
  try {
    Process::begin();
  } catch (const phx::Failure& failure) {
    Process::abort(1, std::string("MPI_Init: ") + failure.what());
  }
  const Process& process = Process::current();
  own_process() = process.rank();
  threads() = {level, std::this_thread::get_id()};
  const Ref<Group> all(new Group(first(process.size())));
  const Ref<Group> self(new Group({process.rank()}));
  make_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD", new Communicator(kWorldContext, all));
  make_communicator(MPI_COMM_SELF, "MPI_COMM_SELF", new Communicator(fresh_context(), self));
  job_facts().universe_size = process.size();
  job_facts().appnum = launched().program;
  describe_start(process.size());
  life() = Life::kRunning;
  process.may_cast_to(*all) ? meet_and_locate() : meet_all();
}

}  // namespace

PHX_MPI_ENTRY(int, Init, (int* /*count*/, char*** /*words*/)) {
  try {
    begin(MPI_THREAD_SINGLE);
    return MPI_SUCCESS;
  } catch (...) {
    return raise_current(MPI_COMM_WORLD, "MPI_Init");
  }
}

PHX_MPI_ENTRY(int, Init_thread, (int* /*count*/, char*** /*words*/, int required, int* provided)) {
  try {
    begin(required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE
                                                                         : required);
    *provided = threads().level;
    return MPI_SUCCESS;
  } catch (...) {
    return raise_current(MPI_COMM_WORLD, "MPI_Init_thread");
  }
}

PHX_MPI_ENTRY(int, Finalize, (void)) {
  return enter("MPI_Finalize", [&] {
    comm_of(MPI_COMM_SELF).attributes.clear(MPI_COMM_SELF);
    comm_of(MPI_COMM_WORLD).attributes.clear(MPI_COMM_WORLD);
    Process::current().flush();
    meet_all();
    Process::current().flush();  // Who waits for the last word here would wait for ever.
    Process::end();
    life() = Life::kFinalized;
  });
}

PHX_MPI_ENTRY(int, Initialized, (int* flag)) {
  *flag = life() == Life::kBefore ? 0 : 1;
  return MPI_SUCCESS;
}

PHX_MPI_ENTRY(int, Finalized, (int* flag)) {
  *flag = life() == Life::kFinalized ? 1 : 0;
  return MPI_SUCCESS;
}

PHX_MPI_ENTRY(int, Query_thread, (int* provided)) {
  return enter("MPI_Query_thread", [&] {
    need({provided});
    *provided = threads().level;
  });
}

PHX_MPI_ENTRY(int, Is_thread_main, (int* flag)) {
  return enter("MPI_Is_thread_main", [&] {
    need({flag});
    *flag = threads().first == std::this_thread::get_id() ? 1 : 0;
  });
}

PHX_MPI_ENTRY(int, Abort, (MPI_Comm comm, int code)) {
  abort_job(comm, code, "MPI_Abort was called with code " + std::to_string(code));
}
