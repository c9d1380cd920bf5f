#include <optional>

#include "runtime/mpi/calls/collective.h"

namespace phx::mpi {

void check_root(const Communicator& comm, int root) {
  const bool is_special = root == MPI_ROOT || root == MPI_PROC_NULL;
  const bool is_rank = root >= 0 && root < comm.peers()->size();
  require(is_rank || (comm.is_inter() && is_special), MPI_ERR_ROOT, "there is no such root");
}

Areas Parts::areas() const {
  require(counts != nullptr && places != nullptr, MPI_ERR_ARG, "an array is null");
  const Area whole = Area::of(buffer, 0, datatype);
  return [whole, *this](int rank) {
    require(counts[rank] >= 0, MPI_ERR_COUNT, "a count is negative");
    return whole.part(places[rank], counts[rank]);
  };
}

void exchange(Communicator& comm, Schedule& schedule, const Areas& from, const Areas& to) {
  for (int i = 0; i < comm.remote()->size(); ++i) {
    schedule.receive(i, to(i).buffer());
    schedule.send(i, from(i).buffer());
  }
}

namespace {

void barrier(Communicator& comm, Schedule& schedule) {
  if (!comm.is_inter()) return add_barrier(schedule);
  const Scope across = schedule.scope();
  const Area nothing = Area::of_bytes(schedule.memory(1), 0);
  schedule.enter(own_side(comm));
  add_barrier(schedule);
  schedule.enter(across);
  if (comm.rank() == 0) {
    schedule.receive(0, nothing.buffer());
    schedule.send(0, nothing.buffer());
  }
  schedule.then();
  schedule.enter(own_side(comm));
  add_broadcast(schedule, 0, nothing);
}

void broadcast(const Roots& to, const Area& area) {
  Schedule& schedule = to.schedule;
  if (is_nothing(to.comm, area)) return;
  if (!to.comm.is_inter()) return add_broadcast(schedule, to.root, area);
  if (to.is_idle()) return;
  if (to.is_root()) return schedule.send(0, area.buffer());
  if (to.comm.rank() == 0) schedule.receive(to.root, area.buffer());
  schedule.enter(own_side(to.comm));
  add_broadcast(schedule, 0, area);
}

/// What one rank gives or gets.
struct Own {
  const void* buffer;
  int count;
  MPI_Datatype datatype;
  bool is_equal = false;  ///< All ranks have as many bytes.
  /// At the root it may stand in place, in those of `all`.
  [[nodiscard]] Area area(const Roots& to, const std::function<Areas()>& all) const {
    if (!to.is_root() || to.comm.is_inter()) return Area::of(buffer, count, datatype);
    const Area place = all()(to.comm.rank());
    if (is_in_place(buffer)) return place;
    const Area own = Area::of(buffer, count, datatype);
    check_apart(own, place);
    return own;
  }
};

void gather(const Roots& to, const Own& own, const std::function<Areas()>& all) {
  to.check();
  if (to.is_idle()) return;
  if (!to.comm.is_inter()) {
    const Area mine = own.area(to, all);
    if (own.is_equal && is_nothing(to.comm, mine)) return;
    return add_gather(to.schedule, to.root, mine, to.is_root() ? all() : Areas());
  }
  if (!to.is_root()) return to.schedule.send(to.root, own.area(to, all).buffer());
  const Areas areas = all();
  for (int i = 0; i < to.comm.remote()->size(); ++i) to.schedule.receive(i, areas(i).buffer());
}

void scatter(const Roots& to, const std::function<Areas()>& all, const Own& own) {
  to.check();
  if (to.is_idle()) return;
  if (!to.comm.is_inter()) {
    const Area mine = own.area(to, all);
    if (own.is_equal && is_nothing(to.comm, mine)) return;
    return add_scatter(to.schedule, to.root, to.is_root() ? all() : Areas(), mine);
  }
  if (!to.is_root()) return to.schedule.receive(to.root, own.area(to, all).buffer());
  const Areas areas = all();
  for (int i = 0; i < to.comm.remote()->size(); ++i) to.schedule.send(i, areas(i).buffer());
}

}  // namespace
}  // namespace phx::mpi

using namespace phx::mpi;

PHX_MPI_BOTH(
    Barrier, Ibarrier, (MPI_Comm comm),
    [&](Communicator& all, Schedule& schedule) { barrier(all, schedule); }, meet)

PHX_MPI_BOTH(
    Bcast, Ibcast, (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm),
    [&](Communicator& all, Schedule& schedule) {
      const Roots to{all, schedule, root};
      to.check();
      if (!to.is_idle()) broadcast(to, Area::of(buffer, count, datatype));
    },
    [&](const Communicator& all) {
      if (!has_board(all)) return false;
      check_root(all, root);
      return show_broadcast(all, root, Area::of(buffer, count, datatype));
    })

PHX_MPI_BOTH(Gather, Igather,
             (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
              MPI_Datatype in_type, int root, MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               const Roots to{all, schedule, root};
               const auto areas = [&] { return equal_parts(Area::of(in, in_count, in_type)); };
               gather(to, {out, out_count, out_type, /*is_equal=*/true}, areas);
             })

PHX_MPI_BOTH(Gatherv, Igatherv,
             (const void* out, int out_count, MPI_Datatype out_type, void* in,
              const int in_counts[], const int places[], MPI_Datatype in_type, int root,
              MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               const Roots to{all, schedule, root};
               const auto areas = [&] { return Parts{in, in_counts, places, in_type}.areas(); };
               gather(to, {out, out_count, out_type}, areas);
             })

PHX_MPI_BOTH(Scatter, Iscatter,
             (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
              MPI_Datatype in_type, int root, MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               const Roots to{all, schedule, root};
               const auto areas = [&] { return equal_parts(Area::of(out, out_count, out_type)); };
               scatter(to, areas, {in, in_count, in_type, /*is_equal=*/true});
             })

PHX_MPI_BOTH(Scatterv, Iscatterv,
             (const void* out, const int out_counts[], const int places[], MPI_Datatype out_type,
              void* in, int in_count, MPI_Datatype in_type, int root, MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               const Roots to{all, schedule, root};
               const auto areas = [&] { return Parts{out, out_counts, places, out_type}.areas(); };
               scatter(to, areas, {in, in_count, in_type});
             })

PHX_MPI_BOTH(
    Allgather, Iallgather,
    (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
     MPI_Datatype in_type, MPI_Comm comm),
    [&](Communicator& all, Schedule& schedule) {
      const Area first = Area::of(in, in_count, in_type);
      if (all.is_inter()) {
        const Area own = Area::of(out, out_count, out_type);
        return exchange(
            all, schedule, [own](int) { return own; }, equal_parts(first));
      }
      if (const std::optional<Area> own = sent(out, out_count, out_type)) {
        const Area place = first.part(all.rank() * first.count, first.count);
        check_apart(*own, place);
        if (is_nothing(all, first) && own->bytes() == 0) return;
        add_copy(schedule, *own, place);
      }
      if (!is_nothing(all, first)) add_allgather_equal(schedule, first);
    },
    [&](const Communicator& all) {
      if (!has_board(all)) return false;
      const Area first = Area::of(in, in_count, in_type);
      const std::optional<Area> own = sent(out, out_count, out_type);
      if (own) check_apart(*own, first.part(all.rank() * first.count, first.count));
      return show_allgather(all, own, first);
    })

PHX_MPI_BOTH(Allgatherv, Iallgatherv,
             (const void* out, int out_count, MPI_Datatype out_type, void* in,
              const int in_counts[], const int places[], MPI_Datatype in_type, MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               const Areas areas = Parts{in, in_counts, places, in_type}.areas();
               if (all.is_inter()) {
                 const Area own = Area::of(out, out_count, out_type);
                 return exchange(
                     all, schedule, [own](int) { return own; }, areas);
               }
               if (!is_in_place(out)) {
                 const Area own = Area::of(out, out_count, out_type);
                 const Area place = areas(all.rank());
                 check_apart(own, place);
                 add_copy(schedule, own, place);
               }
               add_allgather(schedule, areas);
             })
