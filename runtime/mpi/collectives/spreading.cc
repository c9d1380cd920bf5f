#include <algorithm>
#include <cstring>

#include "runtime/mpi/collectives/collectives.h"
#include "runtime/mpi/engine/traffic.h"

// From one to all, and from all to all.
namespace phx::mpi {

namespace {

constexpr MPI_Count kSegment = Traffic::kShortMax;
/// Along trees of the network, which may be deep and their ways narrow, of a shorter message.
constexpr MPI_Count kSegmentLeast = MPI_Count{16} << 10;
constexpr MPI_Count kSegmentsUsual = 16;

MPI_Count segment_bytes(const Schedule& schedule, const Area& area) {
  if (!schedule.scope().trees) return kSegment;
  return std::clamp(area.bytes() / kSegmentsUsual, kSegmentLeast, kSegment);
}

void add_known_tree(Schedule& schedule, const GroupTrees::Place& place, const Area& area) {
  if (place.parent) schedule.fill(*place.parent, area.buffer());
  schedule.then();
  for (const int child : place.children) schedule.send(child, area.buffer());
  schedule.then();
}

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
  return !schedule.scope().is_near && area.bytes() > segment_bytes(schedule, area);
}

void for_segments(const Schedule& schedule, const Area& area,
                  const std::function<void(const Segment&)>& add) {
  const MPI_Count bytes = area.bytes();
  const bool cuts = is_cut(schedule, area);
  const MPI_Count most =
      cuts ? std::max<MPI_Count>(segment_bytes(schedule, area) * area.count / bytes, 1)
           : area.count;
  Segment next{0, std::min(most, area.count), 0, static_cast<std::uint64_t>(bytes)};
  do {
    next.many = std::min(most, area.count - next.first);
    add(next);
    next.first += next.many;
    ++next.number;
  } while (next.first < area.count);
}

GroupTrees::Place place_in_tree(const Schedule& schedule, int root, const Segment& segment) {
  const Scope& scope = schedule.scope();
  return scope.trees->place({root, segment.bytes_of_all}, segment.number, scope.rank);
}

/// Everybody tells everybody at a distance of 1, 2, 4, ...
void add_barrier(Schedule& schedule) {
  const int size = schedule.scope().size();
  const int rank = schedule.scope().rank;
  schedule.then();
  if (size == 1) return;
  const Area none = Area::of_bytes(nullptr, 0);
  const Buffer nothing = none.buffer();
  if (schedule.scope().is_whole || is_central(schedule)) return add_meeting(schedule, none);
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
  if (size == 1) return;
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
  const auto add = [&](const Area& part, const Segment& segment) {
    if (!schedule.scope().trees) return add_tree(schedule, root, part);
    add_known_tree(schedule, place_in_tree(schedule, root, segment), part);
  };
  if (!is_cut(schedule, area)) return for_segments(schedule, area, std::bind_front(add, area));
  // Ranks may describe the same bytes by other datatypes, so these are cut.
  const auto* const there = static_cast<const std::byte*>(area.buffer().as_is());
  std::byte* const bytes =
      there == nullptr ? schedule.memory(area.bytes()) : const_cast<std::byte*>(there);
  const Area flat = Area::of_bytes(bytes, area.bytes());
  if (there == nullptr && place == 0) add_copy(schedule, area, flat);
  for_segments(schedule, flat, [&](const Segment& segment) {
    add(flat.part(segment.first, segment.many), segment);
  });
  if (there == nullptr && place != 0) add_copy(schedule, flat, area);
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
  add_copy(schedule, all(root), own);
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
  add_copy(schedule, from(rank), to(rank));
}

namespace {

/// Where ranks share cores a row of more bytes goes faster without a third process.
constexpr MPI_Count kRow = 8192;

/// A table of parts of equal length, row by row.
struct Table {
  std::byte* bytes;
  MPI_Count part;  ///< bytes
  int width;       ///< parts of a row
  [[nodiscard]] std::byte* at(int row, int column) const {
    return bytes + (row * width + column) * part;
  }
  [[nodiscard]] Area row(int i) const { return Area::of_bytes(at(i, 0), width * part); }
};

/// Rank 0 gets what each has for all, and gives each what all have for it.
void add_exchange(Schedule& schedule, const Table& given, const Table& taken) {
  const int size = given.width;
  for (int other = 1; other < size; ++other) {
    schedule.receive(other, given.row(other).buffer());
  }
  schedule.run([=] {
    const auto bytes = static_cast<std::size_t>(given.part);
    for (int from = 0; from < size; ++from) {
      for (int to = 0; to < size; ++to) std::memcpy(taken.at(to, from), given.at(from, to), bytes);
    }
  });
  for (int other = 1; other < size; ++other) {
    schedule.send(other, taken.row(other).buffer());
  }
}

}  // namespace

bool goes_by_row(const Schedule& schedule, const Area& first) {
  const int size = schedule.scope().size();
  return is_flat(schedule) && size > 2 && first.bytes() * size <= kRow;
}

void add_alltoall_by_row(Schedule& schedule, const Area& from, const Area& to) {
  const int size = schedule.scope().size();
  const Area all_from = from.part(0, size * from.count);
  const Area all_to = to.part(0, size * to.count);
  schedule.then();
  if (schedule.scope().rank != 0) {
    // Rank 0 answers when it has all of it: so they may be the same.
    schedule.send(0, all_from.buffer());
    schedule.receive(0, all_to.buffer());
    return schedule.then();
  }
  const MPI_Count part = to.bytes();
  std::byte* const memory = schedule.memory(2 * size * size * part);
  const Table given{memory, part, size};
  const Table taken{given.at(size, 0), part, size};
  add_copy(schedule, all_from, given.row(0));
  add_exchange(schedule, given, taken);
  add_copy(schedule, taken.row(0), all_to);
}

}  // namespace phx::mpi
