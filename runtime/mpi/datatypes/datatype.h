#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/mpi/base/attributes.h"
#include "runtime/mpi/datatypes/layout.h"

namespace phx::mpi {

class Datatype;

/// The call that made a datatype, for MPI_Type_get_envelope and MPI_Type_get_contents.
struct Contents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<Ref<Datatype>> datatypes;
};

/// What a handle of a datatype names. Thread rule: any thread; the layout does not change.
class Datatype : public Object {
 public:
  Datatype(LayoutRef layout, Contents contents)
      : layout_(std::move(layout)), contents_(std::move(contents)) {}

  [[nodiscard]] const Layout& layout() const { return *layout_; }
  [[nodiscard]] const LayoutRef& shared_layout() const { return layout_; }
  [[nodiscard]] const Contents& contents() const { return contents_; }
  [[nodiscard]] bool is_committed() const { return is_committed_; }
  void commit() { is_committed_ = true; }
  [[nodiscard]] std::string name() const {
    const std::lock_guard lock(mutex_);
    return name_;
  }
  void set_name(std::string name) {
    const std::lock_guard lock(mutex_);
    name_ = std::move(name);
  }
  /// Made by the library: not by a constructor, and not to be freed.
  [[nodiscard]] bool is_predefined() const {
    return contents_.combiner == MPI_COMBINER_NAMED || is_f90();
  }
  [[nodiscard]] bool is_f90() const {
    return contents_.combiner >= MPI_COMBINER_F90_REAL &&
           contents_.combiner <= MPI_COMBINER_F90_INTEGER;
  }

  Attributes attributes;

 private:
  LayoutRef layout_;
  Contents contents_;
  std::atomic<bool> is_committed_{false};
  mutable std::mutex mutex_;
  std::string name_;
};

/// All datatypes with an open handle, the predefined ones among them.
Handles<Datatype>& datatypes();
/// The datatype behind a handle; fails with MPI_ERR_TYPE.
Datatype& datatype_of(MPI_Datatype handle);
/// The same for communication, which needs a committed one.
Datatype& committed(MPI_Datatype handle);

}  // namespace phx::mpi
