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

/// Bytes of a real number with so many digits and so large an exponent.
int real_size(int digits, int range) {
  require(digits != MPI_UNDEFINED || range != MPI_UNDEFINED, MPI_ERR_ARG,
          "both digits and range are undefined");
  if (digits <= 6 && range <= 37) return 4;
  if (digits <= 15 && range <= 307) return 8;
  require(digits <= 33 && range <= 4931, MPI_ERR_ARG, "there are no real numbers as precise");
  return 16;
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
    *datatype = f90(MPI_COMBINER_F90_REAL, {digits, range},
                    sized(MPI_TYPECLASS_REAL, real_size(digits, range)));
  });
}

PHX_MPI_ENTRY(int, Type_create_f90_complex, (int digits, int range, MPI_Datatype* datatype)) {
  return enter("MPI_Type_create_f90_complex", [&] {
    need({datatype});
    *datatype = f90(MPI_COMBINER_F90_COMPLEX, {digits, range},
                    sized(MPI_TYPECLASS_COMPLEX, 2 * real_size(digits, range)));
  });
}

PHX_MPI_ENTRY(int, Type_create_f90_integer, (int range, MPI_Datatype* datatype)) {
  return enter("MPI_Type_create_f90_integer", [&] {
    need({datatype});
    *datatype =
        f90(MPI_COMBINER_F90_INTEGER, {range}, sized(MPI_TYPECLASS_INTEGER, integer_size(range)));
  });
}
