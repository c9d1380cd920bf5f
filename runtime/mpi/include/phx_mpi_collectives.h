#pragma once
#pragma GCC system_header

/* Collective operations; the forms with I begin what a request ends. */

PHX_MPI_FUNCTION(int, Barrier, (MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ibarrier, (MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Bcast,
                 (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ibcast,
                 (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request* request))
PHX_MPI_FUNCTION(int, Gather,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, int root, MPI_Comm comm))
PHX_MPI_FUNCTION(int, Igather,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, int root, MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Gatherv,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in,
                  const int in_counts[], const int places[], MPI_Datatype in_type, int root,
                  MPI_Comm comm))
PHX_MPI_FUNCTION(int, Igatherv,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in,
                  const int in_counts[], const int places[], MPI_Datatype in_type, int root,
                  MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Scatter,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, int root, MPI_Comm comm))
PHX_MPI_FUNCTION(int, Iscatter,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, int root, MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Scatterv,
                 (const void* out, const int out_counts[], const int places[],
                  MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type, int root,
                  MPI_Comm comm))
PHX_MPI_FUNCTION(int, Iscatterv,
                 (const void* out, const int out_counts[], const int places[],
                  MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type, int root,
                  MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Allgather,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm))
PHX_MPI_FUNCTION(int, Iallgather,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Allgatherv,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in,
                  const int in_counts[], const int places[], MPI_Datatype in_type, MPI_Comm comm))
PHX_MPI_FUNCTION(int, Iallgatherv,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in,
                  const int in_counts[], const int places[], MPI_Datatype in_type, MPI_Comm comm,
                  MPI_Request* request))
PHX_MPI_FUNCTION(int, Alltoall,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ialltoall,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Alltoallv,
                 (const void* out, const int out_counts[], const int out_places[],
                  MPI_Datatype out_type, void* in, const int in_counts[], const int in_places[],
                  MPI_Datatype in_type, MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ialltoallv,
                 (const void* out, const int out_counts[], const int out_places[],
                  MPI_Datatype out_type, void* in, const int in_counts[], const int in_places[],
                  MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Alltoallw,
                 (const void* out, const int out_counts[], const int out_places[],
                  const MPI_Datatype out_types[], void* in, const int in_counts[],
                  const int in_places[], const MPI_Datatype in_types[], MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ialltoallw,
                 (const void* out, const int out_counts[], const int out_places[],
                  const MPI_Datatype out_types[], void* in, const int in_counts[],
                  const int in_places[], const MPI_Datatype in_types[], MPI_Comm comm,
                  MPI_Request* request))
PHX_MPI_FUNCTION(int, Reduce,
                 (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op, int root,
                  MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ireduce,
                 (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op, int root,
                  MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Allreduce,
                 (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm))
PHX_MPI_FUNCTION(int, Iallreduce,
                 (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Reduce_scatter,
                 (const void* out, void* in, const int counts[], MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ireduce_scatter,
                 (const void* out, void* in, const int counts[], MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Reduce_scatter_block,
                 (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ireduce_scatter_block,
                 (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Scan,
                 (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm))
PHX_MPI_FUNCTION(int, Iscan,
                 (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Exscan,
                 (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm))
PHX_MPI_FUNCTION(int, Iexscan,
                 (const void* out, void* in, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Neighbor_allgather,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ineighbor_allgather,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Neighbor_allgatherv,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in,
                  const int in_counts[], const int places[], MPI_Datatype in_type, MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ineighbor_allgatherv,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in,
                  const int in_counts[], const int places[], MPI_Datatype in_type, MPI_Comm comm,
                  MPI_Request* request))
PHX_MPI_FUNCTION(int, Neighbor_alltoall,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ineighbor_alltoall,
                 (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Neighbor_alltoallv,
                 (const void* out, const int out_counts[], const int out_places[],
                  MPI_Datatype out_type, void* in, const int in_counts[], const int in_places[],
                  MPI_Datatype in_type, MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ineighbor_alltoallv,
                 (const void* out, const int out_counts[], const int out_places[],
                  MPI_Datatype out_type, void* in, const int in_counts[], const int in_places[],
                  MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request))
PHX_MPI_FUNCTION(int, Neighbor_alltoallw,
                 (const void* out, const int out_counts[], const MPI_Aint out_places[],
                  const MPI_Datatype out_types[], void* in, const int in_counts[],
                  const MPI_Aint in_places[], const MPI_Datatype in_types[], MPI_Comm comm))
PHX_MPI_FUNCTION(int, Ineighbor_alltoallw,
                 (const void* out, const int out_counts[], const MPI_Aint out_places[],
                  const MPI_Datatype out_types[], void* in, const int in_counts[],
                  const MPI_Aint in_places[], const MPI_Datatype in_types[], MPI_Comm comm,
                  MPI_Request* request))
