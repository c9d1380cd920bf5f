#pragma once

#include <complex>
#include <cstdint>

#include "runtime/mpi/include/mpi.h"

/// The table of predefined datatypes: what they are in C, and what they allow.
namespace phx::mpi {

/// What a datatype means, as the rules of operations see it; the last one has none.
enum class Family { kInteger, kFloat, kComplex, kLogical, kByte, kOther };

// X(name without MPI_, type in C, family, bytes in external32). MPI_CHAR is a text by the standard,
// but programs add and compare it, and other libraries let them.
#define PHX_MPI_BASICS(X)                                             \
  X(CHAR, char, kInteger, 1)                                          \
  X(SIGNED_CHAR, signed char, kInteger, 1)                            \
  X(UNSIGNED_CHAR, unsigned char, kInteger, 1)                        \
  X(BYTE, unsigned char, kByte, 1)                                    \
  X(PACKED, unsigned char, kOther, 1)                                 \
  X(WCHAR, wchar_t, kOther, 2)                                        \
  X(SHORT, short, kInteger, 2)                                        \
  X(UNSIGNED_SHORT, unsigned short, kInteger, 2)                      \
  X(INT, int, kInteger, 4)                                            \
  X(UNSIGNED, unsigned, kInteger, 4)                                  \
  X(LONG, long, kInteger, 4)                                          \
  X(UNSIGNED_LONG, unsigned long, kInteger, 4)                        \
  X(LONG_LONG_INT, long long, kInteger, 8)                            \
  X(UNSIGNED_LONG_LONG, unsigned long long, kInteger, 8)              \
  X(FLOAT, float, kFloat, 4)                                          \
  X(DOUBLE, double, kFloat, 8)                                        \
  X(LONG_DOUBLE, long double, kFloat, 16)                             \
  X(INT8_T, std::int8_t, kInteger, 1)                                 \
  X(INT16_T, std::int16_t, kInteger, 2)                               \
  X(INT32_T, std::int32_t, kInteger, 4)                               \
  X(INT64_T, std::int64_t, kInteger, 8)                               \
  X(UINT8_T, std::uint8_t, kInteger, 1)                               \
  X(UINT16_T, std::uint16_t, kInteger, 2)                             \
  X(UINT32_T, std::uint32_t, kInteger, 4)                             \
  X(UINT64_T, std::uint64_t, kInteger, 8)                             \
  X(C_BOOL, bool, kLogical, 1)                                        \
  X(C_COMPLEX, std::complex<float>, kComplex, 8)                      \
  X(C_DOUBLE_COMPLEX, std::complex<double>, kComplex, 16)             \
  X(C_LONG_DOUBLE_COMPLEX, std::complex<long double>, kComplex, 32)   \
  X(AINT, MPI_Aint, kInteger, 8)                                      \
  X(OFFSET, MPI_Offset, kInteger, 8)                                  \
  X(COUNT, MPI_Count, kInteger, 8)                                    \
  X(CXX_BOOL, bool, kLogical, 1)                                      \
  X(CXX_FLOAT_COMPLEX, std::complex<float>, kComplex, 8)              \
  X(CXX_DOUBLE_COMPLEX, std::complex<double>, kComplex, 16)           \
  X(CXX_LONG_DOUBLE_COMPLEX, std::complex<long double>, kComplex, 32) \
  X(CHARACTER, char, kOther, 1)                                       \
  X(LOGICAL, std::int32_t, kLogical, 4)                               \
  X(INTEGER, std::int32_t, kInteger, 4)                               \
  X(INTEGER1, std::int8_t, kInteger, 1)                               \
  X(INTEGER2, std::int16_t, kInteger, 2)                              \
  X(INTEGER4, std::int32_t, kInteger, 4)                              \
  X(INTEGER8, std::int64_t, kInteger, 8)                              \
  X(REAL, float, kFloat, 4)                                           \
  X(REAL4, float, kFloat, 4)                                          \
  X(REAL8, double, kFloat, 8)                                         \
  X(REAL16, phx::mpi::Quad, kFloat, 16)                               \
  X(DOUBLE_PRECISION, double, kFloat, 8)                              \
  X(COMPLEX, std::complex<float>, kComplex, 8)                        \
  X(DOUBLE_COMPLEX, std::complex<double>, kComplex, 16)               \
  X(COMPLEX8, std::complex<float>, kComplex, 8)                       \
  X(COMPLEX16, std::complex<double>, kComplex, 16)                    \
  X(COMPLEX32, phx::mpi::QuadComplex, kComplex, 32)

// X(name without MPI_, type of the value in C, MPI_ of the value, type of the index, MPI_ of it)
#define PHX_MPI_PAIRS(X)                                    \
  X(FLOAT_INT, float, FLOAT, int, INT)                      \
  X(DOUBLE_INT, double, DOUBLE, int, INT)                   \
  X(LONG_INT, long, LONG, int, INT)                         \
  X(SHORT_INT, short, SHORT, int, INT)                      \
  X(2INT, int, INT, int, INT)                               \
  X(LONG_DOUBLE_INT, long double, LONG_DOUBLE, int, INT)    \
  X(2INTEGER, std::int32_t, INTEGER, std::int32_t, INTEGER) \
  X(2REAL, float, REAL, float, REAL)                        \
  X(2DOUBLE_PRECISION, double, DOUBLE_PRECISION, double, DOUBLE_PRECISION)

/// The real numbers of sixteen bytes that Fortran has: the quadruple precision of IEEE 754.
__extension__ typedef __float128 Quad;
struct QuadComplex {
  Quad real, imaginary;
};

/// A value and where it was found.
template <class Value, class Index>
struct Pair {
  Value value;
  Index index;
};

/// How the number in one part of a basic datatype is written.
enum class Format { kSigned, kUnsigned, kIeee, kExtended };

/// A predefined datatype that is one element.
struct Basic {
  MPI_Datatype handle;
  const char* name;
  int size;
  int alignment;
  Family family;
  Format format;
  int parts;     ///< 2 for complex numbers
  int external;  ///< bytes in external32
};

/// The basic datatype with this handle; null if there is none.
const Basic* find_basic(MPI_Datatype handle);

}  // namespace phx::mpi
