#include "runtime/mpi/include/mpi.h"

// MPI_SIZEOF of the module: one function for each type and kind of its argument, which is not
// looked at. The module says which is which.
#define PHX_SIZEOF(type_and_kind, bytes)                                                          \
  extern "C" void mpi_sizeof_##type_and_kind##_(void* /*any*/, MPI_Fint* size, MPI_Fint* error) { \
    *size = bytes;                                                                                \
    *error = MPI_SUCCESS;                                                                         \
  }

PHX_SIZEOF(character1, 1)
PHX_SIZEOF(complex10, 32)
PHX_SIZEOF(complex16, 32)
PHX_SIZEOF(complex4, 8)
PHX_SIZEOF(complex8, 16)
PHX_SIZEOF(integer1, 1)
PHX_SIZEOF(integer16, 16)
PHX_SIZEOF(integer2, 2)
PHX_SIZEOF(integer4, 4)
PHX_SIZEOF(integer8, 8)
PHX_SIZEOF(logical1, 1)
PHX_SIZEOF(logical2, 2)
PHX_SIZEOF(logical4, 4)
PHX_SIZEOF(logical8, 8)
PHX_SIZEOF(real10, 16)
PHX_SIZEOF(real16, 16)
PHX_SIZEOF(real4, 4)
PHX_SIZEOF(real8, 8)
