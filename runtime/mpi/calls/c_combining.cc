#include <algorithm>
#include <numeric>

#include "runtime/mpi/calls/collective.h"

using namespace phx::mpi;

namespace {

/// A function of the program is called for elements of no bytes, too.
bool is_nothing(const Communicator& comm, const Combining& what) {
  return !comm.is_inter() && what.own.count == 0;
}

/// Fails with MPI_ERR_OP.
Combining combining(MPI_Op op, const Area& own) {
  Op& found = op_of(op);
  check_op(found, *own.datatype);
  return {Ref<Op>(&found), own};
}

/// Of `out`, as many elements as `result` has, or of that if it is in place.
Combining contribution(MPI_Op op, const void* out, const Area& result) {
  if (is_in_place(out)) return combining(op, result);
  const Area own = Area::of(out, result.count, result.datatype->handle);
  check_apart(own, result);
  return combining(op, own);
}

/// Where the root gets the result of a reduction.
struct Target {
  void* buffer;
  int count;
  MPI_Datatype datatype;
};

/// What a rank contributes to a reduction, the root perhaps in place.
Combining reduced(MPI_Op op, const void* out, const Target& in, bool is_root) {
  const bool is_there = is_in_place(out) && is_root;
  const Area own = Area::of(is_there ? in.buffer : out, in.count, in.datatype);
  if (is_root && !is_there) check_apart(own, Area::of(in.buffer, in.count, in.datatype));
  return combining(op, own);
}

/// Of an inter-communicator: rank 0 of each side has what its side has combined, and gets that of
/// the other one in `result`.
void swap_combinations(Communicator& comm, Schedule& schedule, const Combining& what,
                       const Area& result) {
  const Scope across = schedule.scope();
  const Area mine = what.own.like(schedule);
  schedule.enter(own_side(comm));
  add_reduce(schedule, 0, what, mine);
  schedule.enter(across);
  if (comm.rank() == 0) {
    schedule.receive(0, result.buffer());
    schedule.send(0, mine.buffer());
  }
  schedule.then();
  schedule.enter(own_side(comm));
}

void reduce_to(const Roots& to, const std::function<Combining()>& what,
               const std::function<Area()>& result) {
  to.check();
  if (to.is_idle()) return;
  if (!to.comm.is_inter()) {
    const Combining own = what();
    const Area there = to.is_root() ? result() : Area();
    if (!is_nothing(to.comm, own)) add_reduce(to.schedule, to.root, own, there);
    return;
  }
  if (to.is_root()) return to.schedule.receive(0, result().buffer());
  const Combining own = what();
  const Scope across = to.schedule.scope();
  const Area mine = own.own.like(to.schedule);
  to.schedule.enter(own_side(to.comm));
  add_reduce(to.schedule, 0, own, mine);
  to.schedule.enter(across);
  if (to.comm.rank() == 0) to.schedule.send(to.root, mine.buffer());
}

void reduce_scatter(Communicator& comm, Schedule& schedule, const Combining& what,
                    const std::pair<std::vector<int>, Area>& parts) {
  const auto& [counts, result] = parts;
  if (is_nothing(comm, what)) return;
  if (!comm.is_inter()) return add_reduce_scatter(schedule, what, counts, result);
  // The other side's combination is as long as all parts of this side.
  const Area other = what.own.like(schedule);
  swap_combinations(comm, schedule, what, other);
  std::vector<MPI_Count> begins(counts.size(), 0);
  for (std::size_t i = 1; i < counts.size(); ++i) begins[i] = begins[i - 1] + counts[i - 1];
  const Areas areas = [other, counts = counts, begins](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    return other.part(begins[i], counts[i]);
  };
  add_scatter(schedule, 0, areas, result);
}

}  // namespace

PHX_MPI_BOTH(
    Reduce, Ireduce,
    (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op, int root,
     MPI_Comm comm),
    [&](Communicator& all, Schedule& schedule) {
      const Roots to{all, schedule, root};
      const auto what = [&] { return reduced(op, out, {in, count, datatype}, to.is_root()); };
      reduce_to(to, what, [&] { return Area::of(in, count, datatype); });
    },
    [&](const Communicator& all) {
      if (!has_board(all)) return false;
      check_root(all, root);
      const bool is_root = all.rank() == root;
      const Combining what = reduced(op, out, {in, count, datatype}, is_root);
      return show_reduce(all, root, what, is_root ? Area::of(in, count, datatype) : Area());
    })

PHX_MPI_BOTH(
    Allreduce, Iallreduce,
    (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
    [&](Communicator& all, Schedule& schedule) {
      const Area result = Area::of(in, count, datatype);
      const Combining what = contribution(op, out, result);
      if (is_nothing(all, what)) return;
      if (!all.is_inter()) return add_allreduce(schedule, what, result);
      swap_combinations(all, schedule, what, result);
      add_broadcast(schedule, 0, result);
    },
    [&](const Communicator& all) {
      if (!has_board(all)) return false;
      const Area result = Area::of(in, count, datatype);
      return show_allreduce(all, contribution(op, out, result), result);
    })

PHX_MPI_BOTH(Reduce_scatter, Ireduce_scatter,
             (const void* out, void* in, const int counts[], MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               require(counts != nullptr, MPI_ERR_ARG, "the array of counts is null");
               const std::vector<int> list(counts, counts + all.size());
               const bool is_sane = std::ranges::all_of(list, [](int one) { return one >= 0; });
               require(is_sane, MPI_ERR_COUNT, "a count is negative");
               const MPI_Count total = std::accumulate(list.begin(), list.end(), MPI_Count{0});
               const int own = list[static_cast<std::size_t>(all.rank())];
               const Combining what =
                   combining(op, Area::of(is_in_place(out) ? in : out, total, datatype));
               const Area result = Area::of(in, own, datatype);
               if (!is_in_place(out)) check_apart(what.own, result);
               reduce_scatter(all, schedule, what, {list, result});
             })

PHX_MPI_BOTH(Reduce_scatter_block, Ireduce_scatter_block,
             (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               require(count >= 0, MPI_ERR_COUNT, "the count is negative");
               const std::vector<int> list(static_cast<std::size_t>(all.size()), count);
               const Combining what =
                   combining(op, Area::of(is_in_place(out) ? in : out,
                                          static_cast<MPI_Count>(count) * all.size(), datatype));
               const Area result = Area::of(in, count, datatype);
               if (!is_in_place(out)) check_apart(what.own, result);
               reduce_scatter(all, schedule, what, {list, result});
             })

PHX_MPI_BOTH(Scan, Iscan,
             (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               require(!all.is_inter(), MPI_ERR_COMM, "not between two groups");
               const Area result = Area::of(in, count, datatype);
               const Combining what = contribution(op, out, result);
               if (!is_nothing(all, what)) add_scan(schedule, what, result, /*is_exclusive=*/false);
             })

PHX_MPI_BOTH(Exscan, Iexscan,
             (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               require(!all.is_inter(), MPI_ERR_COMM, "not between two groups");
               const Area result = Area::of(in, count, datatype);
               const Combining what = contribution(op, out, result);
               if (!is_nothing(all, what)) add_scan(schedule, what, result, /*is_exclusive=*/true);
             })
