#pragma once
#pragma GCC system_header

/*
 * What MPI 3.1 has and this library leaves out: one-sided communication, files, and starting or
 * finding other processes. Programs that mention it compile and are linked without a word, and a
 * call fails with MPI_ERR_UNSUPPORTED_OPERATION. The numbers are those of the MPICH ABI.
 */

/* One-sided communication. */
#define MPI_LOCK_EXCLUSIVE 234
#define MPI_LOCK_SHARED 235
#define MPI_MODE_NOCHECK 1024
#define MPI_MODE_NOSTORE 2048
#define MPI_MODE_NOPUT 4096
#define MPI_MODE_NOPRECEDE 8192
#define MPI_MODE_NOSUCCEED 16384
#define MPI_WIN_FLAVOR_CREATE 1
#define MPI_WIN_FLAVOR_ALLOCATE 2
#define MPI_WIN_FLAVOR_DYNAMIC 3
#define MPI_WIN_FLAVOR_SHARED 4
#define MPI_WIN_SEPARATE 1
#define MPI_WIN_UNIFIED 2
typedef int(MPI_Win_copy_attr_function)(MPI_Win, int, void*, void*, void*, int*);
typedef int(MPI_Win_delete_attr_function)(MPI_Win, int, void*, void*);
typedef void(MPI_Win_errhandler_function)(MPI_Win*, int*, ...);
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function*)0)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function*)0)
#define MPI_WIN_DUP_FN ((MPI_Win_copy_attr_function*)MPIR_Dup_fn)

/* What is read or written where: a buffer here, and elements of a window there. */
#define PHX_MPI_HERE const void *buffer, int count, MPI_Datatype datatype
#define PHX_MPI_THERE int rank, MPI_Aint place, int count_there, MPI_Datatype datatype_there
PHX_MPI_FUNCTION(int, Put, (PHX_MPI_HERE, PHX_MPI_THERE, MPI_Win win))
PHX_MPI_FUNCTION(int, Get, (void*, int count, MPI_Datatype, PHX_MPI_THERE, MPI_Win win))
PHX_MPI_FUNCTION(int, Accumulate, (PHX_MPI_HERE, PHX_MPI_THERE, MPI_Op op, MPI_Win win))
PHX_MPI_FUNCTION(int, Get_accumulate,
                 (PHX_MPI_HERE, void* result, int, MPI_Datatype, PHX_MPI_THERE, MPI_Op, MPI_Win))
PHX_MPI_FUNCTION(int, Fetch_and_op,
                 (const void*, void* result, MPI_Datatype, int rank, MPI_Aint place, MPI_Op,
                  MPI_Win))
PHX_MPI_FUNCTION(int, Compare_and_swap,
                 (const void*, const void* compared, void* result, MPI_Datatype, int rank,
                  MPI_Aint place, MPI_Win))
PHX_MPI_FUNCTION(int, Rput, (PHX_MPI_HERE, PHX_MPI_THERE, MPI_Win win, MPI_Request* request))
PHX_MPI_FUNCTION(int, Rget, (void*, int count, MPI_Datatype, PHX_MPI_THERE, MPI_Win, MPI_Request*))
PHX_MPI_FUNCTION(int, Raccumulate, (PHX_MPI_HERE, PHX_MPI_THERE, MPI_Op, MPI_Win, MPI_Request*))
PHX_MPI_FUNCTION(int, Rget_accumulate,
                 (PHX_MPI_HERE, void* result, int, MPI_Datatype, PHX_MPI_THERE, MPI_Op, MPI_Win,
                  MPI_Request*))
PHX_MPI_FUNCTION(int, Win_create, (void*, MPI_Aint size, int unit, MPI_Info, MPI_Comm, MPI_Win*))
PHX_MPI_FUNCTION(int, Win_allocate,
                 (MPI_Aint size, int unit, MPI_Info, MPI_Comm, void* memory, MPI_Win*))
PHX_MPI_FUNCTION(int, Win_allocate_shared,
                 (MPI_Aint size, int unit, MPI_Info, MPI_Comm, void* memory, MPI_Win*))
PHX_MPI_FUNCTION(int, Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win))
PHX_MPI_FUNCTION(int, Win_shared_query,
                 (MPI_Win, int rank, MPI_Aint* size, int* unit, void* memory))
PHX_MPI_FUNCTION(int, Win_attach, (MPI_Win win, void* memory, MPI_Aint size))
PHX_MPI_FUNCTION(int, Win_detach, (MPI_Win win, const void* memory))
PHX_MPI_FUNCTION(int, Win_free, (MPI_Win * win))
PHX_MPI_FUNCTION(int, Win_get_group, (MPI_Win win, MPI_Group* group))
PHX_MPI_FUNCTION(int, Win_set_info, (MPI_Win win, MPI_Info info))
PHX_MPI_FUNCTION(int, Win_get_info, (MPI_Win win, MPI_Info* info))
PHX_MPI_FUNCTION(int, Win_fence, (int assertions, MPI_Win win))
PHX_MPI_FUNCTION(int, Win_start, (MPI_Group group, int assertions, MPI_Win win))
PHX_MPI_FUNCTION(int, Win_complete, (MPI_Win win))
PHX_MPI_FUNCTION(int, Win_post, (MPI_Group group, int assertions, MPI_Win win))
PHX_MPI_FUNCTION(int, Win_wait, (MPI_Win win))
PHX_MPI_FUNCTION(int, Win_test, (MPI_Win win, int* flag))
PHX_MPI_FUNCTION(int, Win_lock, (int kind, int rank, int assertions, MPI_Win win))
PHX_MPI_FUNCTION(int, Win_lock_all, (int assertions, MPI_Win win))
PHX_MPI_FUNCTION(int, Win_unlock, (int rank, MPI_Win win))
PHX_MPI_FUNCTION(int, Win_unlock_all, (MPI_Win win))
PHX_MPI_FUNCTION(int, Win_flush, (int rank, MPI_Win win))
PHX_MPI_FUNCTION(int, Win_flush_all, (MPI_Win win))
PHX_MPI_FUNCTION(int, Win_flush_local, (int rank, MPI_Win win))
PHX_MPI_FUNCTION(int, Win_flush_local_all, (MPI_Win win))
PHX_MPI_FUNCTION(int, Win_sync, (MPI_Win win))
PHX_MPI_FUNCTION(int, Win_create_errhandler, (MPI_Win_errhandler_function*, MPI_Errhandler*))
PHX_MPI_FUNCTION(int, Win_set_errhandler, (MPI_Win win, MPI_Errhandler errhandler))
PHX_MPI_FUNCTION(int, Win_get_errhandler, (MPI_Win win, MPI_Errhandler* errhandler))
PHX_MPI_FUNCTION(int, Win_call_errhandler, (MPI_Win win, int code))
PHX_MPI_FUNCTION(int, Win_create_keyval,
                 (MPI_Win_copy_attr_function*, MPI_Win_delete_attr_function*, int*, void*))
PHX_MPI_FUNCTION(int, Win_free_keyval, (int* key))
PHX_MPI_FUNCTION(int, Win_set_attr, (MPI_Win win, int key, void* value))
PHX_MPI_FUNCTION(int, Win_get_attr, (MPI_Win win, int key, void* value, int* flag))
PHX_MPI_FUNCTION(int, Win_delete_attr, (MPI_Win win, int key))
PHX_MPI_FUNCTION(int, Win_set_name, (MPI_Win win, const char* name))
PHX_MPI_FUNCTION(int, Win_get_name, (MPI_Win win, char* name, int* length))
#undef PHX_MPI_HERE
#undef PHX_MPI_THERE

/* Starting and finding other processes. */
PHX_MPI_FUNCTION(int, Comm_spawn,
                 (const char* command, char* words[], int most, MPI_Info, int root, MPI_Comm,
                  MPI_Comm* out, int codes[]))
PHX_MPI_FUNCTION(int, Comm_spawn_multiple,
                 (int count, char* commands[], char** words[], const int most[], const MPI_Info[],
                  int root, MPI_Comm, MPI_Comm* out, int codes[]))
PHX_MPI_FUNCTION(int, Comm_accept, (const char* port, MPI_Info, int root, MPI_Comm, MPI_Comm* out))
PHX_MPI_FUNCTION(int, Comm_connect, (const char* port, MPI_Info, int root, MPI_Comm, MPI_Comm* out))
PHX_MPI_FUNCTION(int, Comm_join, (int descriptor, MPI_Comm* out))
PHX_MPI_FUNCTION(int, Open_port, (MPI_Info info, char* port))
PHX_MPI_FUNCTION(int, Close_port, (const char* port))
PHX_MPI_FUNCTION(int, Publish_name, (const char* service, MPI_Info info, const char* port))
PHX_MPI_FUNCTION(int, Unpublish_name, (const char* service, MPI_Info info, const char* port))
PHX_MPI_FUNCTION(int, Lookup_name, (const char* service, MPI_Info info, char* port))
