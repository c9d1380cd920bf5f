#pragma once
#pragma GCC system_header

/* Files: left out as phx_mpi_left_out.h says. */
#define MPI_MODE_CREATE 1
#define MPI_MODE_RDONLY 2
#define MPI_MODE_WRONLY 4
#define MPI_MODE_RDWR 8
#define MPI_MODE_DELETE_ON_CLOSE 16
#define MPI_MODE_UNIQUE_OPEN 32
#define MPI_MODE_EXCL 64
#define MPI_MODE_APPEND 128
#define MPI_MODE_SEQUENTIAL 256
#define MPI_SEEK_SET 600
#define MPI_SEEK_CUR 602
#define MPI_SEEK_END 604
#define MPI_DISPLACEMENT_CURRENT (-54278278)
typedef void(MPI_File_errhandler_function)(MPI_File*, int*, ...);
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef int(MPI_Datarep_extent_function)(MPI_Datatype, MPI_Aint*, void*);
typedef int(MPI_Datarep_conversion_function)(void*, MPI_Datatype, int, void*, MPI_Offset, void*);
#define MPI_CONVERSION_FN_NULL ((MPI_Datarep_conversion_function*)0)

PHX_MPI_FUNCTION(MPI_Fint, File_c2f, (MPI_File file))
PHX_MPI_FUNCTION(MPI_File, File_f2c, (MPI_Fint file))
PHX_MPI_FUNCTION(int, File_open, (MPI_Comm, const char* name, int mode, MPI_Info, MPI_File* file))
PHX_MPI_FUNCTION(int, File_close, (MPI_File * file))
PHX_MPI_FUNCTION(int, File_delete, (const char* name, MPI_Info info))
PHX_MPI_FUNCTION(int, File_set_size, (MPI_File file, MPI_Offset size))
PHX_MPI_FUNCTION(int, File_preallocate, (MPI_File file, MPI_Offset size))
PHX_MPI_FUNCTION(int, File_get_size, (MPI_File file, MPI_Offset* size))
PHX_MPI_FUNCTION(int, File_get_group, (MPI_File file, MPI_Group* group))
PHX_MPI_FUNCTION(int, File_get_amode, (MPI_File file, int* mode))
PHX_MPI_FUNCTION(int, File_set_info, (MPI_File file, MPI_Info info))
PHX_MPI_FUNCTION(int, File_get_info, (MPI_File file, MPI_Info* info))
PHX_MPI_FUNCTION(int, File_set_view,
                 (MPI_File, MPI_Offset place, MPI_Datatype element, MPI_Datatype view,
                  const char* representation, MPI_Info))
PHX_MPI_FUNCTION(int, File_get_view,
                 (MPI_File, MPI_Offset* place, MPI_Datatype* element, MPI_Datatype* view,
                  char* representation))
PHX_MPI_FUNCTION(int, File_seek, (MPI_File file, MPI_Offset place, int from))
PHX_MPI_FUNCTION(int, File_seek_shared, (MPI_File file, MPI_Offset place, int from))
PHX_MPI_FUNCTION(int, File_get_position, (MPI_File file, MPI_Offset* place))
PHX_MPI_FUNCTION(int, File_get_position_shared, (MPI_File file, MPI_Offset* place))
PHX_MPI_FUNCTION(int, File_get_byte_offset, (MPI_File file, MPI_Offset place, MPI_Offset* bytes))
PHX_MPI_FUNCTION(int, File_get_type_extent, (MPI_File file, MPI_Datatype, MPI_Aint* extent))
PHX_MPI_FUNCTION(int, File_set_atomicity, (MPI_File file, int flag))
PHX_MPI_FUNCTION(int, File_get_atomicity, (MPI_File file, int* flag))
PHX_MPI_FUNCTION(int, File_sync, (MPI_File file))
PHX_MPI_FUNCTION(int, File_create_errhandler, (MPI_File_errhandler_function*, MPI_Errhandler*))
PHX_MPI_FUNCTION(int, File_set_errhandler, (MPI_File file, MPI_Errhandler errhandler))
PHX_MPI_FUNCTION(int, File_get_errhandler, (MPI_File file, MPI_Errhandler* errhandler))
PHX_MPI_FUNCTION(int, File_call_errhandler, (MPI_File file, int code))
PHX_MPI_FUNCTION(int, Register_datarep,
                 (const char* name, MPI_Datarep_conversion_function* read,
                  MPI_Datarep_conversion_function* write, MPI_Datarep_extent_function* extent,
                  void* extra))

/* Reading and writing: at once, or until an outcome is asked for. */
#define PHX_MPI_INTO void *buffer, int count, MPI_Datatype datatype
#define PHX_MPI_FROM const void *buffer, int count, MPI_Datatype datatype
#define PHX_MPI_READ(name, ...) PHX_MPI_FUNCTION(int, File_##name, (MPI_File file, __VA_ARGS__))
PHX_MPI_READ(read, PHX_MPI_INTO, MPI_Status* status)
PHX_MPI_READ(read_all, PHX_MPI_INTO, MPI_Status* status)
PHX_MPI_READ(read_at, MPI_Offset place, PHX_MPI_INTO, MPI_Status* status)
PHX_MPI_READ(read_at_all, MPI_Offset place, PHX_MPI_INTO, MPI_Status* status)
PHX_MPI_READ(read_shared, PHX_MPI_INTO, MPI_Status* status)
PHX_MPI_READ(read_ordered, PHX_MPI_INTO, MPI_Status* status)
PHX_MPI_READ(iread, PHX_MPI_INTO, MPI_Request* request)
PHX_MPI_READ(iread_all, PHX_MPI_INTO, MPI_Request* request)
PHX_MPI_READ(iread_at, MPI_Offset place, PHX_MPI_INTO, MPI_Request* request)
PHX_MPI_READ(iread_at_all, MPI_Offset place, PHX_MPI_INTO, MPI_Request* request)
PHX_MPI_READ(iread_shared, PHX_MPI_INTO, MPI_Request* request)
PHX_MPI_READ(read_all_begin, PHX_MPI_INTO)
PHX_MPI_READ(read_all_end, void* buffer, MPI_Status* status)
PHX_MPI_READ(read_at_all_begin, MPI_Offset place, PHX_MPI_INTO)
PHX_MPI_READ(read_at_all_end, void* buffer, MPI_Status* status)
PHX_MPI_READ(read_ordered_begin, PHX_MPI_INTO)
PHX_MPI_READ(read_ordered_end, void* buffer, MPI_Status* status)
PHX_MPI_READ(write, PHX_MPI_FROM, MPI_Status* status)
PHX_MPI_READ(write_all, PHX_MPI_FROM, MPI_Status* status)
PHX_MPI_READ(write_at, MPI_Offset place, PHX_MPI_FROM, MPI_Status* status)
PHX_MPI_READ(write_at_all, MPI_Offset place, PHX_MPI_FROM, MPI_Status* status)
PHX_MPI_READ(write_shared, PHX_MPI_FROM, MPI_Status* status)
PHX_MPI_READ(write_ordered, PHX_MPI_FROM, MPI_Status* status)
PHX_MPI_READ(iwrite, PHX_MPI_FROM, MPI_Request* request)
PHX_MPI_READ(iwrite_all, PHX_MPI_FROM, MPI_Request* request)
PHX_MPI_READ(iwrite_at, MPI_Offset place, PHX_MPI_FROM, MPI_Request* request)
PHX_MPI_READ(iwrite_at_all, MPI_Offset place, PHX_MPI_FROM, MPI_Request* request)
PHX_MPI_READ(iwrite_shared, PHX_MPI_FROM, MPI_Request* request)
PHX_MPI_READ(write_all_begin, PHX_MPI_FROM)
PHX_MPI_READ(write_all_end, const void* buffer, MPI_Status* status)
PHX_MPI_READ(write_at_all_begin, MPI_Offset place, PHX_MPI_FROM)
PHX_MPI_READ(write_at_all_end, const void* buffer, MPI_Status* status)
PHX_MPI_READ(write_ordered_begin, PHX_MPI_FROM)
PHX_MPI_READ(write_ordered_end, const void* buffer, MPI_Status* status)
#undef PHX_MPI_READ
#undef PHX_MPI_INTO
#undef PHX_MPI_FROM
