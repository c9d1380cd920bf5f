#include <algorithm>

#include "runtime/mpi/collectives/collectives.h"

// From all to one, and to all.
namespace phx::mpi {
namespace {

/// Up to here rounds cost more than bytes that are copied.
constexpr MPI_Count kShort = MPI_Count{32} << 10;

/// Blocks double with every round [Bruck et al. 1997]: of `size` blocks in `all`, beginning with
/// that of this rank, the first is there.
void add_doubling(Schedule& schedule, std::byte* all, MPI_Count bytes) {
  const int size = schedule.scope().size();
  const int rank = schedule.scope().rank;
  for (int have = 1; have < size; have *= 2) {
    const int more = std::min(have, size - have);
    schedule.receive((rank + have) % size,
                     Area::of_bytes(all + have * bytes, more * bytes).buffer());
    schedule.send((rank - have + size) % size, Area::of_bytes(all, more * bytes).buffer());
    schedule.then();
  }
}

}  // namespace

Areas equal_parts(const Area& first) {
  return [first](int rank) { return first.part(rank * first.count, first.count); };
}

void add_gather(Schedule& schedule, int root, const Area& own, const Areas& all) {
  const int rank = schedule.scope().rank;
  schedule.then();
  if (rank != root) {
    schedule.send(root, own.buffer());
    return schedule.then();
  }
  for (int other = 0; other < schedule.scope().size(); ++other) {
    if (other != root) schedule.receive(other, all(other).buffer());
  }
  add_copy(schedule, own, all(root));
}

/// Around a ring: each passes on what came last.
void add_allgather(Schedule& schedule, const Areas& all) {
  const int size = schedule.scope().size();
  const int rank = schedule.scope().rank;
  schedule.then();
  for (int i = 0; i + 1 < size; ++i) {
    schedule.receive((rank - 1 + size) % size, all((rank - i - 1 + size) % size).buffer());
    schedule.send((rank + 1) % size, all((rank - i + size) % size).buffer());
    schedule.then();
  }
}

namespace {

/// All tell rank 0, and it tells all. `all` has room for what they have.
void add_by_way_of_one(Schedule& schedule, std::byte* all, const Areas& places) {
  const int size = schedule.scope().size();
  const MPI_Count bytes = places(0).bytes();
  const Areas parts = [=](int rank) { return Area::of_bytes(all + rank * bytes, bytes); };
  add_gather(schedule, 0, places(schedule.scope().rank), parts);
  add_broadcast(schedule, 0, Area::of_bytes(all, size * bytes));
  schedule.run([=] {
    for (int rank = 0; rank < size; ++rank) copy(parts(rank), places(rank));
  });
}

}  // namespace

void add_allgather_equal(Schedule& schedule, const Area& first) {
  const int size = schedule.scope().size();
  const int rank = schedule.scope().rank;
  const MPI_Count bytes = first.bytes();
  if (size == 1) return;
  if (bytes * size > kShort) return add_allgather(schedule, equal_parts(first));
  std::byte* const all = schedule.memory(bytes * size);
  const Areas places = equal_parts(first);
  if (is_central(schedule)) return add_by_way_of_one(schedule, all, places);
  schedule.run([=] { copy(places(rank), Area::of_bytes(all, bytes)); });
  add_doubling(schedule, all, bytes);
  schedule.run([=] {
    for (int i = 1; i < size; ++i) {
      copy(Area::of_bytes(all + i * bytes, bytes), places((rank + i) % size));
    }
  });
}

}  // namespace phx::mpi
