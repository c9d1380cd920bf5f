#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/mpi/datatypes/basics.h"

namespace phx::mpi {

/// The basic datatypes of a datatype in their order, with repetitions counted. Built by add(), then
/// only read.
class Signature {
 public:
  /// Adds a basic datatype `count` times.
  void add(const Basic& basic, MPI_Count count);
  /// Adds all of another one `count` times.
  void add(const std::shared_ptr<const Signature>& other, MPI_Count count);

  [[nodiscard]] MPI_Count elements() const { return elements_; }
  [[nodiscard]] MPI_Count bytes() const { return bytes_; }
  /// Bytes in external32.
  [[nodiscard]] MPI_Count external() const { return external_; }
  /// The elements in the first `bytes` bytes of the packed form, or MPI_UNDEFINED if the last is
  /// cut.
  [[nodiscard]] MPI_Count elements_in(MPI_Count bytes) const;
  /// Bytes that the first `elements` elements have. At most all of them.
  [[nodiscard]] MPI_Count bytes_of(MPI_Count elements) const;
  /// Calls `visit` for each stretch of equal elements, in order.
  void for_each(const std::function<void(const Basic&, MPI_Count)>& visit) const;

 private:
  struct Term {
    const Basic* basic;  ///< null: the inner one
    std::shared_ptr<const Signature> inner;
    MPI_Count count;
    [[nodiscard]] MPI_Count elements() const { return basic != nullptr ? 1 : inner->elements_; }
    [[nodiscard]] MPI_Count bytes() const { return basic != nullptr ? basic->size : inner->bytes_; }
  };

  std::vector<Term> terms_;
  MPI_Count elements_ = 0;
  MPI_Count bytes_ = 0;
  MPI_Count external_ = 0;
};

}  // namespace phx::mpi
