#pragma once

#include <initializer_list>
#include <span>

#include "runtime/mpi/datatypes/datatype.h"

namespace phx::mpi {

/// A new datatype that is not committed, and its handle.
MPI_Datatype constructed(LayoutRef layout, Contents contents);
/// Holders of the datatypes behind the handles; fails with MPI_ERR_TYPE.
std::vector<Ref<Datatype>> refs(std::span<const MPI_Datatype> handles);
inline std::vector<Ref<Datatype>> refs(std::initializer_list<MPI_Datatype> handles) {
  return refs(std::span<const MPI_Datatype>(handles.begin(), handles.size()));
}

}  // namespace phx::mpi
