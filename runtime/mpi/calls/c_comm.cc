#include "runtime/mpi/calls/requests.h"

using namespace phx::mpi;

PHX_MPI_ENTRY(int, Comm_rank, (MPI_Comm comm, int* rank)) {
  return enter("MPI_Comm_rank", comm, [&] {
    require(rank != nullptr, MPI_ERR_ARG, "the pointer to the rank is null");
    *rank = comm_of(comm).rank();
  });
}

PHX_MPI_ENTRY(int, Comm_size, (MPI_Comm comm, int* size)) {
  return enter("MPI_Comm_size", comm, [&] {
    require(size != nullptr, MPI_ERR_ARG, "the pointer to the size is null");
    *size = comm_of(comm).size();
  });
}

PHX_MPI_ENTRY(int, Comm_group, (MPI_Comm comm, MPI_Group* group)) {
  return enter("MPI_Comm_group", comm, [&] {
    require(group != nullptr, MPI_ERR_ARG, "the pointer to the group is null");
    *group = groups().open(comm_of(comm).group().get());
  });
}

PHX_MPI_ENTRY(int, Comm_test_inter, (MPI_Comm comm, int* flag)) {
  return enter("MPI_Comm_test_inter", comm, [&] {
    need({flag});
    *flag = comm_of(comm).is_inter() ? 1 : 0;
  });
}

PHX_MPI_ENTRY(int, Comm_remote_size, (MPI_Comm comm, int* size)) {
  return enter("MPI_Comm_remote_size", comm, [&] {
    need({size});
    const Communicator& both = comm_of(comm);
    require(both.is_inter(), MPI_ERR_COMM, "this is no inter-communicator");
    *size = both.remote()->size();
  });
}

PHX_MPI_ENTRY(int, Comm_remote_group, (MPI_Comm comm, MPI_Group* group)) {
  return enter("MPI_Comm_remote_group", comm, [&] {
    need({group});
    const Communicator& both = comm_of(comm);
    require(both.is_inter(), MPI_ERR_COMM, "this is no inter-communicator");
    *group = groups().open(both.remote().get());
  });
}
