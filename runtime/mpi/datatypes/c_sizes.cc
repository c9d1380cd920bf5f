#include <map>
#include <tuple>

#include "runtime/mpi/base/entry.h"
#include "runtime/mpi/datatypes/datatype.h"

using namespace phx::mpi;

namespace {

/// A datatype of Fortran by the class and the size of its variables.
struct Sized {
  int type_class, size;
  MPI_Datatype datatype;
};
constexpr Sized kSized[] = {
    {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
    {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},
    {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},   {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},
    {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},   {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
    {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16}, {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}};

MPI_Datatype sized(int type_class, int size) {
  for (const Sized& s : kSized) {
    if (s.type_class == type_class && s.size == size) return s.datatype;
  }
  throw Failure(MPI_ERR_ARG, "there is no datatype of this class and size");
}

/// The datatype that was asked for with these numbers; the same ones give the same handle for ever.
MPI_Datatype f90(int combiner, std::vector<int> asked, MPI_Datatype like) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<std::pair<int, std::vector<int>>, MPI_Datatype>;
  const std::lock_guard lock(mutex);
  MPI_Datatype& handle = known[{combiner, asked}];
  if (handle != 0) return handle;
  auto* made =
      new Datatype(datatype_of(like).shared_layout(), {combiner, std::move(asked), {}, {}});
  made->commit();
  return handle = datatypes().open(made);
}

/// Real and complex numbers by digits and exponent, as gfortran chooses them: between double
/// precision and IEEE's quad is the extended one of C.
struct Precision {
  int digits, range;
  MPI_Datatype real, complex;
};
constexpr Precision kPrecisions[] = {{6, 37, MPI_REAL4, MPI_COMPLEX8},
                                     {15, 307, MPI_REAL8, MPI_COMPLEX16},
                                     {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
                                     {33, 4931, MPI_REAL16, MPI_COMPLEX32}};

const Precision& precision(int digits, int range) {
  require(digits != MPI_UNDEFINED || range != MPI_UNDEFINED, MPI_ERR_ARG,
          "both digits and range are undefined");
  for (const Precision& p : kPrecisions) {
    if (digits <= p.digits && range <= p.range) return p;
  }
  throw Failure(MPI_ERR_ARG, "there are no real numbers as precise");
}

int integer_size(int range) {
  constexpr std::pair<int, int> kSizes[] = {{2, 1}, {4, 2}, {9, 4}, {18, 8}};
  for (const auto& [digits, size] : kSizes) {
    if (range <= digits) return size;
  }
  throw Failure(MPI_ERR_ARG, "there are no integers as large");
}

}  // namespace

PHX_MPI_ENTRY(int, Type_match_size, (int type_class, int size, MPI_Datatype* datatype)) {
  return enter("MPI_Type_match_size", [&] {
    need({datatype});
    *datatype = sized(type_class, size);
  });
}

PHX_MPI_ENTRY(int, Type_create_f90_real, (int digits, int range, MPI_Datatype* datatype)) {
  return enter("MPI_Type_create_f90_real", [&] {
    need({datatype});
    *datatype = f90(MPI_COMBINER_F90_REAL, {digits, range}, precision(digits, range).real);
  });
}

PHX_MPI_ENTRY(int, Type_create_f90_complex, (int digits, int range, MPI_Datatype* datatype)) {
  return enter("MPI_Type_create_f90_complex", [&] {
    need({datatype});
    *datatype = f90(MPI_COMBINER_F90_COMPLEX, {digits, range}, precision(digits, range).complex);
  });
}

PHX_MPI_ENTRY(int, Type_create_f90_integer, (int range, MPI_Datatype* datatype)) {
  return enter("MPI_Type_create_f90_integer", [&] {
    need({datatype});
    *datatype =
        f90(MPI_COMBINER_F90_INTEGER, {range}, sized(MPI_TYPECLASS_INTEGER, integer_size(range)));
  });
}
