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

// The same as binaries of MPICH call it, which were compiled with its module: of one, and of
// several.
#define PHX_SIZEOF_OF_MODULE(kind, bytes)                                            \
  extern "C" void __mpi_sizeofs_MOD_mpi_sizeof_##kind(void* /*any*/, MPI_Fint* size, \
                                                      MPI_Fint* error) {             \
    *size = bytes;                                                                   \
    *error = MPI_SUCCESS;                                                            \
  }                                                                                  \
  extern "C" __attribute__((alias("__mpi_sizeofs_MOD_mpi_sizeof_" #kind))) void      \
      __mpi_sizeofs_MOD_mpi_sizeof_##kind##v(void* any, MPI_Fint* size, MPI_Fint* error)

PHX_SIZEOF_OF_MODULE(ch, 1);
PHX_SIZEOF_OF_MODULE(cx, 8);
PHX_SIZEOF_OF_MODULE(d, 8);
PHX_SIZEOF_OF_MODULE(i, 4);
PHX_SIZEOF_OF_MODULE(i1, 1);
PHX_SIZEOF_OF_MODULE(i2, 2);
PHX_SIZEOF_OF_MODULE(i8, 8);
PHX_SIZEOF_OF_MODULE(l, 4);
PHX_SIZEOF_OF_MODULE(r, 4);
