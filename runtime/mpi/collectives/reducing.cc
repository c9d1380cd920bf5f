#include <utility>

#include "runtime/mpi/collectives/collectives.h"

// Combinations. The order of the ranks is kept, for operations that do not commute.
namespace phx::mpi {
namespace {

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

}  // namespace

void add_reduce(Schedule& schedule, int root, const Combining& what, const Area& result) {
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

/// Recursive doubling. Of the first ranks pairs become one, so that a power of two is left.
void add_allreduce(Schedule& schedule, const Combining& what, const Area& result) {
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
  const Area all = what.own.like(schedule);
  add_reduce(schedule, 0, what, all);
  std::vector<MPI_Count> begins{0};
  for (const int count : counts) begins.push_back(begins.back() + count);
  const auto part = [all, counts, begins](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    return all.part(begins[i], counts[i]);
  };
  add_scatter(schedule, 0, part, result);
}

void add_scan(Schedule& schedule, const Combining& what, const Area& result, bool is_exclusive) {
  const int size = schedule.scope().size();
  const int rank = schedule.scope().rank;
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
