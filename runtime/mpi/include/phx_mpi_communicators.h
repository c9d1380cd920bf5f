#pragma once
#pragma GCC system_header

/* Communicators. */

PHX_MPI_FUNCTION(int, Comm_rank, (MPI_Comm comm, int* rank))
PHX_MPI_FUNCTION(int, Comm_size, (MPI_Comm comm, int* size))
PHX_MPI_FUNCTION(int, Comm_group, (MPI_Comm comm, MPI_Group* group))
PHX_MPI_FUNCTION(int, Comm_test_inter, (MPI_Comm comm, int* flag))
PHX_MPI_FUNCTION(int, Comm_remote_size, (MPI_Comm comm, int* size))
PHX_MPI_FUNCTION(int, Comm_remote_group, (MPI_Comm comm, MPI_Group* group))
