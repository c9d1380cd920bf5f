#include "runtime/mpi/datatypes/basics.h"

#include <type_traits>

namespace phx::mpi {
namespace {

template <class T>
constexpr Format format_of() {
  using Part = std::conditional_t<std::is_same_v<T, std::complex<long double>>, long double, T>;
  if (std::is_same_v<Part, long double>) return Format::kExtended;
  if (!std::is_integral_v<T>) return Format::kIeee;
  return std::is_signed_v<T> ? Format::kSigned : Format::kUnsigned;
}

constexpr Basic kBasics[] = {
#define PHX_MPI_BASIC(name, Type, family, external) \
  {MPI_##name,                                      \
   "MPI_" #name,                                    \
   static_cast<int>(sizeof(Type)),                  \
   static_cast<int>(alignof(Type)),                 \
   Family::family,                                  \
   format_of<Type>(),                               \
   Family::family == Family::kComplex ? 2 : 1,      \
   external},
    PHX_MPI_BASICS(PHX_MPI_BASIC)
#undef PHX_MPI_BASIC
};

}  // namespace

const Basic* find_basic(MPI_Datatype handle) {
  for (const Basic& basic : kBasics) {
    if (basic.handle == handle) return &basic;
  }
  return nullptr;
}

}  // namespace phx::mpi
