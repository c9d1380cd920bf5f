#include <algorithm>

#include "runtime/mpi/collectives/collectives.h"
#include "runtime/mpi/engine/traffic.h"

// From one to all, and from all to all.
namespace phx::mpi {

namespace {

constexpr MPI_Count kSegment = Traffic::kShortMax;

/// A binomial tree: who has it passes it on at half of the distance, and so on.
void add_tree(Schedule& schedule, int root, const Area& area) {
  const int size = schedule.scope().size();
  const int place = (schedule.scope().rank - root + size) % size;
  int distance = 1;
  while (distance < size && (place & distance) == 0) distance *= 2;
  if (place != 0) schedule.fill((place - distance + root) % size, area.buffer());
  schedule.then();
  for (distance /= 2; distance > 0; distance /= 2) {
    if (place + distance < size) {
      schedule.send((place + distance + root) % size, area.buffer());
    }
  }
  schedule.then();
}

/// Everybody tells rank 0, and it tells everybody: twice the longest way.
void add_meeting(Schedule& schedule, const Area& nothing) {
  const bool is_first = schedule.scope().rank == 0;
  for (int rank = 1; rank < schedule.scope().size(); ++rank) {
    if (is_first) schedule.receive(rank, nothing.buffer());
  }
  if (!is_first) schedule.send(0, nothing.buffer());
  schedule.then();
  add_broadcast(schedule, 0, nothing);
}

}  // namespace

bool is_cut(const Schedule& schedule, const Area& area) {
  return !schedule.scope().is_near && area.bytes() > kSegment;
}

void for_segments(const Schedule& schedule, const Area& area,
                  const std::function<void(MPI_Count first, MPI_Count many)>& add) {
  if (!is_cut(schedule, area)) return add(0, area.count);
  const MPI_Count most = std::max<MPI_Count>(kSegment * area.count / area.bytes(), 1);
  for (MPI_Count first = 0; first < area.count; first += most) {
    add(first, std::min(most, area.count - first));
  }
}

/// Everybody tells everybody at a distance of 1, 2, 4, ...
void add_barrier(Schedule& schedule) {
  const int size = schedule.scope().size();
  const int rank = schedule.scope().rank;
  const Area none = Area::of_bytes(schedule.memory(1), 0);
  const Buffer nothing = none.buffer();
  schedule.then();
  if (schedule.scope().is_whole || is_flat(schedule)) return add_meeting(schedule, none);
  for (int distance = 1; distance < size; distance *= 2) {
    schedule.receive((rank - distance + size) % size, nothing);
    schedule.send((rank + distance) % size, nothing);
    schedule.then();
  }
}

void add_broadcast(Schedule& schedule, int root, const Area& area) {
  const int size = schedule.scope().size();
  const int place = (schedule.scope().rank - root + size) % size;
  schedule.then();
  if (schedule.scope().is_whole) {
    place == 0 ? schedule.cast(area.buffer()) : schedule.fill(root, area.buffer());
    return schedule.then();
  }
  if (is_flat(schedule)) {
    for (int other = 1; other < size && place == 0; ++other) {
      schedule.send((root + other) % size, area.buffer());
    }
    if (place != 0) schedule.fill(root, area.buffer());
    return schedule.then();
  }
  if (!is_cut(schedule, area)) return add_tree(schedule, root, area);
  // Ranks may describe the same bytes by other datatypes, so these are cut.
  const auto* const there = static_cast<const std::byte*>(area.buffer().as_is());
  std::byte* const bytes =
      there == nullptr ? schedule.memory(area.bytes()) : const_cast<std::byte*>(there);
  const Area flat = Area::of_bytes(bytes, area.bytes());
  if (there == nullptr && place == 0) schedule.run([area, flat] { copy(area, flat); });
  for_segments(schedule, flat, [&](MPI_Count first, MPI_Count many) {
    add_tree(schedule, root, flat.part(first, many));
  });
  if (there == nullptr && place != 0) schedule.run([area, flat] { copy(flat, area); });
}

void add_scatter(Schedule& schedule, int root, const Areas& all, const Area& own) {
  const int rank = schedule.scope().rank;
  schedule.then();
  if (rank != root) {
    schedule.receive(root, own.buffer());
    return schedule.then();
  }
  for (int other = 0; other < schedule.scope().size(); ++other) {
    if (other != root) schedule.send(other, all(other).buffer());
  }
  schedule.run([from = all(root), own] { copy(from, own); });
}

void add_alltoall(Schedule& schedule, const Areas& from, const Areas& to) {
  const int size = schedule.scope().size();
  const int rank = schedule.scope().rank;
  schedule.then();
  // Each begins behind itself, so that not all send to the same one.
  for (int i = 1; i < size; ++i) {
    const int source = (rank - i + size) % size;
    schedule.receive(source, to(source).buffer());
  }
  for (int i = 1; i < size; ++i) {
    const int target = (rank + i) % size;
    schedule.send(target, from(target).buffer());
  }
  schedule.run([own = from(rank), into = to(rank)] { copy(own, into); });
}

}  // namespace phx::mpi
