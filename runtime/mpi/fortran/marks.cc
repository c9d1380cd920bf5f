#include "runtime/mpi/fortran/fortran.h"

// The program's own blocks of these names take their place when it is linked.
PhxFortranMarks mpipriv1_;
PhxFortranStatuses mpipriv2_;
char mpiprivc_[2];
int mpifcmb5_;
int mpifcmb9_;
PHX_FORTRAN_ENTRY(void, conversion_fn_null, ()) {}  // never called

namespace {

/// C sees the same marks.
[[gnu::constructor]] void tell_marks() {
  MPI_F_STATUS_IGNORE = mpipriv1_.status_ignore;
  MPI_F_STATUSES_IGNORE = mpipriv2_.statuses_ignore;
}

}  // namespace
