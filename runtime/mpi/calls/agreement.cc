#include "runtime/mpi/calls/agreement.h"

namespace phx::mpi {
namespace {

Area area_of(std::span<const std::byte> bytes) {
  return Area::of_bytes(const_cast<std::byte*>(bytes.data()), static_cast<MPI_Count>(bytes.size()));
}

}  // namespace

void run_now(const Ref<Schedule>& schedule) {
  begin_schedule(schedule);
  wait_for(*schedule);
}

bool is_first_side(const Communicator& comm) {
  return comm.group()->process(0) < comm.remote()->process(0);
}

void gather_bytes(Communicator& comm, int tag, std::span<const std::byte> mine,
                  std::span<std::byte> all) {
  const Ref<Schedule> schedule = schedule_in(comm.collective(), tag);
  const Area first = Area::of_bytes(all.data(), static_cast<MPI_Count>(mine.size()));
  copy(area_of(mine), first.part(comm.rank() * first.count, first.count));
  add_allgather_equal(*schedule, first);
  run_now(schedule);
}

void swap_bytes(Communicator& comm, std::span<const std::byte> mine, std::span<std::byte> others) {
  const Ref<Schedule> schedule = schedule_in(comm.collective(), comm.next_tag());
  if (comm.rank() == 0) {
    schedule->receive(0, area_of(others).buffer());
    schedule->send(0, area_of(mine).buffer());
  }
  run_now(schedule);
}

void spread_bytes(Communicator& comm, int tag, std::span<std::byte> bytes) {
  const Ref<Schedule> schedule = schedule_in(comm.collective(), tag);
  add_broadcast(*schedule, 0, area_of(bytes));
  run_now(schedule);
}

Ref<Communicator> make_comm(const Communicator& like, const Ref<Communicator>& made,
                            MPI_Comm* out) {
  made->set_errhandler(like.errhandler());
  if (made->is_inter()) made->local->set_errhandler(like.errhandler());
  *out = communicators().open(made.get());
  return made;
}

}  // namespace phx::mpi
