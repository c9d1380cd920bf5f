#include <cstring>

#include "runtime/mpi/base/entry.h"
#include "runtime/mpi/datatypes/datatype.h"
#include "runtime/mpi/datatypes/status.h"

using namespace phx::mpi;

namespace {

void check(const MPI_Status* status) {
  require(status != nullptr && status != MPI_STATUS_IGNORE, MPI_ERR_ARG, "there is no status");
}

/// Basic elements in what came, or MPI_UNDEFINED if the last one is cut.
MPI_Count elements_of(const MPI_Status* status, MPI_Datatype datatype) {
  check(status);
  const Signature& signature = *datatype_of(datatype).layout().signature;
  const MPI_Count bytes = bytes_in(*status);
  if (signature.bytes() == 0) return bytes == 0 ? 0 : MPI_UNDEFINED;
  const MPI_Count rest = signature.elements_in(bytes % signature.bytes());
  if (rest == MPI_UNDEFINED) return MPI_UNDEFINED;
  return bytes / signature.bytes() * signature.elements() + rest;
}

void set_elements(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  check(status);
  require(count >= 0, MPI_ERR_COUNT, "the count is negative");
  const Signature& signature = *datatype_of(datatype).layout().signature;
  if (signature.elements() == 0) return set_bytes(*status, 0);
  set_bytes(*status, count / signature.elements() * signature.bytes() +
                         signature.bytes_of(count % signature.elements()));
}

}  // namespace

PHX_MPI_ENTRY(int, Get_count, (const MPI_Status* status, MPI_Datatype datatype, int* count)) {
  return enter("MPI_Get_count", [&] {
    need({count});
    check(status);
    const MPI_Count size = datatype_of(datatype).layout().size();
    const MPI_Count bytes = bytes_in(*status);
    const bool is_whole = size > 0 ? bytes % size == 0 : bytes == 0;
    *count = !is_whole ? MPI_UNDEFINED : int_or_undefined(size > 0 ? bytes / size : 0);
  });
}

PHX_MPI_ENTRY(int, Get_elements, (const MPI_Status* status, MPI_Datatype datatype, int* count)) {
  return enter("MPI_Get_elements", [&] {
    need({count});
    *count = int_or_undefined(elements_of(status, datatype));
  });
}

PHX_MPI_ENTRY(int, Get_elements_x,
              (const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count)) {
  return enter("MPI_Get_elements_x", [&] {
    need({count});
    *count = elements_of(status, datatype);
  });
}

PHX_MPI_ENTRY(int, Status_set_elements, (MPI_Status * status, MPI_Datatype datatype, int count)) {
  return enter("MPI_Status_set_elements", [&] { set_elements(status, datatype, count); });
}

PHX_MPI_ENTRY(int, Status_set_elements_x,
              (MPI_Status * status, MPI_Datatype datatype, MPI_Count count)) {
  return enter("MPI_Status_set_elements_x", [&] { set_elements(status, datatype, count); });
}

PHX_MPI_ENTRY(int, Status_set_cancelled, (MPI_Status * status, int flag)) {
  return enter("MPI_Status_set_cancelled", [&] {
    check(status);
    set_cancelled(*status, flag != 0);
  });
}

PHX_MPI_ENTRY(int, Test_cancelled, (const MPI_Status* status, int* flag)) {
  return enter("MPI_Test_cancelled", [&] {
    need({flag});
    check(status);
    *flag = is_cancelled(*status) ? 1 : 0;
  });
}

PHX_MPI_ENTRY(int, Status_c2f, (const MPI_Status* status, MPI_Fint* fortran)) {
  return enter("MPI_Status_c2f", [&] {
    check(status);
    require(fortran != nullptr, MPI_ERR_ARG, "there is no room for the status");
    std::memcpy(fortran, status, sizeof *status);
  });
}

PHX_MPI_ENTRY(int, Status_f2c, (const MPI_Fint* fortran, MPI_Status* status)) {
  return enter("MPI_Status_f2c", [&] {
    check(status);
    const bool is_meant =
        fortran != nullptr && fortran != MPI_F_STATUS_IGNORE && fortran != MPI_F_STATUSES_IGNORE;
    require(is_meant, MPI_ERR_ARG, "there is no status");
    std::memcpy(status, fortran, sizeof *status);
  });
}
