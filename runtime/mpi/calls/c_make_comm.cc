#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <string_view>

#include "runtime/mpi/base/info.h"
#include "runtime/mpi/calls/agreement.h"

using namespace phx::mpi;

namespace {

/// What a process says when communicators are made by color and key.
struct Vote {
  int color;
  int key;
  std::uint64_t context;        ///< if it becomes the first one
  std::uint64_t local_context;  ///< of its side of an inter-communicator
};

/// The ranks of a color, by key.
std::vector<int> ranks_of(const std::vector<Vote>& votes, int color) {
  std::vector<int> ranks;
  for (int i = 0; i < static_cast<int>(votes.size()); ++i) {
    if (votes[static_cast<std::size_t>(i)].color == color) ranks.push_back(i);
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return votes[static_cast<std::size_t>(a)].key < votes[static_cast<std::size_t>(b)].key;
  });
  return ranks;
}

const Vote& first_of(const std::vector<Vote>& votes, const std::vector<int>& ranks) {
  return votes[static_cast<std::size_t>(ranks.front())];
}

/// Adds that all agree on the contexts of a copy. It is complete, but for these, before.
Ref<Schedule> agree(Communicator& comm, const Ref<Communicator>& made) {
  const Ref<Schedule> schedule = schedule_in(comm.collective(), comm.next_tag());
  auto* contexts = reinterpret_cast<std::uint64_t*>(schedule->memory(2 * sizeof(std::uint64_t)));
  contexts[0] = fresh_context();
  contexts[1] = fresh_context();
  const Area first = Area::of_bytes(reinterpret_cast<std::byte*>(contexts), 8);
  if (comm.is_inter() && comm.rank() == 0) {
    is_first_side(comm) ? schedule->send(0, first.buffer()) : schedule->receive(0, first.buffer());
  }
  schedule->then();
  if (comm.is_inter()) schedule->enter(own_side(comm));
  add_broadcast(*schedule, 0, Area::of_bytes(reinterpret_cast<std::byte*>(contexts), 16));
  schedule->run([made, contexts] {
    made->set_context(contexts[0]);
    if (made->is_inter()) made->local->set_context(contexts[1]);
  });
  return schedule;
}

Ref<Communicator> copy_of(MPI_Comm handle) {
  Communicator& comm = comm_of(handle);
  Ref<Communicator> made(new Communicator(0, comm.group(), comm.remote()));
  if (comm.is_inter()) made->local = Ref<Communicator>(new Communicator(0, comm.group()));
  made->topology = comm.topology;
  made->set_hints(comm.hints());
  made->attributes.copy_from(comm.attributes, handle);
  return made;
}

Info::Entries hints_in(MPI_Info info) {
  return info == MPI_INFO_NULL ? Info::Entries() : info_of(info).entries();
}

void duplicate(MPI_Comm handle, const Info::Entries& hints, MPI_Comm* out) {
  require(out != nullptr, MPI_ERR_ARG, "the pointer to the communicator is null");
  Communicator& comm = comm_of(handle);
  *out = MPI_COMM_NULL;  // What it is, as with MPICH, if an attribute refuses to be copied.
  const Ref<Communicator> made = copy_of(handle);
  made->set_hints(hints);
  run_now(agree(comm, made));
  make_comm(comm, made, out);
}

void check_part_of(const Group& group, const Communicator& comm) {
  for (const int process : group.processes()) {
    require(comm.group()->rank_of(process) != MPI_UNDEFINED, MPI_ERR_GROUP,
            "the group is no part of the communicator's");
  }
}

/// The members of a group of a communicator get what the first of them says, along a binomial tree.
/// Ranks are those of the communicator: the same rank of groups that overlap is not the same
/// process.
void tell_members(const Communicator& all, const Group& members, int tag, std::uint64_t& what) {
  Scope scope = all.messages();
  scope.context += kMakingGroups;
  const Ref<Schedule> schedule = schedule_in(scope, tag);
  const Buffer buffer = Area::of_bytes(reinterpret_cast<std::byte*>(&what), sizeof what).buffer();
  const auto rank_at = [&](int place) { return all.group()->rank_of(members.process(place)); };
  const int place = members.rank_of(own_process());
  int distance = 1;
  while (distance < members.size() && (place & distance) == 0) distance *= 2;
  if (place != 0) schedule->receive(rank_at(place - distance), buffer);
  schedule->then();
  for (distance /= 2; distance > 0; distance /= 2) {
    if (place + distance < members.size()) schedule->send(rank_at(place + distance), buffer);
  }
  run_now(schedule);
}

void forget(const Communicator& comm) {
  Process::current().call([&](Traffic& traffic) {
    traffic.forget(comm.messages().context);
    if (comm.is_inter()) traffic.forget(comm.local->messages().context);
  });
}

/// Communicators that the program has freed, and requests of which it still has: they keep their
/// handles, so that errors of these requests go to their handlers. Nobody looks at them but who
/// frees the next one. Thread rule: any thread.
class Leaving {
 public:
  /// Fails with MPI_ERR_COMM if it is one of them.
  void add(Communicator& comm) {
    const std::lock_guard lock(mutex_);
    const auto is_it = [&](const Ref<Communicator>& one) { return one.get() == &comm; };
    require(std::ranges::none_of(all_, is_it), MPI_ERR_COMM, "the communicator was freed");
    all_.emplace_back(&comm);
    std::erase_if(all_, [](const Ref<Communicator>& one) {
      const MPI_Comm handle = one->handle;
      if (requests().has([&](const Request& r) { return r.comm == handle; })) return false;
      communicators().close(one.get());
      forget(*one);
      return true;
    });
  }

 private:
  std::mutex mutex_;
  std::vector<Ref<Communicator>> all_;
};
Leaving& leaving() {
  static auto& all = *new Leaving;
  return all;
}

/// Checks what MPI_Comm_free and MPI_Comm_disconnect are given.
Communicator& to_free(const MPI_Comm* comm) {
  require(comm != nullptr, MPI_ERR_ARG, "the pointer to the communicator is null");
  Communicator& one = comm_of(*comm);
  require(*comm != MPI_COMM_WORLD && *comm != MPI_COMM_SELF, MPI_ERR_COMM,
          "a predefined communicator cannot be freed");
  return one;
}

void free_comm(Communicator& one, MPI_Comm* comm) {
  one.attributes.clear(*comm);
  leaving().add(one);
  *comm = MPI_COMM_NULL;
}

/// What this process has begun there is over, and has left it.
void await_quiet(const Communicator& comm) {
  Process& process = Process::current();
  process.wait(
      [&](Traffic& traffic) {
        return traffic.is_quiet(comm.messages().context) &&
               (!comm.is_inter() || traffic.is_quiet(comm.local->messages().context));
      },
      [] { return "what was begun in the communicator"; });
  process.flush();
}

/// Which machine this is.
int machine() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return static_cast<int>(std::hash<std::string_view>()(name.data()) & 0x7FFFFFFFU);
}

}  // namespace

void phx::mpi::split(Communicator& comm, int color, int key, MPI_Comm* out) {
  *out = MPI_COMM_NULL;
  const Vote mine{color, key, fresh_context(), fresh_context()};
  const auto votes = all_say(comm, mine);
  const auto others = comm.is_inter() ? all_say(comm, mine, true) : std::vector<Vote>();
  if (color == MPI_UNDEFINED) return;
  const auto ranks = ranks_of(votes, color);
  const Ref<Group> group(new Group(comm.group()->chosen(ranks)));
  const Vote& first = first_of(votes, ranks);
  if (!comm.is_inter()) {
    make_comm(comm, Ref<Communicator>(new Communicator(first.context, group)), out);
    return;
  }
  const auto there = ranks_of(others, color);
  if (there.empty()) return;
  const Ref<Group> remote(new Group(comm.remote()->chosen(there)));
  const bool is_first = group->process(0) < remote->process(0);
  const std::uint64_t context = (is_first ? first : first_of(others, there)).context;
  const Ref<Communicator> made(new Communicator(context, group, remote));
  made->local = Ref<Communicator>(new Communicator(first.local_context, group));
  make_comm(comm, made, out);
}

PHX_MPI_ENTRY(int, Comm_dup, (MPI_Comm comm, MPI_Comm* copy)) {
  return enter("MPI_Comm_dup", comm, [&] { duplicate(comm, comm_of(comm).hints(), copy); });
}

PHX_MPI_ENTRY(int, Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* copy)) {
  return enter("MPI_Comm_dup_with_info", comm, [&] {
    need({copy});
    duplicate(comm, hints_in(info), copy);
  });
}

PHX_MPI_ENTRY(int, Comm_idup, (MPI_Comm comm, MPI_Comm* copy, MPI_Request* request)) {
  return enter("MPI_Comm_idup", comm, [&] {
    need({copy, request});
    Communicator& all = comm_of(comm);
    *copy = MPI_COMM_NULL;
    const Ref<Communicator> made = copy_of(comm);
    const Ref<Schedule> schedule = agree(all, made);
    make_comm(all, made, copy);
    Process::current().call([&](Traffic& traffic) { traffic.start(schedule); });
    give_request(Ref<Request>(schedule.get()), comm, request);
  });
}

PHX_MPI_ENTRY(int, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* out)) {
  return enter("MPI_Comm_split", comm, [&] {
    need({out});
    Communicator& all = comm_of(comm);
    require(color >= 0 || color == MPI_UNDEFINED, MPI_ERR_ARG, "the color is negative");
    require(out != nullptr, MPI_ERR_ARG, "the pointer to the communicator is null");
    split(all, color, key, out);
  });
}

PHX_MPI_ENTRY(int, Comm_split_type,
              (MPI_Comm comm, int type, int key, MPI_Info /*info*/, MPI_Comm* out)) {
  return enter("MPI_Comm_split_type", comm, [&] {
    need({out});
    Communicator& all = comm_of(comm);
    require(type == MPI_COMM_TYPE_SHARED || type == MPI_UNDEFINED, MPI_ERR_ARG,
            "there is no such kind of split");
    split(all, type == MPI_UNDEFINED ? MPI_UNDEFINED : machine(), key, out);
  });
}

PHX_MPI_ENTRY(int, Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* out)) {
  return enter("MPI_Comm_create", comm, [&] {
    need({out});
    Communicator& all = comm_of(comm);
    const Group& wanted = group_of(group);
    check_part_of(wanted, all);
    const int rank = wanted.rank_of(own_process());
    split(all,
          rank == MPI_UNDEFINED ? MPI_UNDEFINED
          : all.is_inter()      ? 0
                                : wanted.process(0),
          rank, out);
  });
}

PHX_MPI_ENTRY(int, Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* out)) {
  return enter("MPI_Comm_create_group", comm, [&] {
    need({out});
    Communicator& all = intra_of(comm);
    Group& wanted = group_of(group);
    *out = MPI_COMM_NULL;
    const int rank = wanted.rank_of(own_process());
    if (rank == MPI_UNDEFINED) return;
    require(tag >= 0, MPI_ERR_TAG, "the tag is negative");
    check_part_of(wanted, all);
    const Ref<Group> members(new Group(wanted.processes()));
    std::uint64_t context = fresh_context();
    tell_members(all, *members, tag, context);
    make_comm(all, Ref<Communicator>(new Communicator(context, members)), out);
  });
}

PHX_MPI_ENTRY(int, Comm_compare, (MPI_Comm a, MPI_Comm b, int* result)) {
  return enter("MPI_Comm_compare", a, [&] {
    need({result});
    const Communicator& one = comm_of(a);
    const Communicator& other = comm_of(b);
    *result = MPI_IDENT;
    if (a == b) return;
    *result = MPI_UNEQUAL;
    if (one.is_inter() != other.is_inter()) return;
    const int here = one.group()->compared(*other.group());
    const int there = one.is_inter() ? one.remote()->compared(*other.remote()) : MPI_IDENT;
    *result = std::max({here, there, MPI_CONGRUENT});
  });
}

PHX_MPI_ENTRY(int, Comm_free, (MPI_Comm * comm)) {
  return enter("MPI_Comm_free", comm == nullptr ? MPI_COMM_NULL : *comm,
               [&] { free_comm(to_free(comm), comm); });
}

PHX_MPI_ENTRY(int, Comm_disconnect, (MPI_Comm * comm)) {
  return enter("MPI_Comm_disconnect", comm == nullptr ? MPI_COMM_NULL : *comm, [&] {
    Communicator& one = to_free(comm);
    await_quiet(one);
    free_comm(one, comm);
  });
}

PHX_MPI_ENTRY(int, Comm_set_info, (MPI_Comm comm, MPI_Info info)) {
  return enter("MPI_Comm_set_info", comm, [&] {
    Communicator& one = comm_of(comm);
    Info::Entries hints = one.hints();
    for (const auto& told : info_of(info).entries()) {
      std::erase_if(hints, [&](const auto& hint) { return hint.first == told.first; });
      hints.push_back(told);
    }
    one.set_hints(std::move(hints));
  });
}

PHX_MPI_ENTRY(int, Comm_get_info, (MPI_Comm comm, MPI_Info* info)) {
  return enter("MPI_Comm_get_info", comm, [&] {
    require(info != nullptr, MPI_ERR_ARG, "the pointer to the info is null");
    *info = infos().open(new Info(comm_of(comm).hints()));
  });
}

PHX_MPI_ENTRY(int, Comm_get_parent, (MPI_Comm * parent)) {
  return enter("MPI_Comm_get_parent", [&] {
    need({parent});
    *parent = MPI_COMM_NULL;
  });
}

PHX_MPI_ENTRY(int, Intercomm_create,
              (MPI_Comm local, int leader, MPI_Comm bridge, int remote_leader, int tag,
               MPI_Comm* out)) {
  return enter("MPI_Intercomm_create", local, [&] {
    need({out});
    Communicator& side = intra_of(local);
    require(leader >= 0 && leader < side.size(), MPI_ERR_RANK, "there is no such leader");
    require(tag >= 0, MPI_ERR_TAG, "the tag is negative");
    /// What the leaders tell each other: how many they are, and a context.
    struct Side {
      int size;
      int process;
      std::uint64_t context;
    };
    Side mine{side.size(), side.group()->process(0), fresh_context()};
    Side theirs{};
    std::vector<int> processes;
    const auto swap = [&](Area ours, Area others) {
      const Communicator& between = comm_of(bridge);
      require(remote_leader >= 0 && remote_leader < between.peers()->size(), MPI_ERR_RANK,
              "there is no such remote leader");
      Scope scope = between.messages();
      scope.context += kMakingPairs;
      const Ref<Schedule> schedule = schedule_in(scope, tag);
      schedule->receive(remote_leader, others.buffer());
      schedule->send(remote_leader, ours.buffer());
      run_now(schedule);
    };
    const auto bytes = [](void* address, std::size_t size) {
      return Area::of_bytes(static_cast<std::byte*>(address), static_cast<MPI_Count>(size));
    };
    const auto spread = [&](Area area) {
      const Ref<Schedule> schedule = schedule_in(side.collective(), side.next_tag());
      add_broadcast(*schedule, leader, area);
      run_now(schedule);
    };
    const bool leads = side.rank() == leader;
    if (leads) swap(bytes(&mine, sizeof(mine)), bytes(&theirs, sizeof(theirs)));
    spread(bytes(&mine, sizeof(mine)));
    spread(bytes(&theirs, sizeof(theirs)));
    processes.resize(static_cast<std::size_t>(theirs.size));
    std::vector<int> own = side.group()->processes();
    if (leads)
      swap(bytes(own.data(), own.size() * 4), bytes(processes.data(), processes.size() * 4));
    spread(bytes(processes.data(), processes.size() * 4));
    std::uint64_t local_context = fresh_context();
    spread(bytes(&local_context, sizeof(local_context)));
    const bool is_first = mine.process < theirs.process;
    const Ref<Communicator> made(new Communicator(is_first ? mine.context : theirs.context,
                                                  side.group(), Ref<Group>(new Group(processes))));
    made->local = Ref<Communicator>(new Communicator(local_context, side.group()));
    make_comm(side, made, out);
  });
}

PHX_MPI_ENTRY(int, Intercomm_merge, (MPI_Comm comm, int is_high, MPI_Comm* out)) {
  return enter("MPI_Intercomm_merge", comm, [&] {
    need({out});
    Communicator& both = comm_of(comm);
    require(both.is_inter(), MPI_ERR_COMM, "this is no inter-communicator");
    const Vote mine{is_high != 0 ? 1 : 0, 0, fresh_context(), 0};
    const Vote ours = all_say(both, mine).front();
    const Vote theirs = all_say(both, mine, true).front();
    const bool goes_first =
        ours.color == theirs.color ? is_first_side(both) : ours.color < theirs.color;
    std::vector<int> processes = (goes_first ? both.group() : both.remote())->processes();
    const auto& rest = (goes_first ? both.remote() : both.group())->processes();
    processes.insert(processes.end(), rest.begin(), rest.end());
    const std::uint64_t context = (goes_first ? ours : theirs).context;
    const Ref<Group> group(new Group(processes));
    make_comm(both, Ref<Communicator>(new Communicator(context, group)), out);
  });
}
