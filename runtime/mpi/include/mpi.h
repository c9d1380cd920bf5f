#pragma once
#pragma GCC system_header

/*
 * The Message Passing Interface, version 3.1, for programs that run on Phoenix. The binary
 * interface is MPICH's: a program that was built with either header runs with either library. What
 * is left out (one-sided communication, files, spawning) can be named, but not called; the tools
 * interface is not here.
 */

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 3
#define MPI_SUBVERSION 1

#include "phx_mpi_constants.h"
#include "phx_mpi_handles.h"

typedef long MPI_Aint;
typedef long MPI_Count;
typedef long MPI_Offset;
typedef int MPI_Fint;

/* The outcome of a receive. The first two fields are the library's: the number of bytes, with the
 * sign that the request was cancelled in the lowest bit of the second. */
typedef struct MPI_Status {
  int count_lo;
  int count_hi_and_cancelled;
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
} MPI_Status;

#define MPI_STATUS_IGNORE ((MPI_Status*)1)
#define MPI_STATUSES_IGNORE ((MPI_Status*)1)
#define MPI_ERRCODES_IGNORE ((int*)0)
#define MPI_BOTTOM ((void*)0)
#define MPI_IN_PLACE ((void*)-1)
#define MPI_ARGV_NULL ((char**)0)
#define MPI_ARGVS_NULL ((char***)0)
#define MPI_F_STATUS_SIZE 5
extern int* const MPI_UNWEIGHTED;
extern int* const MPI_WEIGHTS_EMPTY;
extern MPI_Fint* MPI_F_STATUS_IGNORE;
extern MPI_Fint* MPI_F_STATUSES_IGNORE;

/* What a program gives to the library to be called. */
typedef void(MPI_User_function)(void*, void*, int*, MPI_Datatype*);
typedef int(MPI_Comm_copy_attr_function)(MPI_Comm, int, void*, void*, void*, int*);
typedef int(MPI_Comm_delete_attr_function)(MPI_Comm, int, void*, void*);
typedef int(MPI_Type_copy_attr_function)(MPI_Datatype, int, void*, void*, void*, int*);
typedef int(MPI_Type_delete_attr_function)(MPI_Datatype, int, void*, void*);
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
typedef void(MPI_Comm_errhandler_function)(MPI_Comm*, int*, ...);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_Comm_errhandler_function MPI_Handler_function;
typedef int(MPI_Grequest_query_function)(void*, MPI_Status*);
typedef int(MPI_Grequest_free_function)(void*);
typedef int(MPI_Grequest_cancel_function)(void*, int);

#define MPI_NULL_COPY_FN ((MPI_Copy_function*)0)
#define MPI_NULL_DELETE_FN ((MPI_Delete_function*)0)
#define MPI_DUP_FN MPIR_Dup_fn
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function*)0)
#define MPI_COMM_DUP_FN ((MPI_Comm_copy_attr_function*)MPIR_Dup_fn)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function*)0)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function*)0)
#define MPI_TYPE_DUP_FN ((MPI_Type_copy_attr_function*)MPIR_Dup_fn)
int MPIR_Dup_fn(MPI_Comm from, int key, void* extra_state, void* value, void* copy, int* flag);

/* Handles of C and of Fortran are the same numbers. */
#define MPI_Comm_c2f(comm) ((MPI_Fint)(comm))
#define MPI_Comm_f2c(comm) ((MPI_Comm)(comm))
#define MPI_Type_c2f(datatype) ((MPI_Fint)(datatype))
#define MPI_Type_f2c(datatype) ((MPI_Datatype)(datatype))
#define MPI_Group_c2f(group) ((MPI_Fint)(group))
#define MPI_Group_f2c(group) ((MPI_Group)(group))
#define MPI_Info_c2f(info) ((MPI_Fint)(info))
#define MPI_Info_f2c(info) ((MPI_Info)(info))
#define MPI_Request_c2f(request) ((MPI_Fint)(request))
#define MPI_Request_f2c(request) ((MPI_Request)(request))
#define MPI_Op_c2f(op) ((MPI_Fint)(op))
#define MPI_Op_f2c(op) ((MPI_Op)(op))
#define MPI_Errhandler_c2f(errhandler) ((MPI_Fint)(errhandler))
#define MPI_Errhandler_f2c(errhandler) ((MPI_Errhandler)(errhandler))
#define MPI_Message_c2f(message) ((MPI_Fint)(message))
#define MPI_Message_f2c(message) ((MPI_Message)(message))
#define MPI_Win_c2f(win) ((MPI_Fint)(win))
#define MPI_Win_f2c(win) ((MPI_Win)(win))
#define PMPI_Comm_c2f(comm) MPI_Comm_c2f(comm)
#define PMPI_Comm_f2c(comm) MPI_Comm_f2c(comm)
#define PMPI_Type_c2f(datatype) MPI_Type_c2f(datatype)
#define PMPI_Type_f2c(datatype) MPI_Type_f2c(datatype)
#define PMPI_Group_c2f(group) MPI_Group_c2f(group)
#define PMPI_Group_f2c(group) MPI_Group_f2c(group)
#define PMPI_Info_c2f(info) MPI_Info_c2f(info)
#define PMPI_Info_f2c(info) MPI_Info_f2c(info)
#define PMPI_Request_c2f(request) MPI_Request_c2f(request)
#define PMPI_Request_f2c(request) MPI_Request_f2c(request)
#define PMPI_Op_c2f(op) MPI_Op_c2f(op)
#define PMPI_Op_f2c(op) MPI_Op_f2c(op)
#define PMPI_Errhandler_c2f(errhandler) MPI_Errhandler_c2f(errhandler)
#define PMPI_Errhandler_f2c(errhandler) MPI_Errhandler_f2c(errhandler)
#define PMPI_Message_c2f(message) MPI_Message_c2f(message)
#define PMPI_Message_f2c(message) MPI_Message_f2c(message)
#define PMPI_Win_c2f(win) MPI_Win_c2f(win)
#define PMPI_Win_f2c(win) MPI_Win_f2c(win)

/* Every function has two names, so that a tool can stand between the program and the library. */
#define PHX_MPI_FUNCTION(result, name, parameters) \
  result MPI_##name parameters;                    \
  result PMPI_##name parameters;

#include "phx_mpi_datatypes.h"
#include "phx_mpi_objects.h"
#include "phx_mpi_messages.h"
#include "phx_mpi_communicators.h"
#include "phx_mpi_collectives.h"
#include "phx_mpi_left_out.h"
#include "phx_mpi_files.h"

#undef PHX_MPI_FUNCTION

#ifdef __cplusplus
}
#endif
