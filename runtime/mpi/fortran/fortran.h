#pragma once

#include <cstddef>
#include <utility>

#include "runtime/mpi/include/mpi.h"

/// How a function of C becomes one of Fortran: all arguments are addresses, the last that of the
/// error code. Handles and logical values are the same numbers in both languages.

/// Where programs keep what stands for "none" and the like: named blocks that mpif.h declares.
struct PhxFortranMarks {
  int bottom, in_place, status_ignore[5];
};
struct PhxFortranStatuses {
  int statuses_ignore[5], error_codes_ignore;
};
extern "C" {
extern PhxFortranMarks mpipriv1_;
extern PhxFortranStatuses mpipriv2_;
extern char mpiprivc_[2];
extern int mpifcmb5_;  ///< MPI_UNWEIGHTED
extern int mpifcmb9_;  ///< MPI_WEIGHTS_EMPTY
}

namespace phx::mpi::fortran {

/// What C gets for the address that Fortran gives. Values are read; addresses are passed on.
template <class T>
struct Argument {
  static T take(void* given) { return *static_cast<T*>(given); }
};
template <class T>
struct Argument<T*> {
  static T* take(void* given) { return static_cast<T*>(given); }
};
template <class R, class... P>
struct Argument<R (*)(P...)> {
  static auto take(void* given) { return reinterpret_cast<R (*)(P...)>(given); }
};
template <class R, class... P>
struct Argument<R (*)(P..., ...)> {
  static auto take(void* given) { return reinterpret_cast<R (*)(P..., ...)>(given); }
};
template <>
struct Argument<void*> {
  static void* take(void* given) {
    if (given == &mpipriv1_.bottom) return MPI_BOTTOM;
    return given == &mpipriv1_.in_place ? MPI_IN_PLACE : given;
  }
};
template <>
struct Argument<const void*> : Argument<void*> {};
template <>
struct Argument<MPI_Status*> {
  static MPI_Status* take(void* given) {
    const bool is_none = given == mpipriv1_.status_ignore || given == mpipriv2_.statuses_ignore;
    return is_none ? MPI_STATUS_IGNORE : static_cast<MPI_Status*>(given);
  }
};
template <>
struct Argument<int*> {
  static int* take(void* given) {
    if (given == &mpifcmb5_) return MPI_UNWEIGHTED;
    return given == &mpifcmb9_ ? MPI_WEIGHTS_EMPTY : static_cast<int*>(given);
  }
};
template <>
struct Argument<const int*> : Argument<int*> {};

template <std::size_t kCount, class... P, std::size_t... kPlaces>
void call(int (*function)(P...), void* const (&given)[kCount], std::index_sequence<kPlaces...>) {
  static_assert(kCount == sizeof...(P) + 1, "the number of arguments, with the error code");
  const int error = function(Argument<P>::take(given[kPlaces])...);
  if (given[kCount - 1] != nullptr) *static_cast<int*>(given[kCount - 1]) = error;
}
template <std::size_t kCount, class... P>
void call(int (*function)(P...), void* const (&given)[kCount]) {
  call(function, given, std::index_sequence_for<P...>{});
}

}  // namespace phx::mpi::fortran

/// Begins the definition of pmpi_<name>_, which is also mpi_<name>_, and with two underscores.
#define PHX_FORTRAN_ENTRY(result, name, parameters)                                             \
  extern "C" __attribute__((weak, alias("pmpi_" #name "_"))) result mpi_##name##_ parameters;   \
  extern "C" __attribute__((weak, alias("pmpi_" #name "_"))) result mpi_##name##__ parameters;  \
  extern "C" __attribute__((weak, alias("pmpi_" #name "_"))) result pmpi_##name##__ parameters; \
  extern "C" result pmpi_##name##_ parameters

/// A function of `count` arguments, with the error code, that needs nothing else.
#define PHX_FORTRAN(count, name, Name)                      \
  PHX_FORTRAN_ENTRY(void, name, (PHX_PARAMETERS_##count)) { \
    void* const given[] = {PHX_ARGUMENTS_##count};          \
    phx::mpi::fortran::call(&MPI_##Name, given);            \
  }

#define PHX_PARAMETERS_1 void* a1
#define PHX_PARAMETERS_2 PHX_PARAMETERS_1, void* a2
#define PHX_PARAMETERS_3 PHX_PARAMETERS_2, void* a3
#define PHX_PARAMETERS_4 PHX_PARAMETERS_3, void* a4
#define PHX_PARAMETERS_5 PHX_PARAMETERS_4, void* a5
#define PHX_PARAMETERS_6 PHX_PARAMETERS_5, void* a6
#define PHX_PARAMETERS_7 PHX_PARAMETERS_6, void* a7
#define PHX_PARAMETERS_8 PHX_PARAMETERS_7, void* a8
#define PHX_PARAMETERS_9 PHX_PARAMETERS_8, void* a9
#define PHX_PARAMETERS_10 PHX_PARAMETERS_9, void* a10
#define PHX_PARAMETERS_11 PHX_PARAMETERS_10, void* a11
#define PHX_PARAMETERS_12 PHX_PARAMETERS_11, void* a12
#define PHX_PARAMETERS_13 PHX_PARAMETERS_12, void* a13
#define PHX_PARAMETERS_14 PHX_PARAMETERS_13, void* a14
#define PHX_ARGUMENTS_1 a1
#define PHX_ARGUMENTS_2 PHX_ARGUMENTS_1, a2
#define PHX_ARGUMENTS_3 PHX_ARGUMENTS_2, a3
#define PHX_ARGUMENTS_4 PHX_ARGUMENTS_3, a4
#define PHX_ARGUMENTS_5 PHX_ARGUMENTS_4, a5
#define PHX_ARGUMENTS_6 PHX_ARGUMENTS_5, a6
#define PHX_ARGUMENTS_7 PHX_ARGUMENTS_6, a7
#define PHX_ARGUMENTS_8 PHX_ARGUMENTS_7, a8
#define PHX_ARGUMENTS_9 PHX_ARGUMENTS_8, a9
#define PHX_ARGUMENTS_10 PHX_ARGUMENTS_9, a10
#define PHX_ARGUMENTS_11 PHX_ARGUMENTS_10, a11
#define PHX_ARGUMENTS_12 PHX_ARGUMENTS_11, a12
#define PHX_ARGUMENTS_13 PHX_ARGUMENTS_12, a13
#define PHX_ARGUMENTS_14 PHX_ARGUMENTS_13, a14
