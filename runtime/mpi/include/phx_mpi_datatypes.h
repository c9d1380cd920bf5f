#pragma once
#pragma GCC system_header

/* Functions about datatypes. */

PHX_MPI_FUNCTION(int, Type_contiguous, (int count, MPI_Datatype, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_vector, (int, int length, int stride, MPI_Datatype, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_create_hvector,
                 (int count, int length, MPI_Aint stride, MPI_Datatype, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_indexed,
                 (int count, const int* lengths, const int* places, MPI_Datatype, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_create_hindexed,
                 (int, const int* lengths, const MPI_Aint* places, MPI_Datatype, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_create_indexed_block,
                 (int count, int length, const int* places, MPI_Datatype, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_create_hindexed_block,
                 (int count, int length, const MPI_Aint* places, MPI_Datatype, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_create_struct,
                 (int, const int* lengths, const MPI_Aint* places, const MPI_Datatype*,
                  MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_create_subarray,
                 (int dims, const int* sizes, const int* subsizes, const int* starts, int order,
                  MPI_Datatype, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_create_darray,
                 (int size, int rank, int dims, const int* sizes, const int* distributions,
                  const int* arguments, const int* processors, int order, MPI_Datatype,
                  MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_create_resized,
                 (MPI_Datatype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_dup, (MPI_Datatype datatype, MPI_Datatype* copy))
PHX_MPI_FUNCTION(int, Type_create_f90_real, (int digits, int range, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_create_f90_complex, (int digits, int range, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_create_f90_integer, (int range, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_hvector, (int, int, MPI_Aint stride, MPI_Datatype, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_hindexed,
                 (int count, int* lengths, MPI_Aint* places, MPI_Datatype, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_struct,
                 (int count, int* lengths, MPI_Aint* places, MPI_Datatype*, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_commit, (MPI_Datatype * datatype))
PHX_MPI_FUNCTION(int, Type_free, (MPI_Datatype * datatype))

/* What a datatype is. */
PHX_MPI_FUNCTION(int, Type_size, (MPI_Datatype datatype, int* size))
PHX_MPI_FUNCTION(int, Type_size_x, (MPI_Datatype datatype, MPI_Count* size))
PHX_MPI_FUNCTION(int, Type_get_extent, (MPI_Datatype, MPI_Aint* lb, MPI_Aint* extent))
PHX_MPI_FUNCTION(int, Type_get_extent_x, (MPI_Datatype, MPI_Count* lb, MPI_Count* extent))
PHX_MPI_FUNCTION(int, Type_get_true_extent, (MPI_Datatype, MPI_Aint* lb, MPI_Aint* extent))
PHX_MPI_FUNCTION(int, Type_get_true_extent_x, (MPI_Datatype, MPI_Count* lb, MPI_Count* extent))
PHX_MPI_FUNCTION(int, Type_extent, (MPI_Datatype datatype, MPI_Aint* extent))
PHX_MPI_FUNCTION(int, Type_lb, (MPI_Datatype datatype, MPI_Aint* lb))
PHX_MPI_FUNCTION(int, Type_ub, (MPI_Datatype datatype, MPI_Aint* ub))
PHX_MPI_FUNCTION(int, Type_get_envelope,
                 (MPI_Datatype, int* integers, int* addresses, int* datatypes, int* combiner))
PHX_MPI_FUNCTION(int, Type_get_contents,
                 (MPI_Datatype, int, int, int, int* integers, MPI_Aint* addresses, MPI_Datatype*))
PHX_MPI_FUNCTION(int, Type_set_name, (MPI_Datatype datatype, const char* name))
PHX_MPI_FUNCTION(int, Type_get_name, (MPI_Datatype datatype, char* name, int* length))
PHX_MPI_FUNCTION(int, Type_match_size, (int type_class, int size, MPI_Datatype*))

/* Addresses, packing, and counting what came. */
PHX_MPI_FUNCTION(int, Get_address, (const void* location, MPI_Aint* address))
PHX_MPI_FUNCTION(int, Address, (void* location, MPI_Aint* address))
PHX_MPI_FUNCTION(MPI_Aint, Aint_add, (MPI_Aint base, MPI_Aint displacement))
PHX_MPI_FUNCTION(MPI_Aint, Aint_diff, (MPI_Aint a, MPI_Aint b))
PHX_MPI_FUNCTION(int, Pack,
                 (const void* in, int count, MPI_Datatype, void* out, int size, int* position,
                  MPI_Comm))
PHX_MPI_FUNCTION(int, Unpack,
                 (const void* in, int size, int* position, void* out, int count, MPI_Datatype,
                  MPI_Comm))
PHX_MPI_FUNCTION(int, Pack_size, (int count, MPI_Datatype datatype, MPI_Comm comm, int* size))
PHX_MPI_FUNCTION(int, Pack_external,
                 (const char* format, const void* in, int count, MPI_Datatype, void* out,
                  MPI_Aint size, MPI_Aint* position))
PHX_MPI_FUNCTION(int, Unpack_external,
                 (const char* format, const void* in, MPI_Aint size, MPI_Aint* position, void* out,
                  int count, MPI_Datatype))
PHX_MPI_FUNCTION(int, Pack_external_size,
                 (const char* format, int count, MPI_Datatype, MPI_Aint* size))
PHX_MPI_FUNCTION(int, Get_count, (const MPI_Status*, MPI_Datatype datatype, int* count))
PHX_MPI_FUNCTION(int, Get_elements, (const MPI_Status*, MPI_Datatype, int* count))
PHX_MPI_FUNCTION(int, Get_elements_x, (const MPI_Status*, MPI_Datatype, MPI_Count* count))
PHX_MPI_FUNCTION(int, Status_set_elements, (MPI_Status*, MPI_Datatype, int count))
PHX_MPI_FUNCTION(int, Status_set_elements_x, (MPI_Status*, MPI_Datatype, MPI_Count count))
PHX_MPI_FUNCTION(int, Status_set_cancelled, (MPI_Status * status, int flag))
PHX_MPI_FUNCTION(int, Status_c2f, (const MPI_Status* status, MPI_Fint* fortran))
PHX_MPI_FUNCTION(int, Status_f2c, (const MPI_Fint* fortran, MPI_Status* status))
PHX_MPI_FUNCTION(int, Test_cancelled, (const MPI_Status* status, int* flag))
