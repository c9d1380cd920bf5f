#pragma once
#pragma GCC system_header

/* Functions about the library itself and about objects other than datatypes and communicators. */

PHX_MPI_FUNCTION(int, Get_version, (int* version, int* subversion))
PHX_MPI_FUNCTION(int, Get_library_version, (char* version, int* length))
PHX_MPI_FUNCTION(int, Get_processor_name, (char* name, int* length))
PHX_MPI_FUNCTION(double, Wtime, (void))
PHX_MPI_FUNCTION(double, Wtick, (void))
PHX_MPI_FUNCTION(int, Alloc_mem, (MPI_Aint size, MPI_Info info, void* base))
PHX_MPI_FUNCTION(int, Free_mem, (void* base))
PHX_MPI_FUNCTION(int, Pcontrol, (const int level, ...))

/* Errors. */
PHX_MPI_FUNCTION(int, Error_class, (int code, int* error_class))
PHX_MPI_FUNCTION(int, Error_string, (int code, char* text, int* length))
PHX_MPI_FUNCTION(int, Add_error_class, (int* error_class))
PHX_MPI_FUNCTION(int, Add_error_code, (int error_class, int* code))
PHX_MPI_FUNCTION(int, Add_error_string, (int code, const char* text))
PHX_MPI_FUNCTION(int, Comm_create_errhandler, (MPI_Comm_errhandler_function*, MPI_Errhandler*))
PHX_MPI_FUNCTION(int, Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler))
PHX_MPI_FUNCTION(int, Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler* errhandler))
PHX_MPI_FUNCTION(int, Comm_call_errhandler, (MPI_Comm comm, int code))
PHX_MPI_FUNCTION(int, Errhandler_free, (MPI_Errhandler * errhandler))
PHX_MPI_FUNCTION(int, Errhandler_create, (MPI_Handler_function*, MPI_Errhandler*))
PHX_MPI_FUNCTION(int, Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler))
PHX_MPI_FUNCTION(int, Errhandler_get, (MPI_Comm comm, MPI_Errhandler* errhandler))

/* Info objects. */
PHX_MPI_FUNCTION(int, Info_create, (MPI_Info * info))
PHX_MPI_FUNCTION(int, Info_dup, (MPI_Info info, MPI_Info* copy))
PHX_MPI_FUNCTION(int, Info_free, (MPI_Info * info))
PHX_MPI_FUNCTION(int, Info_set, (MPI_Info info, const char* key, const char* value))
PHX_MPI_FUNCTION(int, Info_delete, (MPI_Info info, const char* key))
PHX_MPI_FUNCTION(int, Info_get, (MPI_Info, const char* key, int size, char* value, int* flag))
PHX_MPI_FUNCTION(int, Info_get_valuelen, (MPI_Info, const char* key, int* length, int* flag))
PHX_MPI_FUNCTION(int, Info_get_nkeys, (MPI_Info info, int* count))
PHX_MPI_FUNCTION(int, Info_get_nthkey, (MPI_Info info, int number, char* key))

/* Attributes. */
PHX_MPI_FUNCTION(int, Comm_create_keyval,
                 (MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*, int*, void*))
PHX_MPI_FUNCTION(int, Comm_free_keyval, (int* key))
PHX_MPI_FUNCTION(int, Comm_set_attr, (MPI_Comm comm, int key, void* value))
PHX_MPI_FUNCTION(int, Comm_get_attr, (MPI_Comm comm, int key, void* value, int* flag))
PHX_MPI_FUNCTION(int, Comm_delete_attr, (MPI_Comm comm, int key))
PHX_MPI_FUNCTION(int, Keyval_create, (MPI_Copy_function*, MPI_Delete_function*, int*, void*))
PHX_MPI_FUNCTION(int, Keyval_free, (int* key))
PHX_MPI_FUNCTION(int, Attr_put, (MPI_Comm comm, int key, void* value))
PHX_MPI_FUNCTION(int, Attr_get, (MPI_Comm comm, int key, void* value, int* flag))
PHX_MPI_FUNCTION(int, Attr_delete, (MPI_Comm comm, int key))
PHX_MPI_FUNCTION(int, Type_create_keyval,
                 (MPI_Type_copy_attr_function*, MPI_Type_delete_attr_function*, int*, void*))
PHX_MPI_FUNCTION(int, Type_free_keyval, (int* key))
PHX_MPI_FUNCTION(int, Type_set_attr, (MPI_Datatype datatype, int key, void* value))
PHX_MPI_FUNCTION(int, Type_get_attr, (MPI_Datatype datatype, int key, void* value, int* flag))
PHX_MPI_FUNCTION(int, Type_delete_attr, (MPI_Datatype datatype, int key))
PHX_MPI_FUNCTION(int, Comm_set_name, (MPI_Comm comm, const char* name))
PHX_MPI_FUNCTION(int, Comm_get_name, (MPI_Comm comm, char* name, int* length))

/* Groups. */
PHX_MPI_FUNCTION(int, Group_size, (MPI_Group group, int* size))
PHX_MPI_FUNCTION(int, Group_rank, (MPI_Group group, int* rank))
PHX_MPI_FUNCTION(int, Group_translate_ranks, (MPI_Group, int, const int*, MPI_Group, int*))
PHX_MPI_FUNCTION(int, Group_compare, (MPI_Group a, MPI_Group b, int* result))
PHX_MPI_FUNCTION(int, Group_union, (MPI_Group a, MPI_Group b, MPI_Group* result))
PHX_MPI_FUNCTION(int, Group_intersection, (MPI_Group a, MPI_Group b, MPI_Group* result))
PHX_MPI_FUNCTION(int, Group_difference, (MPI_Group a, MPI_Group b, MPI_Group* result))
PHX_MPI_FUNCTION(int, Group_incl, (MPI_Group, int n, const int* ranks, MPI_Group* result))
PHX_MPI_FUNCTION(int, Group_excl, (MPI_Group, int n, const int* ranks, MPI_Group* result))
PHX_MPI_FUNCTION(int, Group_range_incl, (MPI_Group, int n, int ranges[][3], MPI_Group* result))
PHX_MPI_FUNCTION(int, Group_range_excl, (MPI_Group, int n, int ranges[][3], MPI_Group* result))
PHX_MPI_FUNCTION(int, Group_free, (MPI_Group * group))
PHX_MPI_FUNCTION(int, Dims_create, (int processors, int count, int* dims))

/* Operations. */
PHX_MPI_FUNCTION(int, Op_create, (MPI_User_function * function, int commutes, MPI_Op* op))
PHX_MPI_FUNCTION(int, Op_free, (MPI_Op * op))
PHX_MPI_FUNCTION(int, Op_commutative, (MPI_Op op, int* commutes))
PHX_MPI_FUNCTION(int, Reduce_local, (const void* in, void* inout, int, MPI_Datatype, MPI_Op))
