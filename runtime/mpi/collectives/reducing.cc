#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "collectives/messages.h"
#include "runtime/mpi/collectives/collectives.h"
#include "runtime/mpi/datatypes/basics.h"

// Combinations. The order of the ranks is kept, for operations that do not commute.
namespace phx::mpi {
namespace {

/// Of longer parts than this per rank everybody combines one, instead of all of them by some.
constexpr MPI_Count kLongPart = 4096;
/// Up to here one rank combines those of all, if all share the cores of a machine.
constexpr MPI_Count kFlat = 8192;

/// What a rank has combined so far, and room for what comes. They change places.
struct Combined {
  Area now;
  Area next;
};

/// Of two areas that follow each other in rank order the combination becomes `pair.now`.
void add_combination(Schedule& schedule, const Ref<Op>& op, Combined& pair, bool comes_first) {
  if (comes_first) {
    schedule.run([op, from = pair.next, to = pair.now] { combine(*op, from, to); });
  } else {
    schedule.run([op, from = pair.now, to = pair.next] { combine(*op, from, to); });
    std::swap(pair.now, pair.next);
  }
}

Combined begin(Schedule& schedule, const Combining& what) {
  Combined pair{what.own.like(schedule), what.own.like(schedule)};
  schedule.run([from = what.own, to = pair.now] { copy(from, to); });
  return pair;
}

/// A binomial tree towards `root`; `pair.now` has the combination there. The ranks behind the root
/// come first unless it is rank 0.
void add_tree(Schedule& schedule, int root, const Ref<Op>& op, Combined& pair) {
  const int size = schedule.scope().size();
  const int place = (schedule.scope().rank - root + size) % size;
  for (int distance = 1; distance < size; distance *= 2) {
    if ((place & distance) != 0) {
      schedule.send((place - distance + root) % size, pair.now.buffer());
      return schedule.then();
    }
    if (place + distance >= size) continue;
    schedule.receive((place + distance + root) % size, pair.next.buffer());
    add_combination(schedule, op, pair, /*comes_first=*/false);
  }
}

// --- By parts ----------------------------------------------------------------------------------

/// Elements `begins[r]` to `begins[r + 1]` are those of rank r.
using Begins = std::vector<MPI_Count>;

Begins equal_begins(MPI_Count count, int size) {
  Begins begins;
  for (int rank = 0; rank <= size; ++rank) begins.push_back(count * rank / size);
  return begins;
}

Area part_of(const Area& area, const Begins& begins, int rank) {
  const auto i = static_cast<std::size_t>(rank);
  return area.part(begins[i], begins[i + 1] - begins[i]);
}

/// Of this many bytes the combination stays in the nearest cache while all are added to it.
constexpr MPI_Count kBlock = MPI_Count{16} << 10;

/// What all have contributed, one after the other: of this rank it is `own`, of others in `came`.
/// The combination lies in `came`, at the last rank that is not this one, or is copied there.
void combine_all(const Op& op, const std::vector<Area>& came, const Area& into) {
  const MPI_Count many =
      std::max<MPI_Count>(into.count * kBlock / std::max<MPI_Count>(into.bytes(), 1), 1);
  for (MPI_Count first = 0; first < into.count; first += many) {
    const auto block = [&](const Area& of) {
      return of.part(first, std::min(many, into.count - first));
    };
    const Area to = block(into);
    copy(block(came.back()), to);
    for (std::size_t i = came.size() - 1; i > 0; --i) combine(op, block(came[i - 1]), to);
  }
}

/// Room for what each rank sends of a part, but for this one; and, the last one, for the
/// combination.
using Rooms = std::vector<Area>;

Rooms rooms_for(Schedule& schedule, const Area& part) {
  const int size = schedule.scope().size();
  Rooms rooms;
  for (int other = 0; other < size; ++other) {
    const bool is_needed = other != schedule.scope().rank || other + 1 == size;
    rooms.push_back(is_needed ? part.like(schedule) : part);
  }
  return rooms;
}

/// Each sends each the part that it has to combine. Returns that of this rank.
Area add_parts(Schedule& schedule, const Combining& what, const Begins& begins,
               const Rooms& rooms) {
  const int size = schedule.scope().size();
  const int rank = schedule.scope().rank;
  const Area own = part_of(what.own, begins, rank);
  const auto room = [&](std::size_t other) { return rooms[other].part(0, own.count); };
  const Area into = room(rooms.size() - 1);  // That of the last rank needs no copy.
  std::vector<Area> came;
  for (int other = 0; other < size; ++other) {
    came.push_back(other == rank ? own : room(static_cast<std::size_t>(other)));
  }
  schedule.then();
  for (int i = 1; i < size; ++i) {
    const int from = (rank - i + size) % size;
    const int to = (rank + i) % size;
    if (own.count > 0) schedule.receive(from, came[static_cast<std::size_t>(from)].buffer());
    const Area theirs = part_of(what.own, begins, to);
    if (theirs.count > 0) schedule.send(to, theirs.buffer());
  }
  schedule.run([op = what.op, came, into] { combine_all(*op, came, into); });
  return into;
}

bool is_long(const Schedule& schedule, const Combining& what) {
  const int size = schedule.scope().size();
  if (!schedule.scope().is_near) return false;  // long ways would begin slowly, and all at once
  return what.own.count >= size && what.own.bytes() >= size * kLongPart;
}

/// A longer one is combined pass by pass, in the same memory.
constexpr MPI_Count kPass = MPI_Count{8} << 20;

/// Calls pass(first, many, rooms).
template <class Pass>
void in_passes(Schedule& schedule, const Area& own, Pass pass) {
  const int size = schedule.scope().size();
  const MPI_Count bytes = std::max<MPI_Count>(own.datatype->layout().size(), 1);
  const MPI_Count at_most = std::max<MPI_Count>(kPass / bytes, size);  // each has something to do
  const MPI_Count passes = (own.count + at_most - 1) / at_most;
  const MPI_Count most = (own.count + passes - 1) / passes;
  const Rooms rooms = rooms_for(schedule, own.part(0, (most + size - 1) / size));
  for (MPI_Count first = 0; first < own.count; first += most) {
    pass(first, std::min(most, own.count - first), rooms);
  }
}

/// Everybody combines a part, and sends it to the root.
void add_long_reduce(Schedule& schedule, int root, const Combining& what, const Area& result,
                     const Rooms& rooms) {
  const int size = schedule.scope().size();
  const int rank = schedule.scope().rank;
  const Begins begins = equal_begins(what.own.count, size);
  const Area part = add_parts(schedule, what, begins, rooms);
  if (rank != root) {
    schedule.send(root, part.buffer());
    return schedule.then();
  }
  for (int other = 0; other < size; ++other) {
    if (other != rank) schedule.receive(other, part_of(result, begins, other).buffer());
  }
  schedule.run([part, to = part_of(result, begins, rank)] { copy(part, to); });
}

void add_long_allreduce(Schedule& schedule, const Combining& what, const Area& result,
                        const Rooms& rooms) {
  const int size = schedule.scope().size();
  const int rank = schedule.scope().rank;
  const Begins begins = equal_begins(what.own.count, size);
  const Area part = add_parts(schedule, what, begins, rooms);
  for (int i = 1; i < size; ++i) {
    const int from = (rank - i + size) % size;
    schedule.receive(from, part_of(result, begins, from).buffer());
    schedule.send((rank + i) % size, part.buffer());
  }
  schedule.run([part, to = part_of(result, begins, rank)] { copy(part, to); });
}

/// All send to the root, which combines.
void add_flat_reduce(Schedule& schedule, int root, const Combining& what, const Area& result) {
  const int size = schedule.scope().size();
  schedule.then();
  if (schedule.scope().rank != root) {
    schedule.send(root, what.own.buffer());
    return schedule.then();
  }
  const Area into = what.own.like(schedule);
  std::vector<Area> came;
  for (int other = 0; other < size; ++other) {
    const bool is_last = other + 1 == size;
    came.push_back(other == root ? what.own : is_last ? into : what.own.like(schedule));
    if (other != root) schedule.receive(other, came.back().buffer());
  }
  schedule.run([op = what.op, came, into, result] {
    combine_all(*op, came, into);
    copy(into, result);
  });
}

bool is_flat(const Schedule& schedule, const Combining& what) {
  return is_flat(schedule) && what.own.bytes() <= kFlat;
}

// --- By the runtime ----------------------------------------------------------------------------

/// Longer ones would fill the memory of processes that are far ahead of others.
constexpr MPI_Count kRuntimeMost = MPI_Count{16} << 20;

std::optional<collectives::ReduceOp> runtime_op(MPI_Op op) {
  using enum collectives::ReduceOp;
  static const std::map<MPI_Op, collectives::ReduceOp> all = {
      {MPI_SUM, kSum},         {MPI_PROD, kProduct},  {MPI_MIN, kMin},         {MPI_MAX, kMax},
      {MPI_LAND, kLogicalAnd}, {MPI_LOR, kLogicalOr}, {MPI_LXOR, kLogicalXor}, {MPI_BAND, kBitAnd},
      {MPI_BOR, kBitOr},       {MPI_BXOR, kBitXor}};
  const auto found = all.find(op);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

std::optional<collectives::ReduceType> runtime_type(const Datatype& datatype) {
  using enum collectives::ReduceType;
  const Basic* const basic = find_basic(datatype.layout().named);
  if (basic == nullptr) return std::nullopt;
  if (basic->family == Family::kFloat && basic->format == Format::kIeee) {
    if (basic->size == 4) return kFloat;
    if (basic->size == 8) return kDouble;
  }
  if (basic->family == Family::kByte) return kUint8;
  if (basic->family != Family::kInteger) return std::nullopt;
  const bool is_signed = basic->format == Format::kSigned;
  switch (basic->size) {
    case 1:
      return is_signed ? kInt8 : kUint8;
    case 2:
      return is_signed ? kInt16 : kUint16;
    case 4:
      return is_signed ? kInt32 : kUint32;
    case 8:
      return is_signed ? kInt64 : kUint64;
    default:
      return std::nullopt;
  }
}

/// How the runtime would combine it, along its trees. Empty: it cannot.
std::optional<collectives::ReductionKind> runtime_kind(const Schedule& schedule,
                                                       const Combining& what) {
  if (!schedule.scope().may_combine || !schedule.is_empty()) return std::nullopt;
  if (what.own.bytes() > kRuntimeMost) return std::nullopt;
  const auto op = runtime_op(what.op->predefined);
  const auto type = runtime_type(*what.own.datatype);
  if (!op || !type) return std::nullopt;
  return collectives::ReductionKind{*op, *type, false};
}

/// Up the tree that a broadcast would come down. Who is served last there has the least below it,
/// so it is ready first.
void add_known_tree_reduce(Schedule& schedule, const GroupTrees::Place& place,
                           const Combining& what, const Area& result) {
  if (place.parent && place.children.empty()) {
    schedule.send(*place.parent, what.own.buffer());
    return schedule.then();
  }
  Combined pair = begin(schedule, what);
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
    schedule.receive(*child, pair.next.buffer());
    add_combination(schedule, what.op, pair, /*comes_first=*/false);
  }
  if (!place.parent) return schedule.run([from = pair.now, result] { copy(from, result); });
  schedule.send(*place.parent, pair.now.buffer());
  schedule.then();
}

void add_tree_reduce(Schedule& schedule, int root, const Combining& what, const Area& result) {
  const int rank = schedule.scope().rank;
  Combined pair = begin(schedule, what);
  const int top = what.op->commutes ? root : 0;
  add_tree(schedule, top, what.op, pair);
  if (top != root && rank == top) schedule.send(root, pair.now.buffer());
  if (top != root && rank == root) schedule.receive(top, pair.next.buffer());
  schedule.then();
  if (rank != root) return;
  schedule.run([from = top == root ? pair.now : pair.next, result] { copy(from, result); });
}

}  // namespace

void add_reduce(Schedule& schedule, int root, const Combining& what, const Area& result) {
  if (schedule.scope().size() == 1) return add_copy(schedule, what.own, result);
  if (const auto kind = runtime_kind(schedule, what)) {
    schedule.contribute(root, *kind, what.own.buffer());
    if (schedule.scope().rank == root) schedule.result(root, *kind, result.buffer());
    return schedule.then();
  }
  if (is_flat(schedule, what)) return add_flat_reduce(schedule, root, what, result);
  if (is_long(schedule, what)) {
    const bool is_root = schedule.scope().rank == root;
    return in_passes(schedule, what.own, [&](MPI_Count first, MPI_Count many, const Rooms& rooms) {
      const Combining pass{what.op, what.own.part(first, many)};
      add_long_reduce(schedule, root, pass, is_root ? result.part(first, many) : Area(), rooms);
    });
  }
  for_segments(schedule, what.own, [&](const Segment& segment) {
    const bool is_root = schedule.scope().rank == root;
    const Combining part{what.op, what.own.part(segment.first, segment.many)};
    const Area to = is_root ? result.part(segment.first, segment.many) : Area();
    if (!schedule.scope().trees || !what.op->commutes) {
      return add_tree_reduce(schedule, root, part, to);
    }
    add_known_tree_reduce(schedule, place_in_tree(schedule, root, segment), part, to);
  });
}

/// Recursive doubling. Of the first ranks pairs become one, so that a power of two is left.
void add_allreduce(Schedule& schedule, const Combining& what, const Area& result) {
  if (schedule.scope().size() == 1) return add_copy(schedule, what.own, result);
  if (auto kind = runtime_kind(schedule, what)) {
    kind->to_all = true;
    schedule.contribute(0, *kind, what.own.buffer());
    schedule.result(0, *kind, result.buffer());
    return schedule.then();
  }
  if (is_long(schedule, what) && !is_flat(schedule, what)) {
    return in_passes(schedule, what.own, [&](MPI_Count first, MPI_Count many, const Rooms& rooms) {
      const Combining pass{what.op, what.own.part(first, many)};
      add_long_allreduce(schedule, pass, result.part(first, many), rooms);
    });
  }
  if (is_cut(schedule, what.own) || (is_central(schedule) && what.op->commutes) ||
      is_flat(schedule)) {
    add_reduce(schedule, 0, what, result);
    return add_broadcast(schedule, 0, result);
  }
  const int size = schedule.scope().size();
  const int rank = schedule.scope().rank;
  Combined pair = begin(schedule, what);
  int power = 1;
  while (power * 2 <= size) power *= 2;
  const int extra = size - power;
  const bool is_paired = rank < 2 * extra;
  const auto rank_at = [extra](int place) { return place < extra ? 2 * place + 1 : place + extra; };
  if (is_paired && rank % 2 == 0) {
    schedule.send(rank + 1, pair.now.buffer());
    schedule.then();
    schedule.receive(rank + 1, pair.now.buffer());
  } else {
    if (is_paired) {
      schedule.receive(rank - 1, pair.next.buffer());
      add_combination(schedule, what.op, pair, /*comes_first=*/true);
    }
    const int place = is_paired ? rank / 2 : rank - extra;
    for (int distance = 1; distance < power; distance *= 2) {
      const int other = rank_at(place ^ distance);
      schedule.receive(other, pair.next.buffer());
      schedule.send(other, pair.now.buffer());
      add_combination(schedule, what.op, pair, /*comes_first=*/(place & distance) != 0);
    }
    if (is_paired) schedule.send(rank - 1, pair.now.buffer());
  }
  schedule.run([from = pair.now, result] { copy(from, result); });
}

void add_reduce_scatter(Schedule& schedule, const Combining& what, const std::vector<int>& counts,
                        const Area& result) {
  if (schedule.scope().size() == 1) return add_copy(schedule, what.own, result);
  Begins begins{0};
  for (const int count : counts) begins.push_back(begins.back() + count);
  if (is_long(schedule, what)) {
    const Area part = part_of(what.own, begins, schedule.scope().rank);
    const Area own = add_parts(schedule, what, begins, rooms_for(schedule, part));
    return schedule.run([own, result] { copy(own, result); });
  }
  const Area all = what.own.like(schedule);
  add_reduce(schedule, 0, what, all);
  const auto part = [all, begins](int rank) { return part_of(all, begins, rank); };
  add_scatter(schedule, 0, part, result);
}

/// A scan from rank to rank.
void add_scan_chain(Schedule& schedule, const Combining& what, const Area& result,
                    bool is_exclusive) {
  const int rank = schedule.scope().rank;
  Combined pair = begin(schedule, what);
  if (rank > 0) {
    schedule.receive(rank - 1, pair.next.buffer());
    add_combination(schedule, what.op, pair, /*comes_first=*/true);
  }
  if (rank + 1 < schedule.scope().size()) schedule.send(rank + 1, pair.now.buffer());
  if (!is_exclusive) return schedule.run([from = pair.now, result] { copy(from, result); });
  if (rank > 0) schedule.run([from = pair.next, result] { copy(from, result); });
}

void add_scan(Schedule& schedule, const Combining& what, const Area& result, bool is_exclusive) {
  const int size = schedule.scope().size();
  const int rank = schedule.scope().rank;
  if (size == 1) return is_exclusive ? schedule.then() : add_copy(schedule, what.own, result);
  if (size == 2 || is_flat(schedule)) return add_scan_chain(schedule, what, result, is_exclusive);
  // `pair` has what this rank's block of 2, 4, ... ranks has combined; `before` what is in front.
  Combined pair = begin(schedule, what);
  const Area before = what.own.like(schedule);
  bool has_before = false;
  for (int distance = 1; distance < size; distance *= 2) {
    const int other = rank ^ distance;
    if (other >= size) continue;
    schedule.receive(other, pair.next.buffer());
    schedule.send(other, pair.now.buffer());
    if (other < rank) {
      const bool is_first = !std::exchange(has_before, true);
      schedule.run([op = what.op, from = pair.next, before, is_first] {
        is_first ? copy(from, before) : combine(*op, from, before);
      });
    }
    add_combination(schedule, what.op, pair, /*comes_first=*/other < rank);
  }
  schedule.run([=, op = what.op, own = what.own] {
    if (is_exclusive) {
      if (has_before) copy(before, result);
      return;
    }
    if (!has_before) return copy(own, result);
    const Area& to = result;
    if (to.address != own.address) copy(own, to);
    combine(*op, before, to);
  });
}

}  // namespace phx::mpi
