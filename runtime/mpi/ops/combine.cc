#include "runtime/mpi/ops/combine.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "runtime/mpi/datatypes/basics.h"

namespace phx::mpi {
namespace {

/// What integers are added and multiplied in: unsigned, so that an overflow wraps around.
template <class T>
using Wrapping = std::common_type_t<unsigned, std::make_unsigned_t<T>>;

struct Max {
  template <class T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct Sum {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else if constexpr (std::is_same_v<T, QuadComplex>) {
      return {a.real + b.real, a.imaginary + b.imaginary};
    } else {
      return a + b;
    }
  }
};
struct Product {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else if constexpr (std::is_same_v<T, QuadComplex>) {
      return {a.real * b.real - a.imaginary * b.imaginary,
              a.real * b.imaginary + a.imaginary * b.real};
    } else {
      return a * b;
    }
  }
};
struct LogicalAnd {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a != 0 && b != 0);
  }
};
struct LogicalOr {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a != 0 || b != 0);
  }
};
struct LogicalXor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) != (b != 0));
  }
};
struct BitAnd {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
/// Whether `a` is to replace `b`. Of equal values the one with the smaller index counts.
struct MinWithIndex {
  template <class T>
  static bool of(const T& a, const T& b) {
    return a.value < b.value || (a.value == b.value && a.index < b.index);
  }
};
struct MaxWithIndex {
  template <class T>
  static bool of(const T& a, const T& b) {
    return a.value > b.value || (a.value == b.value && a.index < b.index);
  }
};

/// As many elements as the compiler makes vector instructions of wherever it optimizes at all.
constexpr MPI_Count kBlock = 64;

template <class Op, class T>
void combine_block(const T* __restrict from, T* __restrict into) {
  for (MPI_Count i = 0; i < kBlock; ++i) into[i] = Op::of(from[i], into[i]);
}

template <class Op, class T>
void combine(const void* in, void* inout, MPI_Count count) {
  const T* from = static_cast<const T*>(in);
  T* into = static_cast<T*>(inout);
  for (; count >= kBlock; count -= kBlock, from += kBlock, into += kBlock) {
    combine_block<Op>(from, into);
  }
  for (MPI_Count i = 0; i < count; ++i) into[i] = Op::of(from[i], into[i]);
}

/// Behind the index of the last pair there may be nothing: some types have a gap there, which is
/// not part of what they need. So members are copied, not pairs.
template <class Op, class T>
void combine_pairs(const void* in, void* inout, MPI_Count count) {
  const T* from = static_cast<const T*>(in);
  T* into = static_cast<T*>(inout);
  for (MPI_Count i = 0; i < count; ++i) {
    if (!Op::of(from[i], into[i])) continue;
    into[i].value = from[i].value;
    into[i].index = from[i].index;
  }
}

constexpr std::size_t kOps = 16;  ///< the lowest byte of the handle of an operation is below
using Row = std::array<Combine, kOps>;

constexpr std::size_t place_of(MPI_Op op) {
  return static_cast<std::size_t>(op) & 0xFFU;
}

template <class T, Family family>
constexpr Row row_of_basic() {
  Row row{};
  if constexpr (family == Family::kInteger || family == Family::kFloat) {
    row[place_of(MPI_MAX)] = combine<Max, T>;
    row[place_of(MPI_MIN)] = combine<Min, T>;
  }
  if constexpr (family == Family::kInteger || family == Family::kFloat ||
                family == Family::kComplex) {
    row[place_of(MPI_SUM)] = combine<Sum, T>;
    row[place_of(MPI_PROD)] = combine<Product, T>;
  }
  if constexpr (family == Family::kInteger || family == Family::kLogical) {
    row[place_of(MPI_LAND)] = combine<LogicalAnd, T>;
    row[place_of(MPI_LOR)] = combine<LogicalOr, T>;
    row[place_of(MPI_LXOR)] = combine<LogicalXor, T>;
  }
  if constexpr (family == Family::kInteger || family == Family::kByte) {
    row[place_of(MPI_BAND)] = combine<BitAnd, T>;
    row[place_of(MPI_BOR)] = combine<BitOr, T>;
    row[place_of(MPI_BXOR)] = combine<BitXor, T>;
  }
  return row;
}

template <class Value, class Index>
constexpr Row row_of_pair() {
  Row row{};
  row[place_of(MPI_MINLOC)] = combine_pairs<MinWithIndex, Pair<Value, Index>>;
  row[place_of(MPI_MAXLOC)] = combine_pairs<MaxWithIndex, Pair<Value, Index>>;
  return row;
}

/// Handles of predefined datatypes differ in their lowest byte, but for some pairs, which are
/// numbered from 0 in another range.
constexpr std::size_t place_of_datatype(MPI_Datatype handle) {
  const auto bits = static_cast<std::uint32_t>(handle);
  return (bits & 0xFFU) + ((bits >> 31U) != 0 ? 0xF0U : 0U);
}

using Table = std::array<Row, 256>;

Table make_rows() {
  Table rows{};
#define PHX_MPI_ROW(name, Type, family, external) \
  rows[place_of_datatype(MPI_##name)] = row_of_basic<Type, Family::family>();
  PHX_MPI_BASICS(PHX_MPI_ROW)
#undef PHX_MPI_ROW
#define PHX_MPI_ROW(name, Value, value, Index, index) \
  rows[place_of_datatype(MPI_##name)] = row_of_pair<Value, Index>();
  PHX_MPI_PAIRS(PHX_MPI_ROW)
#undef PHX_MPI_ROW
  return rows;
}

}  // namespace

Combine find_combine(MPI_Op op, MPI_Datatype datatype) {
  static const Table rows = make_rows();
  if (datatype == MPI_DATATYPE_NULL || place_of(op) >= kOps) return nullptr;
  return rows[std::min<std::size_t>(place_of_datatype(datatype), 255)][place_of(op)];
}

}  // namespace phx::mpi
