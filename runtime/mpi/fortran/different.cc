#include <vector>

#include "runtime/mpi/fortran/fortran.h"

// What differs between the languages in more than addresses: places in arrays are counted from one,
// old functions have addresses in default integers, and there is no command line.

using phx::mpi::fortran::Argument;

namespace {

MPI_Status* status_of(void* given) {
  return Argument<MPI_Status*>::take(given);
}

void count_from_one(int* place) {
  if (*place >= 0) ++*place;
}

void count_from_one(const int* count, int* places) {
  for (int i = 0; i < *count; ++i) ++places[i];
}

std::vector<MPI_Aint> wide(const int* count, const int* places) {
  return {places, places + (*count > 0 ? *count : 0)};
}

}  // namespace

PHX_FORTRAN_ENTRY(void, init, (int* error)) {
  *error = MPI_Init(nullptr, nullptr);
}
PHX_FORTRAN_ENTRY(void, init_thread, (const int* required, int* provided, int* error)) {
  *error = MPI_Init_thread(nullptr, nullptr, *required, provided);
}
PHX_FORTRAN_ENTRY(double, wtime, ()) {
  return MPI_Wtime();
}
PHX_FORTRAN_ENTRY(double, wtick, ()) {
  return MPI_Wtick();
}
PHX_FORTRAN_ENTRY(MPI_Aint, aint_add, (const MPI_Aint* base, const MPI_Aint* displacement)) {
  return MPI_Aint_add(*base, *displacement);
}
PHX_FORTRAN_ENTRY(MPI_Aint, aint_diff, (const MPI_Aint* a, const MPI_Aint* b)) {
  return MPI_Aint_diff(*a, *b);
}
PHX_FORTRAN_ENTRY(void, pcontrol, (const int* level)) {
  MPI_Pcontrol(*level);
}
PHX_FORTRAN_ENTRY(void, f_sync_reg, (void*)) {}

// --- Waiting -----------------------------------------------------------------------------------

PHX_FORTRAN_ENTRY(void, waitany,
                  (int* count, int* requests, int* place, void* status, int* error)) {
  *place = MPI_UNDEFINED;
  *error = MPI_Waitany(*count, requests, place, status_of(status));
  count_from_one(place);  // also of one that has failed
}
PHX_FORTRAN_ENTRY(void, testany,
                  (int* count, int* requests, int* place, int* flag, void* status, int* error)) {
  *place = MPI_UNDEFINED;
  *error = MPI_Testany(*count, requests, place, flag, status_of(status));
  count_from_one(place);
}
PHX_FORTRAN_ENTRY(void, waitsome,
                  (int* count, int* requests, int* done, int* places, void* statuses, int* error)) {
  *error = MPI_Waitsome(*count, requests, done, places, status_of(statuses));
  if (*error == MPI_SUCCESS || *error == MPI_ERR_IN_STATUS) count_from_one(done, places);
}
PHX_FORTRAN_ENTRY(void, testsome,
                  (int* count, int* requests, int* done, int* places, void* statuses, int* error)) {
  *error = MPI_Testsome(*count, requests, done, places, status_of(statuses));
  if (*error == MPI_SUCCESS || *error == MPI_ERR_IN_STATUS) count_from_one(done, places);
}
PHX_FORTRAN_ENTRY(void, buffer_detach, (void*, int* size, int* error)) {
  void* memory = nullptr;  // Fortran has no variable for it.
  *error = MPI_Buffer_detach(&memory, size);
}

// --- Addresses in default integers -------------------------------------------------------------

PHX_FORTRAN_ENTRY(void, address, (void* location, int* address, int* error)) {
  MPI_Aint wide = 0;
  *error = MPI_Get_address(Argument<void*>::take(location), &wide);
  *address = static_cast<int>(wide);
}
PHX_FORTRAN_ENTRY(void, type_extent, (const int* datatype, int* extent, int* error)) {
  MPI_Aint lb = 0;
  MPI_Aint wide = 0;
  *error = MPI_Type_get_extent(*datatype, &lb, &wide);
  *extent = static_cast<int>(wide);
}
PHX_FORTRAN_ENTRY(void, type_lb, (const int* datatype, int* lb, int* error)) {
  MPI_Aint wide = 0;
  MPI_Aint extent = 0;
  *error = MPI_Type_get_extent(*datatype, &wide, &extent);
  *lb = static_cast<int>(wide);
}
PHX_FORTRAN_ENTRY(void, type_ub, (const int* datatype, int* ub, int* error)) {
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  *error = MPI_Type_get_extent(*datatype, &lb, &extent);
  *ub = static_cast<int>(lb + extent);
}
PHX_FORTRAN_ENTRY(void, type_hvector,
                  (const int* count, const int* length, const int* stride, const int* datatype,
                   int* made, int* error)) {
  *error = MPI_Type_create_hvector(*count, *length, *stride, *datatype, made);
}
PHX_FORTRAN_ENTRY(void, type_hindexed,
                  (const int* count, const int* lengths, const int* places, const int* datatype,
                   int* made, int* error)) {
  *error = MPI_Type_create_hindexed(*count, lengths, wide(count, places).data(), *datatype, made);
}
PHX_FORTRAN_ENTRY(void, type_struct,
                  (const int* count, const int* lengths, const int* places, const int* datatypes,
                   int* made, int* error)) {
  *error = MPI_Type_create_struct(*count, lengths, wide(count, places).data(), datatypes, made);
}
